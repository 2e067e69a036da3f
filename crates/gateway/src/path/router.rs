//! The tools the gateway itself offers on the router endpoint: two find and describe the others, three
//! call them. The list is fixed; which of the three may call a tool is for the tool's own
//! annotations to say. Calling happens elsewhere, on the one path; what is only looked up is
//! answered from memory.

mod answer;
mod search;

use std::sync::LazyLock;

use countersign_inspect::{Listing, RouterCall};

pub(crate) use answer::{NotFound, describe, find, retrieve};

/// A tool of the router, by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouterTool {
    /// Finds tools.
    Retrieve,
    /// Describes one.
    Describe,
    /// Calls one.
    Call(RouterCall),
}

impl RouterTool {
    /// The router tool of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "retrieve_tools" => Some(Self::Retrieve),
            "describe_tool" => Some(Self::Describe),
            _ => [RouterCall::Read, RouterCall::Write, RouterCall::Destructive]
                .into_iter()
                .find(|router| router.as_str() == name)
                .map(Self::Call),
        }
    }
}

/// The router tools, as a list.
pub(crate) fn list() -> &'static Listing {
    static LIST: LazyLock<Listing> = LazyLock::new(|| {
        let calls = [
            (RouterCall::Read, "only reads", r#"{"readOnlyHint":true}"#),
            (
                RouterCall::Write,
                "changes something without destroying anything",
                r#"{"readOnlyHint":false,"destructiveHint":false}"#,
            ),
            (
                RouterCall::Destructive,
                "may destroy something, or does not say what it does",
                r#"{"readOnlyHint":false,"destructiveHint":true}"#,
            ),
        ];
        let calls = calls.map(|(router, kind, hints)| call(router, kind, hints));
        Listing::admit(format!("[{RETRIEVE},{DESCRIBE},{}]", calls.join(",")))
    });
    &LIST
}

const RETRIEVE: &str = r#"{"name":"retrieve_tools","description":"Finds tools by what they do. Start here: the answer names each tool as server:tool, says which call_tool_* to call it with, and has its input schema.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words"},"limit":{"type":"integer","description":"How many tools to show, at most","minimum":1,"maximum":50,"default":5}},"required":["query"]},"annotations":{"readOnlyHint":true}}"#;

const DESCRIBE: &str = r#"{"name":"describe_tool","description":"Shows everything about one tool: description, schemas, annotations, and which call_tool_* to call it with.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The tool, as server:tool"}},"required":["name"]},"annotations":{"readOnlyHint":true}}"#;

fn call(router: RouterCall, kind: &str, hints: &str) -> String {
    format!(
        r#"{{"name":"{}","description":"Calls a tool that {kind}. Give its name as server:tool and its arguments in args.","inputSchema":{{"type":"object","properties":{{"name":{{"type":"string","description":"The tool, as server:tool"}},"args":{{"type":"object","description":"The tool's arguments"}},"args_json":{{"type":"string","description":"The tool's arguments as JSON text, for clients that cannot send nested objects"}}}},"required":["name"]}},"annotations":{hints}}}"#,
        router.as_str()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_json_and_every_tool_does_something() {
        let list: serde_json::Value = serde_json::from_slice(list().bytes()).expect("JSON");
        let tools = list.as_array().expect("an array");
        assert_eq!(tools.len(), 5);
        for tool in tools {
            let name = tool["name"].as_str().expect("a name");
            assert!(RouterTool::from_name(name).is_some(), "{name}");
        }
        assert_eq!(RouterTool::from_name("call_tool"), None);
    }
}
