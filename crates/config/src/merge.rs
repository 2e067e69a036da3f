//! A change of the file as a JSON merge patch (RFC 7396), spliced into the text: whatever it does not name stays as it
//! was written, references to the environment included. The one thing beyond the RFC: servers are patched by name, even
//! where the file lists them.

use countersign_tape::{EditError, Edits, Kind, MemberPosition, Span, elements, members, quote};

use super::document::Document;
use super::problem::{ConfigError, Problem};

const SERVERS: &str = "mcpServers";
/// How a secret is shown in place of itself.
const SHOWN: &str = "[redacted";

/// The patch, once it is known to be one: an object, each key once, and no secret that is only the word for one.
pub fn patch(text: &str) -> Result<&str, ConfigError> {
    let document = Document::parse(text)?;
    let tape = document.tape();
    if tape.node(0).kind() != Kind::Object {
        let hint = "send the keys to change, like {\"routing_mode\": \"direct\"}; null removes one";
        let problem = Problem::new("the patch is not an object", hint);
        return Err(problem.at(document.place(0)).into());
    }
    let indices = 0..tape.len();
    let shown = indices.filter(|index| {
        tape.node(*index).kind() == Kind::String && tape.string(*index).starts_with(SHOWN)
    });
    let problems: Vec<_> = shown
        .map(|index| {
            let hint = "leave the key out to keep the secret, or write ${env:NAME}";
            Problem::new("this is how a secret is shown, not a secret", hint)
                .at(document.place(index))
        })
        .collect();
    ConfigError::if_any(problems)?;
    Ok(tape.text())
}

/// A file with a [`patch`] applied. Fails if the file is not JSON that can be changed.
pub fn merged(file: &str, patch: &str) -> Result<String, ConfigError> {
    let document = Document::parse(file)?;
    let file = document.tape().text().as_bytes();
    let merged = merge(file, patch.as_bytes(), SERVERS).ok();
    let text = merged.and_then(|merged| String::from_utf8(merged).ok());
    text.ok_or_else(|| Problem::without_hint("the patch cannot be applied").into())
}

