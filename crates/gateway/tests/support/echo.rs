//! What follows from a client's own body: the headers that repeat it, and the answer of a server that does.

use super::web::Script;

/// The headers of a modern client, which repeat what its body says.
pub(crate) fn repeated(body: &[u8]) -> String {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let fit = |text: &&str| text.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
    let method = body["method"].as_str().filter(fit).unwrap_or("x");
    let member = if method == "resources/read" {
        "uri"
    } else {
        "name"
    };
    let name = body["params"][member].as_str().filter(fit);
    let named = name.filter(|_| matches!(method, "tools/call" | "prompts/get" | "resources/read"));
    let named = named
        .map(|name| format!("Mcp-Name: {name}\r\n"))
        .unwrap_or_default();
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{named}")
}

/// A server that repeats what its client sent, before its answer and in every part of it.
pub(crate) fn echoed(body: &[u8]) -> Script {
    let text = serde_json::Value::from(String::from_utf8_lossy(body)).to_string();
    let value = if serde_json::from_slice::<serde_json::Value>(body).is_ok() {
        String::from_utf8_lossy(body).replace(['\r', '\n'], " ")
    } else {
        text.clone()
    };
    let progress = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":@id,"progress":1,"message":{text}}}}}"#
    );
    let reply = format!(
        r#"{{"jsonrpc":"2.0","id":@id,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{{"o":{{"v":{value}}}}}}}}}"#
    );
    let body = format!("data: {progress}\n\ndata: {reply}\n\n").into_bytes();
    Script {
        status: 200,
        events: true,
        body,
        ends: true,
    }
}
