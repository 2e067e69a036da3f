//! Addresses of resources in the answers of a server, where several servers are shown as one: each has to lead back to its
//! server. Addresses that do so already keep their bytes, and so does everything else.

use countersign_tape::{Kind, Span, elements, members, quote};
use countersign_wire::json::member;

use super::Reply;

/// The reply with the addresses that `shown` gives. Addresses are those of links, of embedded resources and of the
/// contents of a resource.
pub(crate) fn show_links(reply: Reply, shown: impl Fn(&str) -> String) -> Reply {
    if !reply.body.may_have_member(b"uri\"") {
        return reply;
    }
    reply.edit_result(|message, result, edits| {
        for block in blocks(message, result) {
            let embedded = member(message, block, "resource");
            let holders = [Some(block), embedded].into_iter().flatten();
            for uri in holders.flat_map(|holder| addresses(message, holder)) {
                let Some(text) = uri.string(message) else {
                    continue;
                };
                let shown = shown(&text);
                if shown != text {
                    edits.replace(uri, quote(&shown));
                }
            }
        }
    })
}

/// Every `uri` of an object: readers differ in which one of two they take.
fn addresses(message: &[u8], holder: Span) -> impl Iterator<Item = Span> {
    let is_uri = |key: Span| key.is_text(message, "uri");
    let found = members(message, holder).filter(move |(key, _)| is_uri(*key));
    found.map(|(_, value)| value)
}

/// The content blocks of a tool's result or of a prompt's messages, and the contents of a resource.
fn blocks(message: &[u8], result: Span) -> Vec<Span> {
    let lists = ["content", "contents"].map(|name| member(message, result, name));
    let mut found: Vec<Span> = Vec::new();
    for list in lists.into_iter().flatten() {
        found.extend(objects(message, list));
    }
    let messages = member(message, result, "messages");
    for said in messages.into_iter().flat_map(|all| objects(message, all)) {
        if let Some(content) = member(message, said, "content") {
            found.extend(objects(message, content));
        }
    }
    found
}

/// The objects of an array, or the one object.
fn objects(message: &[u8], value: Span) -> Vec<Span> {
    let is_object = |span: &Span| span.kind(message) == Some(Kind::Object);
    match value.kind(message) {
        Some(Kind::Object) => vec![value],
        Some(Kind::Array) => elements(message, value).filter(is_object).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hyper::StatusCode;

    use super::super::Body;
    use super::super::tests::text;
    use super::*;

    fn shown(result: &str) -> String {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let reply = Reply {
            scopes: Vec::new(),
            status: StatusCode::OK,
            body: Body::from(Bytes::from(message)),
        };
        let shown = |uri: &str| match uri {
            "a:1" => "w:a:1".to_owned(),
            other => other.to_owned(),
        };
        let (_, body) = text(show_links(reply, shown));
        let (start, end) = (r#"{"jsonrpc":"2.0","id":1,"result":"#, "}");
        let result = body.strip_prefix(start).and_then(|it| it.strip_suffix(end));
        result.expect("a result").to_owned()
    }

    #[test]
    fn links_are_found_where_they_stand_and_nowhere_else() {
        let tool = r#"{"content":[{"type":"resource_link", "uri":"a:1"},{"type":"resource","resource":{"\u0075ri":"a:1","text":"\"uri\":\"a:1\""}},{"uri":"b:2"},5],"structuredContent":{"uri":"a:1"}}"#;
        let expected = r#"{"content":[{"type":"resource_link", "uri":"w:a:1"},{"type":"resource","resource":{"\u0075ri":"w:a:1","text":"\"uri\":\"a:1\""}},{"uri":"b:2"},5],"structuredContent":{"uri":"a:1"}}"#;
        assert_eq!(shown(tool), expected);
        let prompt = r#"{"messages":[{"content":{"resource":{"uri":"a:1"}}},{"content":[{"uri":"a:1"}]},7]}"#;
        let expected = r#"{"messages":[{"content":{"resource":{"uri":"w:a:1"}}},{"content":[{"uri":"w:a:1"}]},7]}"#;
        assert_eq!(shown(prompt), expected);
        let contents = r#"{"contents":[{"uri":"a:1","text":"x"}]}"#;
        let expected = r#"{"contents":[{"uri":"w:a:1","text":"x"}]}"#;
        assert_eq!(shown(contents), expected);
        for same in [
            r#"{"content":[{"uri":"b:2"}]}"#,
            r#"{"content":"uri"}"#,
            "[]",
        ] {
            assert_eq!(shown(same), same);
        }
    }
}