/// The value of a text, without the space around it.
fn value(text: &[u8]) -> Span {
    let start = text.len() - text.trim_ascii_start().len();
    let end = text.trim_ascii_end().len();
    let [start, end] = [start, end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
    Span::new(start, end)
}

/// Depth of recursion is that of the patch, which the document limits. `by_name`: the member whose elements may be
/// patched by their names.
fn merge(target: &[u8], patch: &[u8], by_name: &str) -> Result<Vec<u8>, EditError> {
    let changes = value(patch);
    if changes.kind(patch) != Some(Kind::Object) {
        return Ok(patch.to_vec());
    }
    let whole = value(target);
    if whole.kind(target) != Some(Kind::Object) {
        return merge(b"{}", patch, "");
    }
    let mut edits = Edits::new(target);
    for (key, new) in members(patch, changes) {
        let name = key.string(patch).unwrap_or_default();
        let mut known = members(target, whole);
        let known = known.find(|(key, _)| key.string(target).as_ref() == Some(&name));
        let removes = new.kind(patch) == Some(Kind::Null);
        let new = new.bytes(patch);
        match known {
            Some((key, _)) if removes => edits.remove_member(whole, key),
            None if removes => {}
            Some((_, old)) => {
                let listed = name == by_name && old.kind(target) == Some(Kind::Array);
                let old_text = old.bytes(target);
                let merged = if listed && Span::whole(new).kind(new) == Some(Kind::Object) {
                    servers(old_text, new)?
                } else {
                    merge(old_text, new, "")?
                };
                edits.replace(old, merged);
            }
            None => {
                let value = merge(b"{}", new, "")?;
                edits.insert_member(whole, MemberPosition::Last, &name, &value);
            }
        }
    }
    Ok(edits.apply()?.to_vec())
}

/// A list of servers, patched by their names.
fn servers(list: &[u8], patch: &[u8]) -> Result<Vec<u8>, EditError> {
    let whole = Span::whole(list);
    let named = |server: Span| {
        let mut members = members(list, server);
        let name = members.find(|(key, _)| key.is_text(list, "name"));
        name.and_then(|(_, name)| name.string(list))
    };
    let mut new: Vec<Vec<u8>> = Vec::new();
    for server in elements(list, whole) {
        let name = named(server);
        let mut changes = members(patch, Span::whole(patch));
        let change = changes.find(|(key, _)| name.is_some() && key.string(patch) == name);
        match change.map(|(_, change)| change) {
            None => new.push(server.bytes(list).to_vec()),
            Some(change) if change.kind(patch) == Some(Kind::Null) => {}
            Some(change) => new.push(merge(server.bytes(list), change.bytes(patch), "")?),
        }
    }
    for (key, server) in members(patch, Span::whole(patch)) {
        let name = key.string(patch);
        let is_known = elements(list, whole).any(|server| named(server) == name);
        if is_known || server.kind(patch) == Some(Kind::Null) {
            continue;
        }
        let server = merge(b"{}", server.bytes(patch), "")?;
        let mut edits = Edits::new(&server);
        if Span::whole(&server).kind(&server) == Some(Kind::Object) {
            let name = quote(&name.unwrap_or_default());
            edits.insert_member(Span::whole(&server), MemberPosition::First, "name", &name);
        }
        new.push(edits.apply()?.to_vec());
    }
    let mut text = b"[".to_vec();
    for (index, server) in new.iter().enumerate() {
        text.extend_from_slice(if index == 0 { b"\n    " } else { b",\n    " });
        text.extend_from_slice(server);
    }
    text.extend_from_slice(if new.is_empty() { b"]" } else { b"\n  ]" });
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(file: &str, text: &str) -> String {
        merged(file, patch(text).expect("a patch")).expect("a file")
    }

    /// The examples of the RFC whose target and patch are objects.
    #[test]
    fn the_examples_of_the_rfc() {
        for (file, patch, expected) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (
                r#"{"a":{"b":"c"}}"#,
                r#"{"a":{"b":"d","c":null}}"#,
                r#"{"a":{"b":"d"}}"#,
            ),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(after(file, patch), expected, "{file} {patch}");
        }
    }

    #[test]
    fn what_is_not_named_stays_as_it_was_written() {
        let file = "\u{feff}{\n  \"api_key\": \"${env:KEY}\", \"output_validation\" : { \"mode\": \"warn\" },\n  \"max_message_bytes\": 1048576\n}\n";
        assert_eq!(
            after(file, r#"{"output_validation": {"mode": "strict"}}"#),
            file.trim_start_matches('\u{feff}')
                .replace("warn", "strict")
        );
    }

    #[test]
    fn listed_servers_are_patched_by_name() {
        let file = r#"{"mcpServers": [{"name": "a", "command": "x", "args": [1]}, {"name":"b","command":"y"}]}"#;
        let patch = r#"{"mcpServers": {"b": null, "c": {"url": "z", "timeout": null}, "a": {"args": null, "enabled": false}, "d": null}}"#;
        assert_eq!(
            after(file, patch),
            "{\"mcpServers\": [\n    {\"name\": \"a\", \"command\": \"x\",\"enabled\":false},\n    {\"name\":\"c\",\"url\":\"z\"}\n  ]}"
        );
        let none = r#"{"mcpServers": {"a": null, "b": null}}"#;
        assert_eq!(after(file, none), r#"{"mcpServers": []}"#);
        let whole = r#"{"mcpServers": [{"name":"e"}]}"#;
        assert_eq!(after(file, whole), r#"{"mcpServers": [{"name":"e"}]}"#);
        let keyed = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
        assert_eq!(
            after(keyed, r#"{"mcpServers": {"a": {"command": "y"}}}"#),
            r#"{"mcpServers": {"a": {"command": "y"}}}"#
        );
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for (text, expected) in [
            ("[]", "not an object"),
            ("null", "not an object"),
            ("{", "not JSON"),
            (r#"{"a":1,"a":2}"#, "repeated"),
            (r#"{"a":{"b":["[redacted]"]}}"#, "how a secret is shown"),
        ] {
            let error = patch(text).expect_err(text);
            assert!(error.to_string().contains(expected), "{text}: {error}");
        }
        assert!(merged("{,}", "{}").is_err());
        assert_eq!(
            after(" {\"a\":1, \"b\":2}\n", " {\"a\":null}\n"),
            " {\"b\":2}\n"
        );
    }
}
