//! Lists of prompts and resources as one caller may see them: what it may not see is left out, and a client keeps such a
//! list for its own user only. All other bytes stay.

use countersign_tape::{Kind, Span, elements, members};

use super::Reply;

/// The reply to a caller under rules. `list`: the member of the result that has a list, and the member of its elements that
/// names them, for which `sees` is asked.
pub(crate) fn show_visible(
    reply: Reply,
    list: Option<(&str, &str)>,
    sees: impl Fn(&str) -> bool,
) -> Reply {
    reply.edit_result(|message, result, edits| {
        for (key, value) in members(message, result) {
            let Some(key) = key.string(message) else {
                continue;
            };
            match list {
                Some((member, name)) if member == key => {
                    if let Some(kept) = kept(message, value, name, &sees) {
                        edits.replace(value, kept);
                    }
                }
                _ if key == "cacheScope" && value.bytes(message) != b"\"private\"" => {
                    edits.replace(value, b"\"private\"".to_vec());
                }
                _ => {}
            }
        }
    })
}

/// The elements of a list that may be seen, as an array; nothing if all of them may.
fn kept(message: &[u8], list: Span, name: &str, sees: impl Fn(&str) -> bool) -> Option<Vec<u8>> {
    if list.kind(message) != Some(Kind::Array) {
        return None;
    }
    let all: Vec<Span> = elements(message, list).collect();
    let is_kept = |element: &&Span| is_seen(message, **element, name, &sees);
    let kept: Vec<&Span> = all.iter().filter(is_kept).collect();
    if kept.len() == all.len() {
        return None;
    }
    let kept: Vec<&[u8]> = kept.iter().map(|element| element.bytes(message)).collect();
    Some([&b"["[..], &kept.join(&b","[..]), b"]"].concat())
}

/// Whether an element may be seen under every name that it has: readers differ in which one of two they take.
fn is_seen(message: &[u8], element: Span, name: &str, sees: impl Fn(&str) -> bool) -> bool {
    if element.kind(message) != Some(Kind::Object) {
        return false;
    }
    let is_name = |key: Span| key.is_text(message, name);
    let mut names = members(message, element)
        .filter(|(key, _)| is_name(*key))
        .peekable();
    names.peek().is_some()
        && names.all(|(_, value)| value.string(message).is_some_and(|text| sees(&text)))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hyper::StatusCode;

    use super::super::Body;
    use super::super::tests::text;
    use super::*;

    fn shown(message: &str) -> String {
        let reply = Reply {
            scopes: Vec::new(),
            status: StatusCode::OK,
            body: Body::from(Bytes::copy_from_slice(message.as_bytes())),
        };
        let list = Some(("prompts", "name"));
        let (_, body) = text(show_visible(reply, list, |name| name.starts_with('a')));
        body
    }

    #[test]
    fn what_may_not_be_seen_is_left_out() {
        let all = r#"{"id":1,"result":{ "x":1.0,"prompts":[{"name":"a"} , {"name":"\u0061b"}]}}"#;
        assert_eq!(shown(all), all);
        let some = r#"{"id":1,"result":{"prompts":[{"name":"b"},{"name":"a","y":1.0},{},5,{"name":"a","name":"b"}],"cacheScope":"public","nextCursor":"c"}}"#;
        assert_eq!(
            shown(some),
            r#"{"id":1,"result":{"prompts":[{"name":"a","y":1.0}],"cacheScope":"private","nextCursor":"c"}}"#
        );
        let error = r#"{"id":1,"error":{"code":1,"message":"x"}}"#;
        assert_eq!(shown(error), error);
    }
}
