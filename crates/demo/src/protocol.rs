//! The protocol, as far as the demo needs it: the greetings of both eras, the tool list and calls.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::{INSTRUCTIONS, NAME, Tool};

/// The version of the modern era.
const MODERN: &str = "2026-07-28";
/// The versions of the legacy era, newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The `_meta` member that makes a request a modern one.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

#[derive(Deserialize)]
struct Request<'a> {
    /// As written, because it is written back the same way.
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

/// An error of JSON-RPC.
struct RpcError {
    code: i32,
    message: &'static str,
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i32, message: &'static str) -> Self {
        Self {
            code,
            message,
            data: None,
        }
    }
}

/// The answer to a line, without its end; nothing for what has no answer.
pub(crate) fn answer(tools: &[Tool], line: &[u8]) -> Option<String> {
    let Ok(request) = serde_json::from_slice::<Request<'_>>(line) else {
        return Some(error("null", &RpcError::new(-32700, "Parse error")));
    };
    let id = request.id?.get();
    let method = request.method?;
    Some(match result(tools, &method, &request.params) {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(refused) => error(id, &refused),
    })
}

fn error(id: &str, refused: &RpcError) -> String {
    let RpcError { code, message, .. } = refused;
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = &refused.data {
        error["data"] = data.clone();
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// The result of a request, as JSON.
fn result(tools: &[Tool], method: &str, params: &Value) -> Result<String, RpcError> {
    let version = &params["_meta"][VERSION_KEY];
    let modern = !version.is_null() || method == "server/discover";
    if modern && version != MODERN {
        return Err(RpcError {
            data: Some(json!({"supported": supported(), "requested": version})),
            ..RpcError::new(-32022, "Unsupported protocol version")
        });
    }
    match (method, modern) {
        ("initialize", false) => Ok(initialized(params)),
        ("ping", false) => Ok("{}".to_owned()),
        ("server/discover", true) => Ok(discovered()),
        ("tools/list", _) => Ok(listed(tools, modern)),
        ("tools/call", _) => called(tools, params, modern),
        _ => Err(RpcError::new(-32601, "Method not found")),
    }
}

fn supported() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY).collect()
}

fn identity() -> Value {
    json!({"name": NAME, "version": env!("CARGO_PKG_VERSION")})
}

/// Agrees to a version the client asked for if it is known, and offers the newest legacy one otherwise.
fn initialized(params: &Value) -> String {
    let wanted = params["protocolVersion"].as_str();
    let version = wanted.filter(|version| LEGACY.contains(version));
    json!({
        "protocolVersion": version.unwrap_or(LEGACY[0]),
        "capabilities": {"tools": {}},
        "serverInfo": identity(),
        "instructions": INSTRUCTIONS,
    })
    .to_string()
}

fn discovered() -> String {
    json!({
        "resultType": "complete",
        "supportedVersions": supported(),
        "capabilities": {"tools": {}},
        "instructions": INSTRUCTIONS,
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": identity()},
    })
    .to_string()
}

fn listed(tools: &[Tool], modern: bool) -> String {
    let declared: Vec<&str> = tools.iter().map(Tool::declaration).collect();
    let declared = declared.join(",");
    if modern {
        format!(
            r#"{{"resultType":"complete","tools":[{declared}],"ttlMs":0,"cacheScope":"private"}}"#
        )
    } else {
        format!(r#"{{"tools":[{declared}]}}"#)
    }
}

fn called(tools: &[Tool], params: &Value, modern: bool) -> Result<String, RpcError> {
    let name = params["name"].as_str();
    let tool = tools.iter().find(|tool| Some(tool.name()) == name);
    let result = tool.ok_or(RpcError::new(-32602, "Unknown tool"))?.result();
    Ok(match result.strip_prefix('{') {
        Some(members) if modern => format!(r#"{{"resultType":"complete",{members}"#),
        _ => result.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools;

    fn ask(message: &Value) -> Value {
        let answer = answer(&tools(), message.to_string().as_bytes()).expect("an answer");
        serde_json::from_str(&answer).expect("JSON")
    }

    #[test]
    fn both_eras_are_greeted_and_list_the_same_tools() {
        let hello =
            json!({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}});
        assert_eq!(ask(&hello)["result"]["protocolVersion"], "2025-06-18");
        let meta = json!({"_meta": {VERSION_KEY: MODERN}});
        let discover = json!({"id": 1, "method": "server/discover", "params": meta});
        assert_eq!(ask(&discover)["result"]["resultType"], "complete");
        let legacy = ask(&json!({"id": 1, "method": "tools/list"}));
        let modern = ask(&json!({"id": 1, "method": "tools/list", "params": meta}));
        assert_eq!(legacy["result"]["tools"], modern["result"]["tools"]);
        assert_eq!(legacy["result"]["tools"].as_array().map(Vec::len), Some(11));
    }

    #[test]
    fn every_tool_answers_in_both_eras() {
        for tool in tools() {
            for meta in [json!({}), json!({VERSION_KEY: MODERN})] {
                let params = json!({"name": tool.name(), "_meta": meta});
                let answered = ask(&json!({"id": 1, "method": "tools/call", "params": params}));
                assert!(answered["result"]["content"].is_array(), "{}", tool.name());
            }
        }
    }

    #[test]
    fn an_id_comes_back_as_it_was_written_and_notifications_have_no_answer() {
        let answered = answer(&[], br#"{"id": 1.0e2, "method":"ping"}"#);
        assert_eq!(
            answered.as_deref(),
            Some(r#"{"jsonrpc":"2.0","id":1.0e2,"result":{}}"#)
        );
        assert_eq!(
            answer(&[], br#"{"method":"notifications/initialized"}"#),
            None
        );
    }

    #[test]
    fn what_it_does_not_know_is_an_error() {
        let code = |message: Value| ask(&message)["error"]["code"].clone();
        assert_eq!(code(json!({"id": 1, "method": "prompts/list"})), -32601);
        let unknown = json!({"id": 1, "method": "tools/call", "params": {"name": "other"}});
        assert_eq!(code(unknown), -32602);
        let other =
            json!({"id": 1, "method": "ping", "params": {"_meta": {VERSION_KEY: "3000-01-01"}}});
        assert_eq!(ask(&other)["error"]["data"]["supported"][0], MODERN);
        let broken = answer(&[], b"{").expect("an answer");
        assert!(broken.contains("-32700"), "{broken}");
    }
}
