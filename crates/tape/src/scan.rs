//! One reading of a message without a tape: grammar, UTF-8, depth, and the spans of what we interpret.
//! It fails only on what cannot be held or framed: too large, too deep, not UTF-8, not JSON. Everything
//! else it reports, so that warn and off can still forward what they flag.

use crate::envelope::{Envelope, Member, Scope};
use crate::error::{ParseError, Reason, ScanError};
use crate::grammar::{admit, check_size, narrow, skip_space};
use crate::node::ESCAPED;
use crate::skip::Skipper;
use crate::span::Span;
use crate::string::unescape;
use crate::walk::{colon, key_string};

/// Offsets have 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

/// The limits of a [`scan`]: beyond these a message is refused in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hard {
    /// Bytes of input; values above 4 GiB − 1 mean 4 GiB − 1.
    pub max_bytes: usize,
    /// Nesting of the whole message. A level costs one bit.
    pub max_depth: u32,
}

impl Default for Hard {
    /// 64 MiB and a depth of 1,000,000.
    fn default() -> Self {
        Self {
            max_bytes: 64 << 20,
            max_depth: 1_000_000,
        }
    }
}

/// Check one JSON-RPC message and find its interpreted members.
///
/// ```
/// use countersign_tape::{Hard, scan};
/// let bytes = br#"{"result":{"structuredContent":{"n":[1]},"isError":false},"id":7,"jsonrpc":"2.0"}"#;
/// let envelope = scan(bytes, &Hard::default())?;
/// assert_eq!(envelope.id().map(|id| id.bytes(bytes)), Some(&b"7"[..]));
/// assert_eq!(envelope.structured_content_depth(), 3);
/// assert_eq!(envelope.is_error(bytes), Some(false));
/// # Ok::<(), countersign_tape::ScanError>(())
/// ```
pub fn scan(bytes: &[u8], hard: &Hard) -> Result<Envelope, ScanError> {
    read(
        admit(bytes, hard.max_bytes.min(MAX_BYTES))?,
        hard,
        Scope::Message,
    )
}

/// [`scan`] for text that is already known to be UTF-8.
pub fn scan_str(text: &str, hard: &Hard) -> Result<Envelope, ScanError> {
    check_size(text.len(), hard.max_bytes.min(MAX_BYTES))?;
    read(text, hard, Scope::Message)
}

/// Check a bare tool result: the object that stands under `result` in a message.
pub fn scan_result(bytes: &[u8], hard: &Hard) -> Result<Envelope, ScanError> {
    let text = admit(bytes, hard.max_bytes.min(MAX_BYTES))?;
    let mut envelope = read(text, hard, Scope::Result)?;
    envelope.record(Member::Result, envelope.root);
    Ok(envelope)
}

fn read(text: &str, hard: &Hard, scope: Scope) -> Result<Envelope, ScanError> {
    let bytes = text.as_bytes();
    let start = skip_space(bytes, 0);
    let kind = Span::of(start, bytes.len()).kind(bytes);
    let kind = kind.ok_or_else(|| ParseError::new(start, Reason::Value))?;
    let mut reader = Reader {
        text,
        skipper: Skipper::new(hard.max_depth),
        envelope: Envelope::new(kind),
    };
    let (end, depth) = reader.value(start, 0, Some(scope))?;
    let tail = skip_space(bytes, end);
    if tail < bytes.len() {
        return Err(ParseError::new(tail, Reason::End));
    }
    let mut envelope = reader.envelope;
    envelope.root = Span::of(start, end);
    envelope.depth = depth;
    envelope.lone_surrogate = reader.skipper.surrogate.map(narrow);
    Ok(envelope)
}

struct Reader<'a> {
    text: &'a str,
    skipper: Skipper,
    envelope: Envelope,
}

impl Reader<'_> {
    /// Read the value at `at` inside `outer` containers; returns its end and depth.
    /// Calls itself for `params`, `result` and `error` only, so at most twice.
    fn value(
        &mut self,
        at: usize,
        outer: u32,
        scope: Option<Scope>,
    ) -> Result<(usize, u32), ScanError> {
        let bytes = self.text.as_bytes();
        if let Some(scope) = scope
            && bytes.get(at) == Some(&b'{')
        {
            let inner = skip_space(bytes, at + 1);
            if bytes.get(inner) != Some(&b'}') {
                return self.object(inner, outer + 1, scope);
            }
        }
        let skipped = self.skipper.skip(bytes, at, outer)?;
        Ok((skipped.end, skipped.depth))
    }

    /// Read the members of an interpreted object from its first key on.
    fn object(
        &mut self,
        first: usize,
        outer: u32,
        scope: Scope,
    ) -> Result<(usize, u32), ScanError> {
        let bytes = self.text.as_bytes();
        let mut at = first;
        let mut deepest = 0;
        loop {
            let key = key_string(bytes, at)?;
            self.skipper.note(at, key.flags);
            let member = self.member(scope, Span::of(at + 1, key.close), key.flags);
            let start = colon(bytes, key.close + 1)?;
            let (end, depth) = self.value(start, outer, member.and_then(Member::scope))?;
            deepest = deepest.max(depth);
            if let Some(member) = member
                && self.envelope.record(member, Span::of(start, end))
                && member == Member::StructuredContent
            {
                self.envelope.structured_depth = depth;
            }
            at = skip_space(bytes, end);
            match bytes.get(at) {
                Some(b',') => at = skip_space(bytes, at + 1),
                Some(b'}') => return Ok((at + 1, deepest + 1)),
                _ => return Err(ParseError::new(at, Reason::CommaOrBrace)),
            }
        }
    }

    fn member(&self, scope: Scope, name: Span, flags: u32) -> Option<Member> {
        let raw = self.text.get(name.range()).unwrap_or_default();
        if flags & ESCAPED == 0 {
            Member::named(scope, raw.as_bytes())
        } else {
            Member::named(scope, unescape(raw).as_bytes())
        }
    }
}
