//! Checks that a result has the shape MCP gives it: content blocks with the members their type
//! requires, base64 that decodes, a boolean `isError`, no lone surrogates. Unknown block types and
//! members are allowed. Works on spans and allocates only to report.

use std::borrow::Cow;

use countersign_tape::{Envelope, Kind, Member, Span, Tape, elements, members, unescape};

use crate::era::Era;
use crate::open::base64;
use crate::open::transport::OpenedReply;
use crate::verdict::explained::{ExplainedFinding, MAX_FINDINGS};
use crate::verdict::{Finding, Severity, Stage};

/// Reports what is malformed about a scanned result.
pub(crate) fn check(opened: &OpenedReply<'_, '_>, era: Era, found: &mut Vec<ExplainedFinding>) {
    let (bytes, envelope) = (opened.text.as_bytes(), opened.envelope);
    let mut report = FindingCollector {
        bytes,
        found,
        left: MAX_FINDINGS,
    };
    let Some(result) = envelope.result() else {
        return;
    };
    if result.kind(bytes) != Some(Kind::Object) {
        return report.wrong_type("shape.content", "", "object", result);
    }
    if let Some(flag) = envelope.get(Member::IsError)
        && envelope.is_error(bytes).is_none()
    {
        report.wrong_type("shape.is_error", "/isError", "boolean", flag);
    }
    if let Some(kind) = envelope.get(Member::ResultType)
        && era == Era::Modern
        && kind.kind(bytes) != Some(Kind::String)
    {
        report.wrong_type("shape.content", "/resultType", "string", kind);
    }
    match (&opened.tapes.content, envelope.content()) {
        (Some(tape), _) => check_laid_out(bytes, tape, &mut report),
        (None, Some(content)) => check_content(bytes, content, &mut report),
        (None, None) => {}
    }
    if envelope
        .duplicates()
        .any(|member| member == Member::Content)
    {
        report.add("shape.content", "/content", "one content member", "several");
    }
    if let Some(offset) = envelope.lone_surrogate() {
        let place = pointer_of_part(bytes, envelope, offset);
        let (expected, actual) = ("paired surrogates", "a lone surrogate");
        report.add("shape.surrogate", &place, expected, actual);
    }
}

/// Content of ordinary size, which the scan has laid out.
fn check_laid_out(bytes: &[u8], tape: &Tape<'_>, report: &mut FindingCollector<'_>) {
    let root = tape.node(0);
    if root.kind() != Kind::Array {
        return report.wrong_type("shape.content", "/content", "array", root.span());
    }
    for (index, block) in tape.children(0).enumerate() {
        let node = tape.node(block);
        let checked = if node.kind() == Kind::Object {
            let members = tape.members(block).map(|(key, value)| {
                let key = tape.node(key);
                let name = key.span().bytes(bytes);
                let name = if key.is_escaped() {
                    plain_key(name)
                } else {
                    Cow::Borrowed(name)
                };
                (name, tape.node(value).span())
            });
            select_members(members, BLOCK).and_then(|members| check_block(bytes, members))
        } else {
            Err(wrong_type(bytes, Some(node.span()), "", "object"))
        };
        report.block(index, checked);
        if report.left == 0 {
            return;
        }
    }
}

/// Content that is too large to be laid out, read a second time.
fn check_content(bytes: &[u8], content: Span, report: &mut FindingCollector<'_>) {
    if content.kind(bytes) != Some(Kind::Array) {
        return report.wrong_type("shape.content", "/content", "array", content);
    }
    let mut at = skip_space(bytes, content.start + 1);
    for index in 0.. {
        let Some(b'{') = bytes.get(at as usize) else {
            return check_rest(bytes, content, index, report);
        };
        let (picked, end) = select_raw_members(bytes, Span::new(at, content.end), BLOCK);
        let checked = picked.and_then(|members| check_block(bytes, members));
        report.block(index, checked);
        at = skip_space(bytes, end);
        if bytes.get(at as usize) != Some(&b',') || report.left == 0 {
            return;
        }
        at = skip_space(bytes, at + 1);
    }
}

/// The same, from the first element on that is not an object. Such an element is malformed; finding its
/// end takes a second reading, which is acceptable because it does not occur in ordinary results.
fn check_rest(bytes: &[u8], content: Span, first: usize, report: &mut FindingCollector<'_>) {
    for (index, block) in elements(bytes, content).enumerate().skip(first) {
        let checked = if block.kind(bytes) == Some(Kind::Object) {
            let (picked, _) = select_raw_members(bytes, block, BLOCK);
            picked.and_then(|members| check_block(bytes, members))
        } else {
            Err(wrong_type(bytes, Some(block), "", "object"))
        };
        report.block(index, checked);
        if report.left == 0 {
            return;
        }
    }
}

/// Why a content block is malformed.
struct BlockError {
    rule: &'static str,
    member: &'static str,
    expected: &'static str,
    actual: &'static str,
}

/// The members of a block that some type requires.
const BLOCK: [&str; 7] = [
    r#""type""#,
    r#""text""#,
    r#""data""#,
    r#""mimeType""#,
    r#""uri""#,
    r#""name""#,
    r#""resource""#,
];

fn check_block(bytes: &[u8], members: [Option<Span>; 7]) -> Result<(), BlockError> {
    let [kind, text, data, mime_type, uri, name, resource] = members;
    // Nearly every block is one, spelt like this: nothing to decode.
    if kind.is_some_and(|kind| kind.bytes(bytes) == br#""text""#) {
        return string(bytes, text, "/text");
    }
    string(bytes, kind, "/type")?;
    match kind.and_then(|kind| kind.string(bytes)).as_deref() {
        Some("text") => string(bytes, text, "/text"),
        Some("image" | "audio") => {
            string(bytes, mime_type, "/mimeType")?;
            base64(bytes, data, "/data")
        }
        Some("resource_link") => {
            string(bytes, uri, "/uri")?;
            string(bytes, name, "/name")
        }
        Some("resource") => check_resource(bytes, resource),
        _ => Ok(()),
    }
}

