//! Builds the messages that are sent to a server: an envelope of our own around the client's `params`. The `params` keep
//! every byte except the tool's name and the members of `_meta` that belong to one hop.

use countersign_inspect::Era;
use countersign_tape::{Edits, Kind, MemberPosition, Span, compact, members, quote};
use memchr::memchr2;

use crate::json::member;
use crate::meta::{
    CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION, TRACEPARENT, TRACESTATE,
};

/// What a modern request must say about the hop it is made on.
const HOP: [(&str, &str); 3] = [
    (PROTOCOL_VERSION, "\"2026-07-28\""),
    (CLIENT_CAPABILITIES, "{}"),
    (
        CLIENT_INFO,
        concat!(
            r#"{"name":"countersign","version":""#,
            env!("CARGO_PKG_VERSION"),
            r#""}"#
        ),
    ),
];
/// The capabilities of a client that a server may rely on through us.
const RELAYED: [&str; 3] = ["elicitation", "sampling", "roots"];

/// A request, on one line and with its end.
pub fn line(id: u64, method: &str, params: &[u8]) -> Vec<u8> {
    let mut line = request(id, method, &one_line(params));
    line.push(b'\n');
    line
}

/// Any message as a line, with its end.
pub fn as_line(message: &[u8]) -> Vec<u8> {
    let mut line = one_line(message.trim_ascii_end()).into_owned();
    line.push(b'\n');
    line
}

/// A request.
pub fn request(id: u64, method: &str, params: &[u8]) -> Vec<u8> {
    let id = id.to_string();
    framed(&[
        br#"{"jsonrpc":"2.0","id":"#,
        id.as_bytes(),
        br#","method":"#,
        &quote(method),
        br#","params":"#,
        params,
        b"}",
    ])
}

/// A notification line.
pub fn notification(method: &str) -> Vec<u8> {
    framed(&[
        br#"{"jsonrpc":"2.0","method":""#,
        method.as_bytes(),
        b"\"}\n",
    ])
}

/// The notification line that cancels a request.
pub fn cancelled(id: u64) -> Vec<u8> {
    let id = id.to_string();
    framed(&[
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#,
        id.as_bytes(),
        b"}}\n",
    ])
}

/// The line that answers a request of the server.
pub fn answer(id: &[u8], result: &[u8]) -> Vec<u8> {
    framed(&[
        br#"{"jsonrpc":"2.0","id":"#,
        id,
        br#","result":"#,
        result,
        b"}\n",
    ])
}

/// The line that refuses a request of the server.
pub fn refuse(id: &[u8], code: i32, message: &str) -> Vec<u8> {
    let code = code.to_string();
    framed(&[
        br#"{"jsonrpc":"2.0","id":"#,
        id,
        br#","error":{"code":"#,
        code.as_bytes(),
        br#","message":"#,
        &quote(message),
        b"}}\n",
    ])
}

/// The `params` of a request of our own: `members` is what is inside the braces.
pub fn own_params(era: Era, members: &[u8]) -> Vec<u8> {
    let meta = match era {
        Era::Modern => format!(r#""_meta":{}"#, hop_meta(None)),
        Era::Legacy => String::new(),
    };
    let is_alone = meta.is_empty() || members.is_empty();
    let comma: &[u8] = if is_alone { b"" } else { b"," };
    [b"{", members, comma, meta.as_bytes(), b"}"].concat()
}

/// The client's `params` have a `_meta` that is not an object, or that cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadMeta;

/// What is said about the hop that a request is made on.
#[derive(Clone, Copy, Debug)]
pub struct Hop<'a> {
    /// The era of the server.
    pub era: Era,
    /// Our id of the request. Progress is asked for under it.
    pub id: u64,
    /// What a legacy client asked its session for; a modern server logs only for requests that ask themselves.
    pub log_level: Option<&'a str>,
    /// The span that the request belongs to. `None` leaves what the client said.
    pub trace: Option<HopTrace<'a>>,
}

