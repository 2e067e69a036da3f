//! `duration` (RFC 3339, appendix A): no fractions, no signs, no gaps between units (`P1Y2D`
//! and `PT1H2S` are refused), weeks only alone. Digits may be any number; values are not read.

/// Whether `text` is a duration.
pub(super) fn is_duration(text: &str) -> bool {
    let Some(rest) = text.as_bytes().strip_prefix(b"P") else {
        return false;
    };
    if let Some((b'W', b"")) = component(rest) {
        return true;
    }
    match rest.iter().position(|&byte| byte == b'T') {
        None => is_unit_run(rest, b"YMD"),
        Some(0) => is_unit_run(&rest[1..], b"HMS"),
        Some(at) => is_unit_run(&rest[..at], b"YMD") && is_unit_run(&rest[at + 1..], b"HMS"),
    }
}

/// Whether `text` is one or more components whose units stand next to each other in `units`.
fn is_unit_run(mut text: &[u8], units: &[u8]) -> bool {
    let mut next = None;
    loop {
        let Some((unit, rest)) = component(text) else {
            return false;
        };
        let Some(at) = units.iter().position(|&known| known == unit) else {
            return false;
        };
        if next.is_some_and(|next| next != at) {
            return false;
        }
        if rest.is_empty() {
            return true;
        }
        next = Some(at + 1);
        text = rest;
    }
}

/// One or more digits and the unit after them, with what follows.
fn component(text: &[u8]) -> Option<(u8, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (&unit, rest) = text[digits..].split_first()?;
    (digits > 0).then_some((unit, rest))
}
