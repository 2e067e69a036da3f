//! The tools the gateway itself offers where servers meet: they call the others. Their list is
//! fixed; which of them may call a tool is the tool's own annotations' to say.

use std::sync::LazyLock;

use countersign_inspect::{Listing, Router};

/// The router tools, as a list.
pub(crate) fn list() -> &'static Listing {
    static LIST: LazyLock<Listing> = LazyLock::new(|| {
        let tools = [
            (Router::Read, "only reads", r#"{"readOnlyHint":true}"#),
            (
                Router::Write,
                "changes something without destroying anything",
                r#"{"readOnlyHint":false,"destructiveHint":false}"#,
            ),
            (
                Router::Destructive,
                "may destroy something, or does not say what it does",
                r#"{"readOnlyHint":false,"destructiveHint":true}"#,
            ),
        ];
        let tools = tools.map(|(router, kind, hints)| tool(router, kind, hints));
        Listing::admit(format!("[{}]", tools.join(",")))
    });
    &LIST
}

fn tool(router: Router, kind: &str, hints: &str) -> String {
    format!(
        r#"{{"name":"{}","description":"Calls a tool that {kind}. Give its name as server:tool and its arguments in args.","inputSchema":{{"type":"object","properties":{{"name":{{"type":"string","description":"The tool, as server:tool"}},"args":{{"type":"object","description":"The tool's arguments"}},"args_json":{{"type":"string","description":"The tool's arguments as JSON text, for clients that cannot send nested objects"}}}},"required":["name"]}},"annotations":{hints}}}"#,
        router.as_str()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_json() {
        let list: serde_json::Value = serde_json::from_slice(list().bytes()).expect("JSON");
        let names = list
            .as_array()
            .expect("an array")
            .iter()
            .map(|tool| &tool["name"]);
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["call_tool_read", "call_tool_write", "call_tool_destructive"]
        );
    }
}