/// The span that a request belongs to.
#[derive(Clone, Copy, Debug)]
pub struct HopTrace<'a> {
    /// `traceparent`, which takes the place of the client's.
    pub traceparent: &'a str,
    /// Whether `tracestate` of the client belongs to the same trace; it is left out if not.
    pub keeps_state: bool,
}

/// The client's `params` for the next hop: a tool under its own name, and `_meta` as the hop wants it.
pub fn call_params(params: &[u8], tool: Option<&str>, hop: Hop<'_>) -> Result<Vec<u8>, BadMeta> {
    let log_level = hop.log_level.filter(|_| hop.era == Era::Modern).map(quote);
    let whole = Span::whole(params);
    let mut edits = Edits::new(params);
    let mut meta = None;
    for (key, value) in members(params, whole) {
        match key.string(params).as_deref() {
            Some("name") => {
                if let Some(tool) = tool {
                    rename(&mut edits, params, value, tool);
                }
            }
            Some("_meta") => meta = Some(value),
            _ => {}
        }
    }
    match meta {
        Some(meta) if meta.kind(params) == Some(Kind::Object) => {
            edit_meta(&mut edits, params, meta, hop);
            if let Some(level) = log_level
                && member(params, meta, LOG_LEVEL).is_none()
            {
                edits.insert_member(meta, MemberPosition::Last, LOG_LEVEL, &level);
            }
        }
        Some(_) => return Err(BadMeta),
        None => {
            if let Some(meta) = new_meta(hop, log_level.as_deref()) {
                edits.insert_member(whole, MemberPosition::Last, "_meta", meta.as_bytes());
            }
        }
    }
    let edited = edits.apply().map_err(|_| BadMeta)?;
    Ok(edited.to_vec())
}

