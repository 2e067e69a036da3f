//! The pages: for each a struct of what it shows, and its template.

mod activity;
mod attempt;
mod entrance;
mod overview;
mod policy;
mod servers;
mod tools;

use askama::Template;

use crate::assets;
use crate::text::Text;

pub use activity::{
    Activity, Choice, Filters, Finding, MarkedSchema, RecordPage, Row, SchemaLine, TextChange,
};
pub use attempt::{Attempt, StageVerdict, Verdict};
pub use entrance::{Entrance, Next, SignIn};
pub use overview::{Overview, Panel, ServerRate};
pub use policy::{PolicyPage, Preview, PreviewRow, Scope, StagedChange};
pub use servers::{NewServer, ServerPage, ServerRow, Servers};
pub use tools::{ToolPage, ToolRow, Tools};

/// What the person who is signed in may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read.
    Viewer,
    /// Read and change.
    Operator,
}

impl Role {
    /// The word that pages show.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
        }
    }
}

/// The entries of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nav {
    /// Counts and health.
    Overview,
    /// Records.
    Activity,
    /// The servers behind the gateway.
    Servers,
    /// Their tools.
    Tools,
    /// The modes in force.
    Policy,
    /// A result to inspect.
    Try,
}

impl Nav {
    const ALL: [Self; 6] = [
        Self::Overview,
        Self::Activity,
        Self::Servers,
        Self::Tools,
        Self::Policy,
        Self::Try,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Activity => "Activity",
            Self::Servers => "Servers",
            Self::Tools => "Tools",
            Self::Policy => "Policy",
            Self::Try => "Try",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Overview => "/console",
            Self::Activity => "/console/activity",
            Self::Servers => "/console/servers",
            Self::Tools => "/console/tools",
            Self::Policy => "/console/policy",
            Self::Try => "/console/try",
        }
    }
}

/// What a change came to, shown once above a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Whether something went wrong.
    pub is_bad: bool,
    /// One sentence.
    pub text: Text,
}

/// What every page has around its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Which entry of the navigation is shown.
    pub nav: Nav,
    /// What the reader may do.
    pub role: Role,
    /// Who the reader is.
    pub who: Text,
    /// The token that every form sends back.
    pub csrf: String,
    /// The address of the events after which the page looks again, if it does.
    pub events: Option<String>,
    /// What is shown above the content.
    pub notice: Option<Notice>,
}

impl Frame {
    fn entries(&self) -> impl Iterator<Item = (Nav, bool)> {
        let current = self.nav;
        Nav::ALL.into_iter().map(move |nav| (nav, nav == current))
    }

    fn is_operator(&self) -> bool {
        self.role == Role::Operator
    }

    fn assets() -> [String; 3] {
        assets::paths()
    }
}

/// A label and what there is to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub label: &'static str,
    /// What is so.
    pub value: Text,
    /// Where there is more, or nothing.
    pub href: String,
    /// Whether an operator should look at it.
    pub is_bad: bool,
}

impl Fact {
    /// A fact that is only worth knowing.
    pub fn new(label: &'static str, value: impl Into<Text>) -> Self {
        Self {
            label,
            value: value.into(),
            ..Self::default()
        }
    }

    /// The same with a page that has more.
    #[must_use]
    pub fn linked(mut self, href: String) -> Self {
        self.href = href;
        self
    }

    /// The same, and an operator should look at it if `is_bad`.
    #[must_use]
    pub fn marked(mut self, is_bad: bool) -> Self {
        self.is_bad = is_bad;
        self
    }
}

/// A page that says one thing.
#[derive(Clone, Debug, Template)]
#[template(path = "message.html")]
pub struct Message {
    /// What is around it.
    pub frame: Frame,
    /// The heading.
    pub title: &'static str,
    /// What there is to say.
    pub text: Text,
}

/// A page, written. Nothing in a template can fail but memory.
macro_rules! html {
    ($($page:ty),+ $(,)?) => {
        $(impl $page {
            /// The page as HTML.
            pub fn html(&self) -> String {
                self.render().unwrap_or_default()
            }
        })+
    };
}

html!(
    SignIn, Entrance, Message, Overview, Activity, RecordPage, Servers, ServerPage, Tools,
    ToolPage, PolicyPage, Attempt,
);

#[cfg(test)]
pub(crate) fn frame(nav: Nav, role: Role) -> Frame {
    Frame {
        nav,
        role,
        who: Text::new("key:client"),
        csrf: "0123".to_owned(),
        events: Some("/console/events".to_owned()),
        notice: None,
    }
}

/// What a page must not have: script or style of its own, and text of strangers as markup.
#[cfg(test)]
pub(crate) fn assert_inert(html: &str) {
    assert!(html.starts_with("<!doctype html>"), "{html}");
    for forbidden in [
        "<script>",
        "<img",
        " style=",
        "<style",
        "javascript:",
        "\u{202e}",
    ] {
        assert!(!html.contains(forbidden), "{forbidden} in {html}");
    }
}

/// A name as a hostile server would choose it.
#[cfg(test)]
pub(crate) const HOSTILE: &str = "<script>x</script>\u{202e}\"><img src=x onerror=y>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_shown_as_text() {
        let mut frame = frame(Nav::Activity, Role::Viewer);
        frame.notice = Some(Notice {
            is_bad: true,
            text: Text::new(HOSTILE),
        });
        let html = Message {
            frame,
            title: "Not found",
            text: Text::new(HOSTILE),
        }
        .html();
        assert_inert(&html);
        assert!(html.contains("aria-current=\"page\">Activity"), "{html}");
        assert!(html.contains("&lt;script&gt;"));
    }
}
