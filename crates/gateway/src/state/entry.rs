//! One element of a tool list, read just far enough to be listed and called: where its name and
//! its schemas stand. All other members are kept and passed on. An element that is not
//! a tool is refused by itself; the others stay.

use bytes::Bytes;
use countersign_inspect::RouterCall;
use countersign_login::Hints;
use countersign_tape::{Kind, Span, members, quote};

use countersign_wire::json::{member, path};

/// The longest name a tool may have.
const LONGEST_NAME: usize = 256;

/// A tool as its server listed it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(super) raw: Bytes,
    pub(super) name: String,
    /// Where its `inputSchema` stands.
    input: Option<Span>,
    /// The least cautious router tool that its hints allow; nothing without hints.
    pub(super) access: Option<RouterCall>,
    /// What its annotations say it does.
    pub(super) hints: Hints,
}

impl Entry {
    /// Reads a checked JSON value; `Err` says why it is not a tool.
    pub(crate) fn read(raw: Bytes) -> Result<Self, &'static str> {
        let whole = Span::whole(&raw);
        if whole.kind(&raw) != Some(Kind::Object) {
            return Err("not an object");
        }
        let (mut name, mut input, mut output, mut annotations) = (None, None, None, None);
        for (key, value) in members(&raw, whole) {
            let slot = match key.string(&raw).as_deref() {
                Some("name") => &mut name,
                Some("inputSchema") => &mut input,
                Some("outputSchema") => &mut output,
                Some("annotations") => &mut annotations,
                _ => continue,
            };
            // Two readers would see two different tools.
            if slot.replace(value).is_some() {
                return Err("a member is written twice");
            }
        }
        let text = name
            .ok_or("no name")?
            .string(&raw)
            .ok_or("the name is not a string")?
            .into_owned();
        if text.is_empty() || text.len() > LONGEST_NAME {
            return Err("the name is empty or too long");
        }
        if is_task_only(&raw, whole) {
            return Err("it can be called only as a task, which the gateway does not pass on");
        }
        let access = annotations.and_then(|value| access(&raw, value));
        let hint = |name| annotations.and_then(|value| flag(&raw, value, name));
        let names = [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ];
        Ok(Self {
            name: text,
            input,
            access,
            hints: Hints::new(names.map(hint)),
            raw,
        })
    }

    /// A tool that declares nothing but its name.
    pub(super) fn with_name(name: &str) -> Self {
        let token = quote(name);
        let raw = [&b"{\"name\":"[..], &token, b"}"].concat();
        Self {
            name: name.to_owned(),
            input: None,
            access: None,
            hints: Hints::new([None; 4]),
            raw: raw.into(),
        }
    }

    /// The tool's own name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its `inputSchema`.
    pub(crate) fn input_schema(&self) -> Option<&[u8]> {
        Some(self.input?.bytes(&self.raw))
    }

    /// The tool's bytes as received.
    pub(crate) fn raw(&self) -> &Bytes {
        &self.raw
    }
}

/// Whether a tool of 2025-11-25 refuses calls that are not tasks.
fn is_task_only(raw: &[u8], tool: Span) -> bool {
    let support = path(raw, tool, &["execution", "taskSupport"]);
    let support = support.and_then(|support| support.string(raw));
    support.is_some_and(|support| support == "required")
}

/// What the hints make of a tool; nothing if there are none. Where only one is given, the
/// protocol's defaults hold for the other: not read-only, and destructive.
fn access(raw: &[u8], annotations: Span) -> Option<RouterCall> {
    let hint = |name| flag(raw, annotations, name);
    match (hint("readOnlyHint"), hint("destructiveHint")) {
        (None, None) => None,
        (Some(true), _) => Some(RouterCall::Read),
        (_, Some(false)) => Some(RouterCall::Write),
        _ => Some(RouterCall::Destructive),
    }
}

/// A boolean member of the annotations.
fn flag(raw: &[u8], annotations: Span, name: &str) -> Option<bool> {
    match member(raw, annotations, name)?.kind(raw)? {
        Kind::True => Some(true),
        Kind::False => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Result<Entry, &'static str> {
        Entry::read(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn a_tool_needs_a_name_and_nothing_else() {
        let entry = read(r#"{"x":1,"name":"a b"}"#).expect("a tool");
        assert_eq!(entry.name(), "a b");
        for bad in [
            "null",
            "\"s\"",
            "[]",
            "{}",
            r#"{"name":5}"#,
            r#"{"name":""}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(r#"{"name":"a","name":"b"}"#).is_err());
        assert!(read(r#"{"name":"a","execution":{"taskSupport":"required"}}"#).is_err());
        assert!(read(r#"{"name":"a","execution":{"taskSupport":"optional"}}"#).is_ok());
    }

    #[test]
    fn hints_decide_who_may_call() {
        let access = |hints: &str| {
            let text = format!(r#"{{"name":"t","annotations":{hints}}}"#);
            Entry::read(Bytes::from(text)).expect("a tool").access
        };
        assert_eq!(access(r#"{"readOnlyHint":true}"#), Some(RouterCall::Read));
        assert_eq!(
            access(r#"{"readOnlyHint":true,"destructiveHint":true}"#),
            Some(RouterCall::Read)
        );
        assert_eq!(
            access(r#"{"destructiveHint":false}"#),
            Some(RouterCall::Write)
        );
        let destructive = Some(RouterCall::Destructive);
        assert_eq!(access(r#"{"readOnlyHint":false}"#), destructive);
        assert_eq!(access(r#"{"destructiveHint":true}"#), destructive);
        assert_eq!(access(r#"{"readOnlyHint":"yes"}"#), None);
        assert_eq!(access("[]"), None);
        assert_eq!(read(r#"{"name":"t"}"#).expect("a tool").access, None);
    }
}