fn check_resource(bytes: &[u8], resource: Option<Span>) -> Result<(), BlockError> {
    let object = resource.filter(|value| value.kind(bytes) == Some(Kind::Object));
    let Some(object) = object else {
        return Err(wrong_type(bytes, resource, "/resource", "object"));
    };
    let names = [r#""uri""#, r#""text""#, r#""blob""#];
    let [uri, text, blob] = select_raw_members(bytes, object, names).0?;
    string(bytes, uri, "/resource/uri")?;
    match blob {
        Some(_) => base64(bytes, blob, "/resource/blob"),
        None => string(bytes, text, "/resource/text"),
    }
}

/// The values of the named members, and where the object ends. Names are given with their
/// quotes. A name that occurs twice is malformed: readers disagree about which one counts. The
/// span may reach beyond the object's end.
fn select_raw_members<const N: usize>(
    bytes: &[u8],
    object: Span,
    names: [&str; N],
) -> (Result<[Option<Span>; N], BlockError>, u32) {
    let mut end = object.start + 1;
    let members = members(bytes, object).map(|(key, value)| {
        end = value.end;
        (plain_key(key.bytes(bytes)), value)
    });
    let picked = select_members(members, names);
    (picked, skip_space(bytes, end) + 1)
}

/// The values of the named members. Names have their quotes.
fn select_members<'a, const N: usize>(
    members: impl Iterator<Item = (Cow<'a, [u8]>, Span)>,
    names: [&str; N],
) -> Result<[Option<Span>; N], BlockError> {
    let mut picked = [None; N];
    let mut repeated = false;
    for (name, value) in members {
        let slot = names.iter().position(|wanted| wanted.as_bytes() == &*name);
        if let Some(slot) = slot.and_then(|slot| picked.get_mut(slot)) {
            repeated |= slot.replace(value).is_some();
        }
    }
    if repeated {
        return Err(BlockError {
            rule: "shape.block",
            member: "",
            expected: "unique members",
            actual: "a repeated member",
        });
    }
    Ok(picked)
}

/// A key with its quotes, escapes resolved.
fn plain_key(key: &[u8]) -> Cow<'_, [u8]> {
    if !key.contains(&b'\\') {
        return Cow::Borrowed(key);
    }
    let text = std::str::from_utf8(key).unwrap_or_default();
    Cow::Owned(unescape(text).into_owned().into_bytes())
}

fn skip_space(bytes: &[u8], at: u32) -> u32 {
    let rest = bytes.get(at as usize..).unwrap_or_default();
    let space = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    at + u32::try_from(space.count()).unwrap_or(0)
}

fn string(bytes: &[u8], value: Option<Span>, member: &'static str) -> Result<(), BlockError> {
    match value {
        Some(value) if value.kind(bytes) == Some(Kind::String) => Ok(()),
        _ => Err(wrong_type(bytes, value, member, "string")),
    }
}

fn base64(bytes: &[u8], value: Option<Span>, member: &'static str) -> Result<(), BlockError> {
    string(bytes, value, member)?;
    let text = value.and_then(|value| value.string(bytes));
    if text.is_some_and(|text| base64::decodes(&text)) {
        return Ok(());
    }
    Err(BlockError {
        rule: "shape.base64",
        member,
        expected: "base64",
        actual: "a string that does not decode",
    })
}

fn wrong_type(
    bytes: &[u8],
    value: Option<Span>,
    member: &'static str,
    expected: &'static str,
) -> BlockError {
    BlockError {
        rule: "shape.block",
        member,
        expected,
        actual: value.map_or("nothing", |value| kind_name(bytes, value)),
    }
}

/// The pointer of the part of a result that an offset lies in.
fn pointer_of_part(bytes: &[u8], envelope: &Envelope, offset: u32) -> String {
    let holds = |span: &Span| (span.start..span.end).contains(&offset);
    if envelope.structured_content().as_ref().is_some_and(holds) {
        return "/structuredContent".to_owned();
    }
    let Some(content) = envelope.content().filter(holds) else {
        return String::new();
    };
    match elements(bytes, content).position(|block| holds(&block)) {
        Some(index) => format!("/content/{index}"),
        None => "/content".to_owned(),
    }
}

/// The JSON type of a span, by its first byte.
pub(crate) fn kind_name(bytes: &[u8], span: Span) -> &'static str {
    span.kind(bytes).map_or("nothing", Kind::type_name)
}

/// Collects findings up to the stage's bound.
struct FindingCollector<'a> {
    bytes: &'a [u8],
    found: &'a mut Vec<ExplainedFinding>,
    left: usize,
}

impl FindingCollector<'_> {
    fn block(&mut self, index: usize, checked: Result<(), BlockError>) {
        if let Err(malformed) = checked {
            let pointer = format!("/content/{index}{}", malformed.member);
            let (expected, actual) = (malformed.expected, malformed.actual);
            self.add(malformed.rule, &pointer, expected, actual);
        }
    }

    fn wrong_type(&mut self, rule: &'static str, pointer: &str, expected: &str, value: Span) {
        let actual = kind_name(self.bytes, value);
        self.add(rule, pointer, expected, actual);
    }

    fn add(&mut self, rule: &'static str, pointer: &str, expected: &str, actual: &str) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let finding = Finding::new(Stage::Shape, rule, Severity::Violation)
            .with_instance_pointer(pointer)
            .expecting(expected, actual);
        self.found.push(ExplainedFinding::without_sentence(finding));
    }
}
