//! What a call asked for, as its record names it before a route is known, and for good if there is none. The client chose the
//! words, so they are bounded, and whatever could reorder or hide text is escaped.

use countersign_tape::Span;
use countersign_wire::Method;
use countersign_wire::json::path;

use crate::path::call::Call;
use crate::path::router::RouterTool;
use crate::state::{Endpoint, names};

/// Characters of a name that are kept; a record keeps fewer.
const MAX_CHARS: usize = 256;

/// The server and the tool, prompt or resource that a call asked for.
pub(super) struct CallSubject {
    /// Only a server that is configured.
    pub(super) server: Option<String>,
    pub(super) name: String,
}

/// The tool that a call asked for, as the client wrote it: the argument of a router tool, or the name of the call.
pub(super) fn asked_tool(call: &Call) -> String {
    let routed = call.arguments.as_ref().filter(|_| is_routed(call));
    let routed = routed.and_then(|arguments| text_at(arguments, &["name"]));
    routed.unwrap_or_else(|| call.name.clone())
}

fn is_routed(call: &Call) -> bool {
    call.method == Method::CallTool && call.endpoint == Endpoint::Router
}

impl CallSubject {
    pub(super) fn from_call(call: &Call, is_server: impl Fn(&str) -> bool) -> Self {
        if let Some(name) = routed_name(call) {
            let known = names::split(&name).filter(|(server, _)| is_server(server));
            return match known {
                Some((server, tool)) => Self {
                    server: Some(server.to_owned()),
                    name: escaped(tool),
                },
                None => Self {
                    server: None,
                    name: escaped(&name),
                },
            };
        }
        let completed = (call.method == Method::Complete).then(|| completed_name(call));
        Self {
            server: None,
            name: escaped(&completed.flatten().unwrap_or_else(|| call.name.clone())),
        }
    }
}

/// The tool that a router tool was asked to call, as `server:tool`.
fn routed_name(call: &Call) -> Option<String> {
    if !is_routed(call) {
        return None;
    }
    let Some(RouterTool::Call(_)) = RouterTool::from_name(&call.name) else {
        return None;
    };
    text_at(call.arguments.as_ref()?, &["name"])
}

/// The prompt or resource whose argument is to be completed.
fn completed_name(call: &Call) -> Option<String> {
    let name = text_at(&call.params, &["ref", "name"]);
    name.or_else(|| text_at(&call.params, &["ref", "uri"]))
}

fn text_at(bytes: &[u8], names: &[&str]) -> Option<String> {
    let value = path(bytes, Span::whole(bytes), names)?;
    Some(value.string(bytes)?.into_owned())
}

/// Letters and digits of any script and visible ASCII stay; anything else is written as `\u{…}`.
pub(super) fn escaped(name: &str) -> String {
    let mut safe = String::new();
    for c in name.chars().take(MAX_CHARS) {
        if c.is_alphanumeric() || c == ' ' || c.is_ascii_graphic() {
            safe.push(c);
        } else {
            safe.extend(c.escape_unicode());
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_a_client_can_do_nothing_in_a_record() {
        assert_eq!(escaped("größe_价格 [x]"), "größe_价格 [x]");
        assert_eq!(
            escaped("a\u{1b}[2J\u{202e}\n"),
            "a\\u{1b}[2J\\u{202e}\\u{a}"
        );
        assert_eq!(escaped(&"x".repeat(5000)).len(), MAX_CHARS);
    }
}
