//! The law for everything a client is sent, under strict validation and `clean`: one JSON-RPC message with no member that
//! the protocol does not have at its top, and no live control token in any key or string, but for what only software
//! reads: `uri`s, `_meta` and annotations.

use super::json::{Step, Visit, elements, members, visit};
use super::oracle::Oracle;

/// The law, and what it needs to know to judge.
pub(crate) struct Law {
    oracle: Oracle,
}

/// Whose words may stand in the fields that a client fills itself: its request ids and progress tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    /// The client chose them, and gets them back as they are.
    Client,
    /// The client's are known to be clean, so whatever stands there came from the server.
    None,
}

impl Law {
    pub(crate) fn new() -> Self {
        Self {
            oracle: Oracle::new(),
        }
    }

    /// The oracle's literals, to write attacks with.
    pub(crate) fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// What is wrong with a message, or a batch of them.
    pub(crate) fn check(&self, message: &[u8], echo: Echo) -> Result<(), String> {
        visit(message, |_| {}).map_err(|at| format!("no JSON at byte {}", at.0))?;
        match elements(message) {
            Some(several) if several.is_empty() => Err("an empty batch".to_owned()),
            Some(several) => several.iter().try_for_each(|one| self.check_one(one, echo)),
            None => self.check_one(message, echo),
        }
    }

    /// What is wrong with a text that is no message.
    pub(crate) fn check_text(&self, text: &str) -> Result<(), String> {
        match self.live(text) {
            Some(token) => Err(format!("the token {token} in {text:?}")),
            None => Ok(()),
        }
    }

    fn check_one(&self, message: &[u8], echo: Echo) -> Result<(), String> {
        let top = members(message).ok_or("a message that is no object")?;
        envelope(&top)?;
        let mut broken = None;
        let mut previous: Option<(Vec<Step>, String)> = None;
        let look = |it: &Visit<'_>| {
            if broken.is_some() || is_for_software(it) || (echo == Echo::Client && is_echo(it)) {
                return;
            }
            if let Some(token) = self.live(it.text) {
                let what = if it.is_key { "the key" } else { "the string" };
                broken = Some(format!(
                    "the token {token} in {what} {:?} at {:?}",
                    it.text, it.path
                ));
            }
            if is_block_text(it) {
                let seam = previous
                    .take()
                    .filter(|(path, _)| is_next_block(path, it.path));
                let joined = seam.map(|(_, text)| text + it.text);
                if let Some(token) = joined.as_deref().and_then(|joined| self.live(joined)) {
                    broken = broken.take().or(Some(format!(
                        "the token {token} across blocks at {:?}",
                        it.path
                    )));
                }
                previous = Some((it.path.to_vec(), it.text.to_owned()));
            }
        };
        visit(message, look).map_err(|at| format!("no JSON at byte {}", at.0))?;
        broken.map_or(Ok(()), Err)
    }

    /// A token that is alive in a text, or comes alive when something behind us normalises it.
    fn live(&self, text: &str) -> Option<String> {
        let plain = |c: char| c == '\n' || c == '\t' || c == '\r' || matches!(c, ' '..='~');
        let now = self.oracle.live(text).map(|token| token.text.clone());
        if now.is_some() || text.chars().all(plain) {
            return now;
        }
        let later = self.oracle.live_downstream(text);
        later.map(|(how, token)| format!("{} (after {how})", token.text))
    }
}

/// What is wrong with the members of a message.
fn envelope(top: &[(String, &[u8])]) -> Result<(), String> {
    let has = |name: &str| top.iter().any(|(key, _)| key == name);
    let allowed: &[&str] = if has("method") {
        &["jsonrpc", "id", "method", "params"]
    } else {
        &["jsonrpc", "id", "result", "error"]
    };
    for (index, (key, value)) in top.iter().enumerate() {
        if !allowed.contains(&key.as_str()) {
            return Err(format!("the foreign top-level member {key:?}"));
        }
        if top[..index].iter().any(|(earlier, _)| earlier == key) {
            return Err(format!("the top-level member {key:?} twice"));
        }
        if key == "error" && !value.starts_with(b"{") {
            return Err("an error that is no object".to_owned());
        }
    }
    if !has("method") && has("result") == has("error") {
        return Err("neither one result nor one error".to_owned());
    }
    Ok(())
}

/// Members of messages that hold blocks, resources, list entries and the like, which may have `uri`s, `_meta` and
/// annotations of their own.
const HOLDERS: &[&str] = &[
    "result",
    "params",
    "content",
    "contents",
    "messages",
    "resource",
    "resources",
    "resourceTemplates",
    "prompts",
    "tools",
];

