//! W3C trace context: which span of which trace caused a request. It comes from clients, so it is read strictly and within
//! bounds; what does not fit the format is ignored, as the specification demands.

/// The longest context that is read at all. Version 00 has 55 characters; later versions may have more.
const MAX_PARENT: usize = 256;
/// Every vendor must be able to pass on this much.
const MAX_STATE: usize = 512;
const MAX_STATE_MEMBERS: usize = 32;
const SAMPLED: u8 = 1;

/// A span of another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanContext {
    pub(crate) trace_id: [u8; 16],
    pub(crate) span_id: [u8; 8],
    pub(crate) flags: u8,
    /// What tracing systems said about the trace; empty if nothing usable.
    pub(crate) state: Box<str>,
}

impl SpanContext {
    /// Reads `traceparent`, and `tracestate` if that came with it. A state that cannot be used is left out; without a usable
    /// parent there is nothing.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let text = traceparent.trim_matches([' ', '\t']);
        if text.len() > MAX_PARENT || !text.is_ascii() {
            return None;
        }
        let mut parts = text.splitn(5, '-');
        let [version] = decode_hex::<1>(parts.next()?)?;
        let trace_id = decode_hex::<16>(parts.next()?)?;
        let span_id = decode_hex::<8>(parts.next()?)?;
        let [flags] = decode_hex::<1>(parts.next()?)?;
        let has_more = parts.next().is_some();
        let is_valid = version != 0xff
            && !(version == 0 && has_more)
            && trace_id != [0; 16]
            && span_id != [0; 8];
        let state = tracestate.filter(|state| is_usable_state(state));
        is_valid.then(|| Self {
            trace_id,
            span_id,
            flags,
            state: state.unwrap_or_default().into(),
        })
    }

    /// Whether the sender records the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }
}

/// A list of `key=value` members in visible characters, of a size that every vendor has to pass on.
fn is_usable_state(state: &str) -> bool {
    let is_visible = |c: char| (' '..='~').contains(&c);
    let mut members = state.split(',').map(str::trim);
    let is_member = |member: &str| member.is_empty() || has_key_and_value(member);
    state.len() <= MAX_STATE
        && state.chars().all(is_visible)
        && members.clone().count() <= MAX_STATE_MEMBERS
        && members.all(is_member)
}

fn has_key_and_value(member: &str) -> bool {
    let is_key = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-*/@".contains(c);
    member.split_once('=').is_some_and(|(key, value)| {
        !key.is_empty() && key.chars().all(is_key) && !value.is_empty() && !value.contains('=')
    })
}

fn decode_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_lower_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.bytes().all(is_lower_hex) {
        return None;
    }
    let mut decoded = [0; N];
    for (byte, at) in decoded.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(decoded)
}

/// `traceparent` of a sampled span.
pub(crate) fn format_traceparent(trace_id: [u8; 16], span_id: [u8; 8]) -> String {
    let mut text = String::with_capacity(55);
    text.push_str("00-");
    push_hex(&mut text, &trace_id);
    text.push('-');
    push_hex(&mut text, &span_id);
    text.push_str("-01");
    text
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    text.extend(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)));
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn a_context_is_read_and_written() {
        let text = format!("00-{TRACE}-{SPAN}-01");
        let context = SpanContext::parse(&text, Some("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"));
        let context = context.expect("a context");
        assert!(context.is_sampled());
        assert_eq!(&*context.state, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
        assert_eq!(format_traceparent(context.trace_id, context.span_id), text);
        let later = format!("cc-{TRACE}-{SPAN}-00-what-comes-later");
        let later = SpanContext::parse(&later, None).expect("a context");
        assert!(!later.is_sampled());
    }

    #[test]
    fn what_does_not_fit_the_format_is_ignored() {
        let long = format!("01-{TRACE}-{SPAN}-01-{}", "x".repeat(300));
        for text in [
            "",
            "-",
            "00",
            &format!("00-{TRACE}-{SPAN}"),
            &format!("00-{TRACE}-{SPAN}-1"),
            &format!("00-{TRACE}-{SPAN}-01-x"),
            &format!("ff-{TRACE}-{SPAN}-01"),
            &format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            &format!("00-{}-{SPAN}-01", "0".repeat(32)),
            &format!("00-{TRACE}-{}-01", "0".repeat(16)),
            &format!("00-{}-{SPAN}-01", "é".repeat(16)),
            &format!("00-+{}-{SPAN}-01", &TRACE[1..]),
            &long,
        ] {
            assert_eq!(SpanContext::parse(text, None), None, "{text}");
        }
    }

    #[test]
    fn a_state_that_cannot_be_used_is_left_out() {
        let parent = format!("00-{TRACE}-{SPAN}-01");
        let long = format!("a={}", "x".repeat(511));
        let many = vec!["a=b"; 33].join(",");
        for state in [
            "a",
            "=b",
            "a=",
            "A=b",
            "a=b=c",
            "a=\u{1b}[2J",
            "a=é",
            &long,
            &many,
        ] {
            let context = SpanContext::parse(&parent, Some(state)).expect("a context");
            assert_eq!(&*context.state, "", "{state}");
        }
    }
}
