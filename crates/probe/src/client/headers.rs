//! Headers that repeat what the body of a modern request says: the method, the tool's name, and the
//! arguments that the tool's `inputSchema` marks with `x-mcp-header`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_tape::{Kind, Limits, Span, Tape};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::json::member;
use super::message::Outgoing;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const MARK: &str = "x-mcp-header";
/// More than this is no declaration anybody means.
const MOST: usize = 64;
/// How deep a declaration that marks arguments may be nested.
const DEEPEST: u32 = 128;

/// Which arguments of a tool are repeated as headers, by the way to them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mirrored {
    all: Vec<(HeaderName, Vec<String>)>,
}

impl Mirrored {
    /// Reads a tool's declaration; nothing if it marks no argument, or is nested deeper than [`DEEPEST`].
    pub(super) fn of(tool: &[u8]) -> Option<Self> {
        memchr::memmem::find(tool, MARK.as_bytes())?;
        let limits = Limits {
            max_bytes: usize::MAX,
            max_depth: DEEPEST,
        };
        let tape = Tape::parse(tool, &limits).ok()?;
        let mut all = Vec::new();
        // The schema of each property, its name and the step before it. Along `properties` only: elsewhere an
        // argument may or may not be there.
        let mut steps = vec![(tape.get(0, "inputSchema")?, None, 0)];
        let mut at = 0;
        while let Some((schema, _, _)) = steps.get(at).copied() {
            let mark = tape.get(schema, MARK).map(|mark| tape.string(mark));
            if let Some(name) = mark.filter(|name| !name.is_empty())
                && let Ok(name) = HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes())
                && all.len() < MOST
            {
                all.push((name, way(&tape, &steps, at)));
            }
            let properties = tape.get(schema, "properties");
            let properties = properties.into_iter().flat_map(|all| tape.members(all));
            steps.extend(properties.map(|(key, inner)| (inner, Some(key), at)));
            at += 1;
        }
        (!all.is_empty()).then_some(Self { all })
    }

    fn write(&self, arguments: &[u8], headers: &mut HeaderMap) {
        for (name, way) in &self.all {
            let value = way.iter().try_fold(Span::whole(arguments), |object, name| {
                member(arguments, object, name)
            });
            let Some(value) = value else { continue };
            let text = match value.kind(arguments) {
                Some(Kind::String) => value.string(arguments),
                Some(Kind::Number | Kind::True | Kind::False) => {
                    Some(String::from_utf8_lossy(value.bytes(arguments)))
                }
                _ => None,
            };
            if let Some(text) = text {
                headers.insert(name.clone(), header(&text));
            }
        }
    }
}

/// The names of the properties that lead to the step at `at`.
fn way(tape: &Tape<'_>, steps: &[(u32, Option<u32>, usize)], mut at: usize) -> Vec<String> {
    let mut way = Vec::new();
    while let Some((_, Some(key), before)) = steps.get(at) {
        way.push(tape.string(*key).into_owned());
        at = *before;
    }
    way.reverse();
    way
}

/// Writes what a modern request says in its headers.
pub(super) fn write(outgoing: &Outgoing<'_>, headers: &mut HeaderMap) {
    headers.insert(METHOD, header(outgoing.method));
    if let Some(name) = outgoing.name {
        headers.insert(NAME, header(name));
    }
    if let (Some(mirrored), Some(arguments)) = (outgoing.mirrored, outgoing.arguments) {
        mirrored.write(arguments, headers);
    }
}

/// A text as a header's value; wrapped if it could not be read back as it is.
pub(super) fn header(text: &str) -> HeaderValue {
    let plain = text
        .bytes()
        .all(|byte| byte == b' ' || byte.is_ascii_graphic())
        && text.trim() == text
        && !text.starts_with("=?base64?");
    let value = if plain {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text)))
    };
    // Unreachable: either way it is visible ASCII.
    value.unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_arguments_become_headers() {
        let tool = br#"{"name":"t","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"},"in":{"properties":{"n":{"type":"integer","x-mcp-header":"N"}}},"free":{"type":"string"}}}}"#;
        let mirrored = Mirrored::of(tool).expect("arguments are marked");
        let mut headers = HeaderMap::new();
        mirrored.write(
            br#"{"region":"caf\u00e9","in":{"n":42},"free":"x"}"#,
            &mut headers,
        );
        assert_eq!(headers["mcp-param-region"], "=?base64?Y2Fmw6k=?=");
        assert_eq!(headers["mcp-param-n"], "42");
        assert_eq!(headers.len(), 2);
        assert_eq!(Mirrored::of(br#"{"name":"t","inputSchema":{}}"#), None);
    }

    #[test]
    fn a_declaration_nested_too_deep_marks_nothing() {
        let nested = |levels: usize| {
            let open = r#"{"properties":{"a":"#.repeat(levels);
            let close = "}}".repeat(levels);
            format!(r#"{{"inputSchema":{open}{{"x-mcp-header":"A"}}{close}}}"#)
        };
        let found = Mirrored::of(nested(60).as_bytes()).expect("arguments are marked");
        assert_eq!(found.all[0].1, vec!["a"; 60]);
        // Walked level by level, each to its end, this took minutes.
        assert_eq!(Mirrored::of(nested(60_000).as_bytes()), None);
    }
}
