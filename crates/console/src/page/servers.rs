//! The servers behind the gateway, and one of them with the last lines it wrote.

use askama::Template;

use super::{Fact, Frame};
use crate::text::Text;

/// A server in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerRow {
    /// Its name.
    pub name: Text,
    /// Its page.
    pub href: String,
    /// How it is, in one word.
    pub state: &'static str,
    /// Why, if it is not up.
    pub reason: Option<Text>,
    /// Which transport and which version of the protocol.
    pub protocol: String,
    /// What it calls itself, and its version.
    pub implementation: Text,
    /// How often it was started or connected to.
    pub starts: u64,
    /// How many tools.
    pub tools: usize,
    /// Where they are.
    pub tools_href: String,
    /// How many of the declared output schemas are enforced, as `3 of 4`.
    pub enforceable: String,
    /// How long calls take.
    pub latency: String,
}

/// All servers.
#[derive(Clone, Debug, Template)]
#[template(path = "servers.html")]
pub struct Servers {
    /// What is around it.
    pub frame: Frame,
    /// Each one.
    pub rows: Vec<ServerRow>,
    /// The form that adds one.
    pub new_server: NewServer,
}

/// What is typed about a server that is to be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewServer {
    /// Its name.
    pub name: String,
    /// Its address.
    pub url: String,
    /// Its program, if it is one.
    pub command: String,
    /// The arguments of the program, one in each line.
    pub args: String,
    /// Its other keys, as a JSON object.
    pub more: String,
    /// Whether the file allows that a program is added here.
    pub allows_commands: bool,
}

/// One server.
#[derive(Clone, Debug, Template)]
#[template(path = "server.html")]
pub struct ServerPage {
    /// What is around it.
    pub frame: Frame,
    /// The server in short.
    pub server: ServerRow,
    /// What else is known.
    pub facts: Vec<Fact>,
    /// The tools whose schema cannot be enforced, and why.
    pub unenforceable: Vec<(Text, Text)>,
    /// The last lines of its standard error.
    pub lines: Vec<Text>,
    /// Its records.
    pub activity: String,
    /// What an operator can do with it: the last part of the form's address, and its label.
    pub changes: Vec<(&'static str, &'static str)>,
}

#[cfg(test)]
mod tests {
    use super::super::{HOSTILE, Nav, Role, assert_inert, frame};
    use super::*;

    fn row() -> ServerRow {
        ServerRow {
            name: Text::new(HOSTILE),
            href: "/console/servers/x".to_owned(),
            state: "failing",
            reason: Some(Text::new(HOSTILE)),
            protocol: "stdio, 2025-06-18".to_owned(),
            ..ServerRow::default()
        }
    }

    #[test]
    fn servers_are_listed_with_why_they_fail() {
        let page = Servers {
            frame: frame(Nav::Servers, Role::Viewer),
            rows: vec![row()],
            new_server: NewServer::default(),
        };
        let html = page.html();
        assert_inert(&html);
        assert!(!html.contains("Add a server"), "a viewer adds nothing");
        assert!(html.contains("failing") && html.contains("2025-06-18"));
        let none = Servers {
            rows: Vec::new(),
            ..page
        };
        assert!(none.html().contains("countersign import"));
    }

    #[test]
    fn an_operator_adds_a_server_and_a_program_only_where_it_is_allowed() {
        let mut page = Servers {
            frame: frame(Nav::Servers, Role::Operator),
            rows: Vec::new(),
            new_server: NewServer {
                name: format!("</textarea>{HOSTILE}"),
                ..NewServer::default()
            },
        };
        let html = page.html();
        assert_inert(&html.replace('\u{202e}', ""));
        assert!(html.contains("name=\"url\"") && !html.contains("name=\"command\""));
        page.new_server.allows_commands = true;
        assert!(page.html().contains("name=\"command\""));
    }

    #[test]
    fn a_server_shows_its_last_lines() {
        let page = ServerPage {
            frame: frame(Nav::Servers, Role::Viewer),
            server: row(),
            facts: vec![Fact::new("starts", "2")],
            unenforceable: vec![(Text::new(HOSTILE), Text::new("a reference"))],
            lines: vec![Text::new(HOSTILE)],
            activity: "/console/activity?server=x".to_owned(),
            changes: vec![("restart", "Restart")],
        };
        let html = page.html();
        assert_inert(&html);
        assert!(!html.contains("/restart"), "a viewer changes nothing");
        let frame = frame(Nav::Servers, Role::Operator);
        let operator = ServerPage { frame, ..page }.html();
        assert!(operator.contains("action=\"/console/servers/x/restart\""));
        assert!(html.contains("a reference") && html.contains("Standard error"));
    }
}
