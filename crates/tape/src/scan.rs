//! One reading of a message without a tape: grammar, UTF-8, depth, and the spans of what we interpret.
//! It fails only on what cannot be held or framed: too large, too deep, not UTF-8, not JSON. Everything
//! else it reports, so that warn and off can still forward what they flag.

use crate::envelope::{Envelope, Member, Scope};
use crate::error::{ParseError, Reason, ScanError};
use crate::grammar::{Text, admit, check_size, narrow, skip_space, trim};
use crate::kind::{ESCAPED, LONE_SURROGATE};
use crate::number::scan_number;
use crate::parts::{PartBuffers, PartParser, PartTapes, ValueReader, WantedParts};
use crate::skip::Skipper;
use crate::span::Span;
use crate::string::{end_of_string, plain_string, unescape};
use crate::walk::{colon, name};

/// Offsets have 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

/// The limits of a [`scan`]: beyond these a message is refused in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanLimits {
    /// Bytes of input; values above 4 GiB − 1 mean 4 GiB − 1.
    pub max_bytes: usize,
    /// Nesting of the whole message. A level costs one bit.
    pub max_depth: u32,
}

impl Default for ScanLimits {
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
/// use countersign_tape::{ScanLimits, scan};
/// let bytes = br#"{"result":{"structuredContent":{"n":[1]},"isError":false},"id":7,"jsonrpc":"2.0"}"#;
/// let envelope = scan(bytes, &ScanLimits::default())?;
/// assert_eq!(envelope.id().map(|id| id.bytes(bytes)), Some(&b"7"[..]));
/// assert_eq!(envelope.structured_content_depth(), 3);
/// assert_eq!(envelope.is_error(bytes), Some(false));
/// # Ok::<(), countersign_tape::ScanError>(())
/// ```
pub fn scan(bytes: &[u8], limits: &ScanLimits) -> Result<Envelope, ScanError> {
    let text = admit(bytes, limits.max_bytes.min(MAX_BYTES))?;
    let mut envelope = Envelope::new();
    read(text, limits, Scope::Message, None, &mut envelope)?;
    Ok(envelope)
}

/// A scan of text that is already known to be UTF-8, which lays out parts of it as tapes on the way.
#[derive(Debug)]
pub struct Scan<'s> {
    /// Beyond these the message is refused.
    pub limits: ScanLimits,
    /// The parts that are laid out as tapes.
    pub wanted: WantedParts,
    /// The buffers for those tapes.
    pub buffers: &'s mut PartBuffers,
    /// Is asked to read `structuredContent` first, where a tape of it is wanted.
    pub reader: Option<&'s mut dyn ValueReader>,
}

impl Scan<'_> {
    /// Check one JSON-RPC message. What is in it goes to `envelope`, which means nothing after an error.
    pub fn message<'a>(
        &mut self,
        text: &'a str,
        envelope: &mut Envelope,
    ) -> Result<PartTapes<'a>, ScanError> {
        self.read(text, Scope::Message, envelope)
    }

    /// Check a bare tool result: the object that stands under `result` in a message.
    pub fn result<'a>(
        &mut self,
        text: &'a str,
        envelope: &mut Envelope,
    ) -> Result<PartTapes<'a>, ScanError> {
        let tapes = self.read(text, Scope::Result, envelope)?;
        envelope.record(Member::Result, envelope.root);
        Ok(tapes)
    }

    fn read<'a>(
        &mut self,
        text: &'a str,
        scope: Scope,
        envelope: &mut Envelope,
    ) -> Result<PartTapes<'a>, ScanError> {
        check_size(text.len(), self.limits.max_bytes.min(MAX_BYTES))?;
        envelope.clear();
        let reader = self.reader.as_mut();
        // A shorter loan than that of the field.
        let reader = reader.map(|reader| &mut **reader as &mut dyn ValueReader);
        let mut parts = PartParser::new(text, self.wanted, self.buffers, reader);
        read(text, &self.limits, scope, Some(&mut parts), envelope)?;
        Ok(parts.tapes)
    }
}