/// Whether a string stands where only software reads it: in a `_meta` or annotations that are an object, or as a `uri`, of
/// something that the protocol gives one. Inside `structuredContent` and members it does not know, nothing does.
fn is_for_software(it: &Visit<'_>) -> bool {
    for (depth, step) in it.path.iter().enumerate() {
        let Step::Key(key) = step else {
            continue;
        };
        match key.as_str() {
            "_meta" | "annotations" => {
                return it.is_key || matches!(it.path.get(depth + 1), Some(Step::Key(_)));
            }
            "uri" | "uriTemplate" => return !it.is_key && depth + 1 == it.path.len(),
            holder if HOLDERS.contains(&holder) => {}
            _ => return false,
        }
    }
    false
}

/// Whether a string is one that a client chose to recognise its own request by.
fn is_echo(it: &Visit<'_>) -> bool {
    let names: Vec<&str> = it
        .path
        .iter()
        .map(|step| match step {
            Step::Key(key) => key.as_str(),
            Step::Index(_) => "",
        })
        .collect();
    !it.is_key && matches!(names[..], ["id"] | ["params", "progressToken"])
}

/// Whether a string is the `text` of a block of a result's `content`, whatever its type: a host may join them all.
fn is_block_text(it: &Visit<'_>) -> bool {
    let [
        Step::Key(result),
        Step::Key(content),
        Step::Index(_),
        Step::Key(text),
    ] = it.path
    else {
        return false;
    };
    !it.is_key && result == "result" && content == "content" && text == "text"
}

fn is_next_block(earlier: &[Step], later: &[Step]) -> bool {
    match (earlier.get(2), later.get(2)) {
        (Some(Step::Index(earlier)), Some(Step::Index(later))) => earlier + 1 == *later,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str) -> Result<(), String> {
        Law::new().check(message.as_bytes(), Echo::None)
    }

    #[test]
    fn the_law_lets_honest_messages_pass() {
        for honest in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a <b> [1]"}],"structuredContent":{"method":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}"#,
            r#"[{"jsonrpc":"2.0","id":"server-1","method":"roots/list"}]"#,
            r#"{"id":1,"result":{"_meta":{"a":"<|im_end|>"},"content":[{"uri":"<|im_end|>","annotations":{"a":["[INST]"]}}]}}"#,
        ] {
            assert_eq!(check(honest), Ok(()), "{honest}");
        }
    }

    #[test]
    fn the_law_is_broken_by() {
        for broken in [
            r#"{"id":1,"result":{},"method":"sampling/createMessage","params":{}}"#,
            r#"{"id":1,"result":{},"x":1}"#,
            r#"{"id":1,"result":{},"\u0072esult":{}}"#,
            r#"{"id":1,"error":"no"}"#,
            r#"{"id":1}"#,
            r#"{"id":1,"result":{},"error":{}}"#,
            r#"{"id":1,"result":{"a":["\u003c|im_start|>"]}}"#,
            r#"{"id":1,"result":{"a":{"[INST]":1}}}"#,
            r#"{"id":1,"result":{"structuredContent":{"_meta":{"uri":"<|im_end|>"}}}}"#,
            r#"{"id":1,"result":{"x":{"_meta":{"uri":"<|im_end|>"}}}}"#,
            r#"{"id":1,"result":{"_meta":["<|im_end|>"]}}"#,
            r#"{"id":1,"result":{"content":[{"type":"text","text":"<|im_"},{"type":"text","text":"end|>"}]}}"#,
            r#"{"id":1,"result":{"content":[{"type":"x","text":"<|im_"},{"type":"text","text":"end|>"}]}}"#,
            r#"{"id":1,"result":{"a":"x","a":"<|turn>"}}"#,
            "{\"id\":1,\"result\":{\"a\":\"<|im_\u{200b}end|>\"}}",
            r#"{"method":"notifications/message","params":{"level":"[INST]"}}"#,
            "[[]]",
            "[]",
            "{",
        ] {
            assert!(check(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_client_gets_its_own_ids_back() {
        let law = Law::new();
        for own in [
            r#"{"id":"[INST]","result":{}}"#,
            r#"{"method":"notifications/progress","params":{"progressToken":"[INST]"}}"#,
        ] {
            assert!(law.check(own.as_bytes(), Echo::None).is_err());
            assert!(law.check(own.as_bytes(), Echo::Client).is_ok());
        }
    }
}
