//! The policy in force, and what a stricter one would have blocked.

use askama::Template;

use super::{Frame, ToolRow};
use crate::text::Text;

/// What a change of the mode is about: everything, a server, or a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The server, or nothing for all of them.
    pub server: String,
    /// The tool, or nothing for all of them.
    pub tool: String,
}

impl Scope {
    /// What it covers, in words.
    pub fn words(&self) -> Text {
        Text::new(match (self.server.as_str(), self.tool.as_str()) {
            ("", _) => "all servers".to_owned(),
            (server, "") => format!("the server {server}"),
            (server, tool) => format!("the tool {server}:{tool}"),
        })
    }
}

/// What strict mode would have blocked of one tool's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviewRow {
    /// The server and the tool.
    pub subject: Text,
    /// Its records that have findings.
    pub href: String,
    /// How many calls there were.
    pub calls: u64,
    /// How many of them strict mode would block.
    pub would_be_blocked: u64,
    /// The rules that would block, with how often.
    pub rules: Text,
}

/// What strict mode would have blocked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// Which calls were looked at, in words.
    pub looked_at: String,
    /// How many of them strict mode would block.
    pub would_be_blocked: u64,
    /// How many of those were blocked already.
    pub already_blocked: u64,
    /// How many were made in mode `off`, of which nothing is known.
    pub unknown: u64,
    /// The page that stages `warn` for the same tools.
    pub warn_href: String,
    /// Each tool with something to block.
    pub rows: Vec<PreviewRow>,
}

/// A change that is looked at before it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StagedChange {
    /// What it is about.
    pub scope: Scope,
    /// The mode that would hold.
    pub mode: &'static str,
    /// What the mode means.
    pub meaning: &'static str,
    /// What strict mode would have blocked; nothing for the other modes.
    pub preview: Option<Preview>,
    /// The patch of the configuration file.
    pub patch: String,
}

/// The policy page.
#[derive(Clone, Debug, Template)]
#[template(path = "policy.html")]
pub struct PolicyPage {
    /// What is around it.
    pub frame: Frame,
    /// Every mode.
    pub modes: Vec<&'static str>,
    /// The servers that a change can be about.
    pub servers: Vec<Text>,
    /// The change that is looked at.
    pub staged: Option<StagedChange>,
    /// What the last change of this session did, if it can be undone.
    pub undo: Option<Text>,
    /// The mode of each tool, and which level says so.
    pub rows: Vec<ToolRow>,
    /// How many tools there are besides.
    pub left_out: usize,
}

#[cfg(test)]
mod tests {
    use super::super::{HOSTILE, Nav, Role, assert_inert, frame};
    use super::*;

    fn page(role: Role) -> PolicyPage {
        PolicyPage {
            frame: frame(Nav::Policy, role),
            modes: vec!["off", "warn", "strict"],
            servers: vec![Text::new("crm")],
            staged: Some(StagedChange {
                scope: Scope {
                    server: "crm".to_owned(),
                    tool: HOSTILE.to_owned(),
                },
                mode: "strict",
                meaning: "results that break their contract are blocked",
                preview: Some(Preview {
                    looked_at: "the last 1000 calls".to_owned(),
                    unknown: 5,
                    warn_href: "/console/policy?mode=warn".to_owned(),
                    would_be_blocked: 14,
                    rows: vec![PreviewRow {
                        subject: Text::new(HOSTILE),
                        would_be_blocked: 14,
                        ..PreviewRow::default()
                    }],
                    ..Preview::default()
                }),
                patch: "{}".to_owned(),
            }),
            undo: Some(Text::new("crm: strict")),
            rows: Vec::new(),
            left_out: 0,
        }
    }

    #[test]
    fn a_change_is_shown_with_what_it_would_have_blocked() {
        let html = page(Role::Operator).html();
        // A hidden field holds the name itself, escaped: what is sent back must be what was shown.
        assert_inert(&html.replace('\u{202e}', ""));
        assert!(html.contains("14 of the last 1000 calls"), "{html}");
        assert!(
            html.contains("href=\"/console/policy?mode=warn\""),
            "{html}"
        );
        assert!(html.contains("action=\"/console/policy/mode\""));
        assert!(html.contains("action=\"/console/policy/undo\""));
    }

    #[test]
    fn a_viewer_can_look_and_not_change() {
        let html = page(Role::Viewer).html();
        assert!(html.contains("14 of the last 1000 calls"));
        assert!(!html.contains("action=\"/console/policy/mode\""));
        assert!(!html.contains("action=\"/console/policy/undo\""));
    }

    #[test]
    fn a_scope_is_told_in_words() {
        let words = |server: &str, tool: &str| {
            let scope = Scope {
                server: server.to_owned(),
                tool: tool.to_owned(),
            };
            scope.words().raw().to_owned()
        };
        assert_eq!(words("", ""), "all servers");
        assert_eq!(words("a", ""), "the server a");
        assert_eq!(words("a", "b"), "the tool a:b");
    }
}
