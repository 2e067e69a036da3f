//! The places of a message that may hold text.

use serde_json::{Value, json};

/// A named place: a message made of the texts of a disguised token, and the settings it is held to. Validation is strict,
/// so that a key of `structuredContent`, which is never renamed, is refused.
pub(super) type TextLocation = (&'static str, fn(&[String]) -> Value, &'static str);

fn blocks(texts: &[String], block: impl Fn(&String) -> Value) -> Value {
    json!({"content": texts.iter().map(block).collect::<Vec<_>>()})
}

pub(super) const PLACES: &[TextLocation] = &[
    (
        "text blocks",
        |texts| blocks(texts, |text| json!({"type":"text","text":text})),
        "{}",
    ),
    (
        "text blocks, full",
        |texts| blocks(texts, |text| json!({"type":"text","text":text})),
        r#"{"mode":"full"}"#,
    ),
    (
        "an error result",
        |texts| {
            let mut result = blocks(texts, |text| json!({"type":"text","text":text}));
            result["isError"] = json!(true);
            result
        },
        "{}",
    ),
    (
        "embedded resources",
        |texts| {
            blocks(
                texts,
                |text| json!({"type":"resource","resource":{"uri":"file:///a","text":text}}),
            )
        },
        "{}",
    ),
    (
        "names of links",
        |texts| {
            blocks(
                texts,
                |text| json!({"type":"resource_link","uri":"file:///a","name":text,"title":text,"description":text}),
            )
        },
        "{}",
    ),
    (
        "blocks without a type",
        |texts| blocks(texts, |text| json!({"text":text})),
        "{}",
    ),
    (
        "strings for blocks",
        |texts| blocks(texts, |text| json!(text)),
        "{}",
    ),
    (
        "a string for content",
        |texts| json!({"content": texts.concat()}),
        "{}",
    ),
    (
        "a prompt",
        |texts| {
            let messages: Vec<Value> = texts
                .iter()
                .map(|text| json!({"role":"user","content":{"type":"text","text":text}}))
                .collect();
            json!({"description": texts.concat(), "messages": messages})
        },
        "{}",
    ),
    (
        "lists of prompts and resources",
        |texts| {
            let text = texts.concat();
            json!({"prompts":[{"name":"p","title":text,"arguments":[{"name":"a","description":text}]}],"resources":[{"uri":"file:///a","name":"r","description":text}]})
        },
        "{}",
    ),
    (
        "a resource",
        |texts| {
            let contents: Vec<Value> = texts
                .iter()
                .map(|text| json!({"uri":"file:///a","text":text}))
                .collect();
            json!({"contents": contents})
        },
        "{}",
    ),
    (
        "structured strings",
        |texts| json!({"content":[],"structuredContent":{"a":[texts.concat()]}}),
        "{}",
    ),
    (
        "structured keys",
        |texts| json!({"content":[],"structuredContent":{texts.concat():1}}),
        "{}",
    ),
    (
        "a structured value and its text twin",
        |texts| {
            let value = json!({"a":texts.concat()});
            let twin = value.to_string().replace('<', "\\u003c");
            json!({"content":[{"type":"text","text":twin}],"structuredContent":value})
        },
        "{}",
    ),
    (
        "structured strings, refused",
        |texts| json!({"content":[],"structuredContent":{"a":texts.concat()}}),
        r#"{"structured":"block"}"#,
    ),
    (
        "an error's message",
        |texts| json!({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":texts.concat()}}),
        "{}",
    ),
    (
        "an error's data",
        |texts| json!({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":{texts.concat():texts}}}),
        "{}",
    ),
];

/// Places whose strings are no known texts.
pub(super) const OTHER_PLACES: &[TextLocation] = &[
    (
        "unknown members and their names",
        |texts| {
            let text = texts.concat();
            json!({"content":[],"x":[text],"y":{text.clone():1},text.clone():2})
        },
        "{}",
    ),
    (
        "members of blocks that are no text",
        |texts| {
            let text = texts.concat();
            json!({"content":[[text],{"type":text,text.clone():1},{"type":"image","mimeType":text,"data":text},{"type":"chart","uri":text,"a":[text]}]})
        },
        "{}",
    ),
    (
        "messages, contents and lists of another shape",
        |texts| {
            let text = texts.concat();
            json!({"messages":[text],"contents":[text,{"uri":"a:b","blob":text}],"prompts":[text,{"name":text}],"resources":text})
        },
        "{}",
    ),
    (
        "completions, questions and cursors",
        |texts| {
            let text = texts.concat();
            json!({"completion":{"values":[text]},"inputRequests":{text.clone():{"method":"elicitation/create","params":{"message":text}}},"requestState":text,"nextCursor":text})
        },
        "{}",
    ),
];
