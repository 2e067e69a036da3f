//! The tools behind the gateway, and one of them with its contract.

use askama::Template;

use super::{Fact, Frame};
use crate::text::Text;

/// A tool in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRow {
    /// Its server.
    pub server: Text,
    /// Its name.
    pub tool: Text,
    /// Its page.
    pub href: String,
    /// The mode in force.
    pub mode: &'static str,
    /// Which level of the configuration says so.
    pub source: String,
    /// Whether its schema can be enforced.
    pub is_enforceable: bool,
    /// What that means, or why it cannot.
    pub reason: Text,
}

/// All tools.
#[derive(Clone, Debug, Template)]
#[template(path = "tools.html")]
pub struct Tools {
    /// What is around it.
    pub frame: Frame,
    /// What the list is searched for.
    pub search: String,
    /// Each one.
    pub rows: Vec<ToolRow>,
    /// How many there are besides.
    pub left_out: usize,
}

/// One tool.
#[derive(Clone, Debug, Template)]
#[template(path = "tool.html")]
pub struct ToolPage {
    /// What is around it.
    pub frame: Frame,
    /// The tool in short.
    pub tool: ToolRow,
    /// What else is known.
    pub facts: Vec<Fact>,
    /// What the server declared, as clients see it.
    pub declaration: Text,
    /// Its records.
    pub activity: String,
    /// Where its mode is changed.
    pub policy: String,
}

#[cfg(test)]
mod tests {
    use super::super::{HOSTILE, Nav, Role, assert_inert, frame};
    use super::*;

    fn row() -> ToolRow {
        ToolRow {
            server: Text::new("crm"),
            tool: Text::new(HOSTILE),
            href: "/console/tools/x".to_owned(),
            mode: "warn",
            source: "default".to_owned(),
            is_enforceable: false,
            reason: Text::new("it declares no output schema"),
        }
    }

    #[test]
    fn tools_are_listed_with_the_mode_in_force() {
        let page = Tools {
            frame: frame(Nav::Tools, Role::Viewer),
            search: "\"><b>".to_owned(),
            rows: vec![row()],
            left_out: 3,
        };
        let html = page.html();
        assert_inert(&html);
        assert!(html.contains("it declares no output schema") && html.contains("3 more"));
        assert!(!html.contains("<b>"));
    }

    #[test]
    fn a_tool_shows_its_declaration_as_text() {
        let page = ToolPage {
            frame: frame(Nav::Tools, Role::Operator),
            tool: row(),
            facts: vec![Fact::new("generation", "2")],
            declaration: Text::new(format!("{{\"description\": \"{HOSTILE}\"}}")),
            activity: "/console/activity?tool=x".to_owned(),
            policy: "/console/policy?tool=x".to_owned(),
        };
        let html = page.html();
        assert_inert(&html);
        assert!(html.contains("title=\"hidden character U+202E\""), "{html}");
    }
}