fn read<'a>(
    text: &'a str,
    limits: &ScanLimits,
    scope: Scope,
    parts: Option<&mut PartParser<'a, '_>>,
    envelope: &mut Envelope,
) -> Result<(), ScanError> {
    let bytes = text.as_bytes();
    let start = skip_space(bytes, 0);
    let kind = Span::from_range(start, bytes.len()).kind(bytes);
    envelope.kind = kind.ok_or_else(|| ParseError::new(start, Reason::Value))?;
    let mut reader = Reader {
        text,
        skipper: Skipper::new(limits.max_depth),
        envelope,
        parts,
    };
    let (end, depth) = reader.value(start, 0, Some(scope))?;
    let tail = skip_space(bytes, end);
    if tail < bytes.len() {
        return Err(ParseError::new(tail, Reason::End));
    }
    let surrogate = reader.skipper.surrogate.map(narrow);
    envelope.root = Span::from_range(start, end);
    envelope.depth = depth;
    envelope.lone_surrogate = surrogate;
    Ok(())
}

/// Where a plain string or an integer ends that is short, like most versions and ids.
#[inline]
fn short_scalar(bytes: &[u8], at: usize) -> Option<usize> {
    let text = Text { bytes };
    let behind = match text.from(at) {
        [b'"', inside @ ..] => plain_string(inside).ok()?,
        rest @ [b'0'..=b'9', ..] => scan_number(text, rest).ok()?.behind,
        _ => return None,
    };
    Some(text.offset(behind))
}

struct Reader<'a, 'k, 's, 'e> {
    text: &'a str,
    skipper: Skipper,
    envelope: &'e mut Envelope,
    parts: Option<&'k mut PartParser<'a, 's>>,
}

impl<'a> Reader<'a, '_, '_, '_> {
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
            && let [b'{', inside @ ..] = bytes.get(at..).unwrap_or_default()
        {
            let first = trim(inside);
            if first.first() != Some(&b'}') {
                return self.object(first, outer + 1, scope);
            }
        }
        if let Some(end) = short_scalar(bytes, at)
            && outer < self.skipper.max_depth()
        {
            return Ok((end, 1));
        }
        let skipped = self.skipper.skip(bytes, at, outer)?;
        Ok((skipped.end, skipped.depth))
    }

    /// Read the members of an interpreted object from its first key on.
    fn object(
        &mut self,
        first: &'a [u8],
        outer: u32,
        scope: Scope,
    ) -> Result<(usize, u32), ScanError> {
        let text = Text {
            bytes: self.text.as_bytes(),
        };
        let mut next = first;
        let mut deepest = 0;
        loop {
            let (member, behind) = self.member(text, next, scope)?;
            let start = text.offset(colon(text, behind)?);
            let (end, depth) = match self.parse_part(start, outer, member)? {
                Some(read) => read,
                None => self.value(start, outer, member.and_then(Member::scope))?,
            };
            deepest = deepest.max(depth);
            match member {
                Some(member) => {
                    let first = self.envelope.record(member, Span::from_range(start, end));
                    if first && member == Member::StructuredContent {
                        self.envelope.structured_depth = depth;
                    }
                }
                None => self.envelope.has_unknown_members |= scope == Scope::Message,
            }
            let behind = trim(text.from(end));
            match behind {
                [b',', more @ ..] => next = trim(more),
                [b'}', rest @ ..] => return Ok((text.offset(rest), deepest + 1)),
                _ => return Err(text.error(behind, Reason::CommaOrBrace)),
            }
        }
    }

    /// Lay a value out as a tape, if that is wanted and it is within the limits of it.
    fn parse_part(
        &mut self,
        at: usize,
        outer: u32,
        member: Option<Member>,
    ) -> Result<Option<(usize, u32)>, ScanError> {
        let (Some(parts), Some(member)) = (self.parts.as_deref_mut(), member) else {
            return Ok(None);
        };
        let most = self.skipper.max_depth().saturating_sub(outer);
        let Some(part) = parts.parse(member, at, most)? else {
            return Ok(None);
        };
        if let Some(offset) = part.surrogate {
            self.skipper.note(offset as usize, LONE_SURROGATE);
        }
        Ok(Some((part.end, part.depth)))
    }

    /// Which member a name stands for, and what is behind it.
    fn member(
        &mut self,
        text: Text<'a>,
        rest: &'a [u8],
        scope: Scope,
    ) -> Result<(Option<Member>, &'a [u8]), ParseError> {
        let inside = name(text, rest)?;
        let (behind, flags) = end_of_string(text, inside)?;
        let name = inside.get(..inside.len() - behind.len() - 1);
        let name = name.unwrap_or_default();
        if flags & ESCAPED == 0 {
            return Ok((Member::from_name(scope, name), behind));
        }
        self.skipper.note(text.offset(rest), flags);
        let name = unescape(std::str::from_utf8(name).unwrap_or_default());
        Ok((Member::from_name(scope, name.as_bytes()), behind))
    }
}
