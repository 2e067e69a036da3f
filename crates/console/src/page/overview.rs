//! The overview: counts over time, the servers with their rates, and the state of the store.

use askama::Template;

use super::{Fact, Frame};
use crate::chart::Chart;
use crate::text::Text;

/// A number with its course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// What is counted.
    pub label: &'static str,
    /// How many there were in the whole range.
    pub count: u64,
    /// The list behind the number.
    pub href: String,
    /// The course.
    pub chart: Chart,
}

/// One server's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRate {
    /// Its name.
    pub name: Text,
    /// Its page.
    pub href: String,
    /// How it is, in one word.
    pub state: String,
    /// Numbers with the lists behind them: records, blocked, flagged, rewritten.
    pub counts: [(u64, String); 4],
    /// The share of validated results that broke their contract.
    pub rate: Option<String>,
    /// The results behind the share.
    pub rate_href: String,
    /// How much it has risen, if it has.
    pub rising: Option<String>,
}

/// The first page.
#[derive(Clone, Debug, Template)]
#[template(path = "overview.html")]
pub struct Overview {
    /// What is around it.
    pub frame: Frame,
    /// The range that is shown.
    pub range: &'static str,
    /// Every range that can be shown.
    pub ranges: Vec<&'static str>,
    /// The numbers.
    pub panels: Vec<Panel>,
    /// The servers.
    pub servers: Vec<ServerRate>,
    /// The gateway and its store.
    pub facts: Vec<Fact>,
}

#[cfg(test)]
mod tests {
    use super::super::{HOSTILE, Nav, Role, assert_inert, frame};
    use super::*;

    #[test]
    fn every_number_links_to_its_list() {
        let count = |count, status: &str| (count, format!("/console/activity?status={status}"));
        let page = Overview {
            frame: frame(Nav::Overview, Role::Viewer),
            range: "24h",
            ranges: vec!["6h", "24h"],
            panels: vec![Panel {
                label: "blocked",
                count: 3,
                href: "/console/activity?status=blocked&since=24h".to_owned(),
                chart: Chart::default(),
            }],
            servers: vec![ServerRate {
                name: Text::new(HOSTILE),
                href: "/console/servers/x".to_owned(),
                state: "up".to_owned(),
                counts: [
                    count(9, ""),
                    count(3, "blocked"),
                    count(2, "flagged"),
                    count(1, "rewritten"),
                ],
                rate: Some("33 %".to_owned()),
                rate_href: "/console/activity?stage=contract".to_owned(),
                rising: Some("33 % in the last hour, 1 % before".to_owned()),
            }],
            facts: vec![Fact::new("store", "writes").marked(true)],
        };
        let html = page.html();
        assert_inert(&html);
        assert!(
            html.contains("<a href=\"/console/activity?status=blocked&#38;since=24h\">3</a>"),
            "{html}"
        );
        assert!(html.contains("rising") && html.contains("href=\"/console?range=6h\""));
    }

    #[test]
    fn an_empty_overview_says_what_to_do() {
        let page = Overview {
            frame: frame(Nav::Overview, Role::Viewer),
            range: "24h",
            ranges: vec!["24h"],
            panels: Vec::new(),
            servers: Vec::new(),
            facts: Vec::new(),
        };
        assert!(page.html().contains("countersign import"));
    }
}
