//! The `params` of a request on their way to a server. They keep every byte except the tool's name and the members of `_meta`
//! that belong to one hop.

use std::sync::LazyLock;

use countersign_inspect::Era;
use countersign_tape::{Edits, Kind, MemberPosition, Span, members, quote};

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
/// `_meta` of a request of whose client nothing goes on.
static PLAIN_HOP_META: LazyLock<String> = LazyLock::new(|| hop_meta(None));
/// The capabilities of a client that a server may rely on through us.
const RELAYED: [&str; 3] = ["elicitation", "sampling", "roots"];

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
        if key.is_text(params, "_meta") {
            meta = Some(value);
        } else if let Some(tool) = tool
            && key.is_text(params, "name")
        {
            rename(&mut edits, params, value, tool);
        }
    }
    match meta {
        Some(meta) if is_replaced(params, meta, hop) && log_level.is_none() => {
            edits.replace(meta, PLAIN_HOP_META.as_bytes());
        }
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
        (Era::Modern, None) if log_level.is_none() => Some(PLAIN_HOP_META.clone()),
        (Era::Modern, None) => Some(hop_meta(log_level)),
        (Era::Modern, Some(trace)) => {
            let others = hop_meta(log_level);
            Some(format!("{{{trace},{}", others.strip_prefix('{')?))
        }
        (Era::Legacy, trace) => trace.map(|trace| format!("{{{trace}}}")),
    }
}

fn rename(edits: &mut Edits<'_>, params: &[u8], value: Span, tool: &str) {
    if !value.is_text(params, tool) {
        edits.replace(value, quote(tool));
    }
}

/// Whether `_meta` for a modern server has nothing of the client's: it says nothing but what is about its own hop, as most
/// modern clients do.
fn is_replaced(params: &[u8], meta: Span, hop: Hop<'_>) -> bool {
    if hop.era == Era::Legacy || hop.trace.is_some() || meta.kind(params) != Some(Kind::Object) {
        return false;
    }
    members(params, meta).all(|(key, value)| {
        HOP.iter().any(|(name, _)| key.is_text(params, name))
            && (value.bytes(params) == b"{}" || !key.is_text(params, CLIENT_CAPABILITIES))
    })
}

fn edit_meta(edits: &mut Edits<'_>, params: &[u8], meta: Span, hop: Hop<'_>) {
    let Hop { era, id, .. } = hop;
    let mut parent = hop.trace.map(|trace| quote(trace.traceparent));
    let mut capabilities = None;
    for (key, value) in members(params, meta) {
        let Some(name) = key.string(params) else {
            continue;
        };
        if name == CLIENT_CAPABILITIES {
            capabilities.get_or_insert(value);
        }
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
        // What the client can be asked for: a modern server asks in its result and the client answers with its next request,
        // so it needs nothing of us. What else the client can do stays here.
        let relayed = capabilities.map(|capabilities| relayed(params, capabilities));
        let members = hop_members(relayed.as_deref().unwrap_or(b"{}"));
        edits.insert_raw_members(meta, MemberPosition::Last, members);
    }
}

/// The members of [`HOP`] with these capabilities.
fn hop_members(capabilities: &[u8]) -> Vec<u8> {
    let mut members = Vec::with_capacity(256 + capabilities.len());
    for (name, value) in HOP {
        if !members.is_empty() {
            members.push(b',');
        }
        let value = match name {
            CLIENT_CAPABILITIES => capabilities,
            _ => value.as_bytes(),
        };
        for part in [b"\"", name.as_bytes(), b"\":", value] {
            members.extend_from_slice(part);
        }
    }
    members
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
    let members = hop_members(b"{}");
    let level = log_level.map(String::from_utf8_lossy);
    let level = level.map(|level| format!(r#","{LOG_LEVEL}":{level}"#));
    let members = String::from_utf8_lossy(&members);
    format!("{{{members}{}}}", level.unwrap_or_default())
}

#[cfg(test)]
mod tests;