/// `_meta` of a request whose client sent none; nothing if there is nothing to say.
fn new_meta(hop: Hop<'_>, log_level: Option<&[u8]>) -> Option<String> {
    let trace = hop.trace.map(|trace| {
        let value = quote(trace.traceparent);
        format!(r#""{TRACEPARENT}":{}"#, String::from_utf8_lossy(&value))
    });
    match (hop.era, trace) {
        (Era::Modern, None) => Some(hop_meta(log_level)),
        (Era::Modern, Some(trace)) => {
            let others = hop_meta(log_level);
            Some(format!("{{{trace},{}", others.strip_prefix('{')?))
        }
        (Era::Legacy, trace) => trace.map(|trace| format!("{{{trace}}}")),
    }
}

fn rename(edits: &mut Edits<'_>, params: &[u8], value: Span, tool: &str) {
    if value.string(params).is_none_or(|name| name != tool) {
        edits.replace(value, quote(tool));
    }
}

fn edit_meta(edits: &mut Edits<'_>, params: &[u8], meta: Span, hop: Hop<'_>) {
    let Hop { era, id, .. } = hop;
    let mut parent = hop.trace.map(|trace| quote(trace.traceparent));
    for (key, value) in members(params, meta) {
        let Some(name) = key.string(params) else {
            continue;
        };
        let is_of_one_hop =
            HOP.iter().any(|(hop, _)| *hop == name) || (name == LOG_LEVEL && era == Era::Legacy);
        match (&*name, hop.trace) {
            _ if is_of_one_hop => edits.remove_member(meta, key),
            ("progressToken", _) => edits.replace(value, id.to_string()),
            (TRACEPARENT, Some(_)) => match parent.take() {
                Some(parent) => edits.replace(value, parent),
                None => edits.remove_member(meta, key),
            },
            (TRACESTATE, Some(trace)) if !trace.keeps_state => edits.remove_member(meta, key),
            _ => {}
        }
    }
    if let Some(parent) = parent {
        edits.insert_member(meta, MemberPosition::Last, TRACEPARENT, &parent);
    }
    if era == Era::Modern {
        let relayed = relayed_meta(params, meta);
        for (name, value) in HOP {
            let value = match name {
                CLIENT_CAPABILITIES => &relayed,
                _ => value.as_bytes(),
            };
            edits.insert_member(meta, MemberPosition::Last, name, value);
        }
    }
}

/// What the client can be asked for: a modern server asks in its result and the client answers
/// with its next request, so it needs nothing of us. What else the client can do stays here.
fn relayed_meta(params: &[u8], meta: Span) -> Vec<u8> {
    let said = member(params, meta, CLIENT_CAPABILITIES);
    said.map_or_else(|| b"{}".to_vec(), |said| relayed(params, said))
}

/// Of the capabilities of a client, those that a server may rely on through us.
pub fn relayed(json: &[u8], capabilities: Span) -> Vec<u8> {
    let mut relayed = vec![b'{'];
    for name in RELAYED {
        let Some(value) = member(json, capabilities, name) else {
            continue;
        };
        let comma: &[u8] = if relayed.len() > 1 { b"," } else { b"" };
        let parts = [comma, b"\"", name.as_bytes(), b"\":", value.bytes(json)];
        relayed.extend(parts.concat());
    }
    relayed.push(b'}');
    relayed
}

fn hop_meta(log_level: Option<&[u8]>) -> String {
    let members = HOP.map(|(name, value)| format!(r#""{name}":{value}"#));
    let level = log_level.map(String::from_utf8_lossy);
    let level = level.map(|level| format!(r#","{LOG_LEVEL}":{level}"#));
    format!("{{{}{}}}", members.join(","), level.unwrap_or_default())
}

/// The text without line breaks, which would end the line early.
fn one_line(json: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match memchr2(b'\n', b'\r', json) {
        None => json.into(),
        Some(_) => compact(json),
    }
}

fn framed(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(era: Era) -> Hop<'static> {
        Hop {
            era,
            id: 7,
            log_level: None,
            trace: None,
        }
    }

    fn params(params: &str, era: Era) -> String {
        let params = call_params(params.as_bytes(), Some("tool"), hop(era));
        let params = params.expect("usable");
        String::from_utf8(params).expect("UTF-8")
    }

    #[test]
    fn only_the_name_changes_on_the_way_to_a_legacy_upstream() {
        let given = r#"{ "x": 1.0, "arguments": {"n":12345678901234567890},"name" : "s__tool" }"#;
        let expected = r#"{ "x": 1.0, "arguments": {"n":12345678901234567890},"name" : "tool" }"#;
        assert_eq!(params(given, Era::Legacy), expected);
        let same = r#"{"name":"tool","_meta":{"a":1}}"#;
        assert_eq!(params(same, Era::Legacy), same);
    }

    #[test]
    fn a_hop_says_what_it_is_and_nothing_of_the_one_before() {
        let given = r#"{"name":"t","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"x"},"a":1,"progressToken":"p","io.modelcontextprotocol/logLevel":"debug"}}"#;
        assert_eq!(
            params(given, Era::Legacy),
            r#"{"name":"tool","_meta":{"a":1,"progressToken":7}}"#
        );
        let modern = params(given, Era::Modern);
        assert!(modern.starts_with(r#"{"name":"tool","_meta":{"a":1,"progressToken":7,"io.model"#));
        assert!(
            modern.contains(r#"clientInfo":{"name":"countersign","#),
            "{modern}"
        );
        assert!(
            modern.contains(r#"protocolVersion":"2026-07-28""#),
            "{modern}"
        );
        let added = params(r#"{"name":"t"}"#, Era::Modern);
        assert!(
            added.starts_with(r#"{"name":"tool","_meta":{"io.model"#),
            "{added}"
        );
        assert!(call_params(br#"{"name":"t","_meta":5}"#, None, hop(Era::Legacy)).is_err());
        let kept = br#"{"name":"t","uri":"u"}"#;
        assert_eq!(
            call_params(kept, None, hop(Era::Legacy)).as_deref(),
            Ok(&kept[..])
        );
    }

    #[test]
    fn a_modern_server_is_asked_for_the_logs_of_a_legacy_session() {
        let ask = |params: &str, era| {
            let log_level = Some("info");
            let hop = Hop {
                log_level,
                ..hop(era)
            };
            let params = call_params(params.as_bytes(), None, hop);
            String::from_utf8(params.expect("usable")).expect("UTF-8")
        };
        let asked = r#","io.modelcontextprotocol/logLevel":"info"}}"#;
        let bare = r#"{"name":"t"}"#;
        assert!(ask(bare, Era::Modern).ends_with(asked));
        assert!(ask(r#"{"name":"t","_meta":{}}"#, Era::Modern).ends_with(asked));
        assert_eq!(ask(bare, Era::Legacy), bare);
        let own = r#"{"name":"t","_meta":{"io.modelcontextprotocol/logLevel":"error"}}"#;
        assert!(!ask(own, Era::Modern).contains("info"));
    }

    #[test]
    fn a_modern_server_may_ask_what_the_client_can_answer() {
        let given = r#"{"name":"t","_meta":{"io.modelcontextprotocol/clientCapabilities":{"x":1,"sampling":{},"extensions":{"t":{}},"elicitation":{"url":{ }}}}}"#;
        let modern = params(given, Era::Modern);
        assert!(
            modern.contains(r#"clientCapabilities":{"elicitation":{"url":{ }},"sampling":{}}"#),
            "{modern}"
        );
        assert!(!params(given, Era::Legacy).contains("sampling"));
    }

    #[test]
    fn a_server_is_told_the_span_of_its_request_and_nothing_else_changes() {
        let ask = |params: &str, era, keeps_state| {
            let trace = Some(HopTrace {
                traceparent: "00-ours-01",
                keeps_state,
            });
            let params = call_params(params.as_bytes(), None, Hop { trace, ..hop(era) });
            String::from_utf8(params.expect("usable")).expect("UTF-8")
        };
        let legacy = |params, keeps_state| ask(params, Era::Legacy, keeps_state);
        let given = r#"{ "x":1.0,"_meta":{"traceparent" : "00-theirs-01","tracestate":"a=b","baggage":"k=v", "y":[ ]},"name":"t"}"#;
        assert_eq!(
            legacy(given, true),
            given.replace("00-theirs-01", "00-ours-01")
        );
        assert_eq!(
            legacy(given, false),
            r#"{ "x":1.0,"_meta":{"traceparent" : "00-ours-01","baggage":"k=v", "y":[ ]},"name":"t"}"#
        );
        assert_eq!(
            legacy(r#"{"name":"t"}"#, false),
            r#"{"name":"t","_meta":{"traceparent":"00-ours-01"}}"#
        );
        assert_eq!(
            legacy(r#"{"_meta":{}}"#, false),
            r#"{"_meta":{"traceparent":"00-ours-01"}}"#
        );
        // Two readers would see two spans.
        let twice = r#"{"_meta":{"traceparent":"a","traceparent":5,"z":1}}"#;
        assert_eq!(
            legacy(twice, true),
            r#"{"_meta":{"traceparent":"00-ours-01","z":1}}"#
        );
        let modern = ask(r#"{"name":"t"}"#, Era::Modern, false);
        assert!(
            modern
                .starts_with(r#"{"name":"t","_meta":{"traceparent":"00-ours-01","io.modelcontext"#),
            "{modern}"
        );
        let modern = ask(given, Era::Modern, true);
        assert!(modern.contains(r#""traceparent" : "00-ours-01","tracestate":"a=b""#));
    }

    #[test]
    fn a_line_has_one_end() {
        let line = line(3, "tools/call", b"{\n \"a\":\r\n\"b c\" }");
        let expected = concat!(
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"a":"b c"}}"#,
            "\n"
        );
        assert_eq!(String::from_utf8_lossy(&line), expected);
        assert_eq!(own_params(Era::Legacy, b""), b"{}");
        let modern = own_params(Era::Modern, br#""cursor":"a""#);
        assert!(modern.starts_with(br#"{"cursor":"a","_meta":{"#));
    }
}
