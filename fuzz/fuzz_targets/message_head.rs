//! Any bytes as a message. Its head is read without a panic, and is what a whole reading of the JSON finds, if the message
//! is one thing only: a response, a request or a notification.

#![no_main]

use countersign_wire::head::{Head, progress_id, read};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// How often a name is a key at the top of an object. `serde_json` keeps the last of two, the reader of heads the first.
fn has_once(object: &serde_json::Map<String, Value>, text: &str) -> bool {
    let keys = ["jsonrpc", "id", "method", "result", "error"];
    let written = |key: &str| text.matches(&format!("\"{key}\"")).count();
    // A key with an escape in it is not looked for.
    !text.contains('\\') && keys.iter().all(|key| written(key) <= 1) && !object.is_empty()
}

fuzz_target!(|data: &[u8]| {
    let head = read(data);
    progress_id(data);
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(text) else {
        return;
    };
    if !has_once(&object, text) {
        return;
    }
    let is_answer = object.contains_key("result") || object.contains_key("error");
    let method = object.get("method").and_then(Value::as_str);
    match (method, object.get("id"), is_answer) {
        (Some(method), Some(_), false) => {
            assert!(matches!(head, Head::Request { method: read, .. } if read == method));
        }
        (Some(method), None, false) => {
            assert!(matches!(head, Head::Notification { method: read } if read == method));
        }
        (None, Some(Value::Number(id)), _) => {
            if let Some(id) = id.as_u64().filter(|_| object.get("method").is_none()) {
                assert_eq!(head, Head::Answer(id));
            }
        }
        (None, None, true) if object.get("method").is_none() => assert_eq!(head, Head::Stray),
        (None, None, false) if object.get("method").is_none() => assert_eq!(head, Head::Noise),
        _ => {}
    }
});
