//! The encoded (`xn--`) labels of internationalised host names: what RFC 3492 decodes must follow
//! the character and context rules of RFC 5892. Normalisation and the bidirectional rule are not
//! checked, and scripts are known by their main blocks. Serves `hostname`.

mod punycode;
mod tables;

/// Whether `encoded`, the label after its prefix, stands for a label that may be registered.
pub(super) fn is_encoded_label(encoded: &str) -> bool {
    let mut buffer = ['\0'; punycode::MAX_CHARS];
    let Some(length) = punycode::decode(encoded, &mut buffer) else {
        return false;
    };
    let label = &buffer[..length];
    let misplaced_hyphen = label.first() == Some(&'-')
        || label.last() == Some(&'-')
        || label.get(2..4) == Some(&['-', '-']);
    !misplaced_hyphen
        && !label.iter().all(char::is_ascii)
        && !label.first().is_some_and(|&first| is_mark(first))
        && (0..length).all(|at| is_valid_at(label, at))
}

/// RFC 5892: whether the character may stand in a label, and in this place.
fn is_valid_at(label: &[char], at: usize) -> bool {
    let Some(&c) = label.get(at) else {
        return false;
    };
    let before = at.checked_sub(1).and_then(|at| label.get(at));
    let after = label.get(at + 1);
    let any = |wanted: fn(char) -> bool| label.iter().any(|&c| wanted(c));
    match c {
        '\u{b7}' => before == Some(&'l') && after == Some(&'l'),
        '\u{375}' => after.is_some_and(|&c| is_greek(c)),
        '\u{5f3}' | '\u{5f4}' => before.is_some_and(|&c| is_hebrew(c)),
        '\u{30fb}' => any(is_japanese),
        '\u{660}'..='\u{669}' => !any(|c| matches!(c, '\u{6f0}'..='\u{6f9}')),
        '\u{6f0}'..='\u{6f9}' => !any(|c| matches!(c, '\u{660}'..='\u{669}')),
        '\u{200d}' => before.is_some_and(|&c| is_virama(c)),
        '\u{200c}' => before.is_some_and(|&c| is_virama(c)) || joins(label, at),
        c => is_protocol_valid(c),
    }
}

fn is_protocol_valid(c: char) -> bool {
    match c {
        'a'..='z' | '0'..='9' | '-' => true,
        c if c.is_ascii() || contains(&tables::UNSTABLE, c) || is_excluded(c) => false,
        c => is_included(c) || is_mark(c) || c.is_alphanumeric() && c.to_lowercase().eq([c]),
    }
}

/// Section 2.6, the valid half, and Cherokee, whose letters fold to upper case.
fn is_included(c: char) -> bool {
    matches!(
        c,
        '\u{df}' | '\u{3c2}' | '\u{6fd}' | '\u{6fe}' | '\u{f0b}' | '\u{3007}' | '\u{13a0}'
            ..='\u{13f5}'
    )
}

/// Section 2.6, the other half.
fn is_excluded(c: char) -> bool {
    matches!(
        c,
        '\u{640}' | '\u{7fa}' | '\u{302e}' | '\u{302f}' | '\u{3031}'..='\u{3035}' | '\u{303b}'
    )
}

/// Appendix A.1: a cursive letter on each side, marks aside.
fn joins(label: &[char], at: usize) -> bool {
    let (before, after) = (&label[..at], &label[at + 1..]);
    let before = before.iter().rfind(|&&c| !is_mark(c));
    let after = after.iter().find(|&&c| !is_mark(c));
    before.is_some_and(|&c| is_cursive(c)) && after.is_some_and(|&c| is_cursive(c))
}

fn is_mark(c: char) -> bool {
    contains(&tables::MARKS, c)
}

fn is_virama(c: char) -> bool {
    contains(&tables::VIRAMAS, c)
}

/// Whether a sorted list of first and last code points, in turn, covers `c`.
fn contains(bounds: &[u32], c: char) -> bool {
    let code = u32::from(c);
    let below = bounds.partition_point(|&bound| bound < code);
    // Past an odd number of bounds is inside a range; at an even one may be on its first.
    below % 2 == 1 || bounds.get(below) == Some(&code)
}

fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3e1}' | '\u{3f0}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

fn is_hebrew(c: char) -> bool {
    matches!(c, '\u{591}'..='\u{5f4}')
}

/// Hiragana, Katakana or Han.
fn is_japanese(c: char) -> bool {
    matches!(c,
        '\u{3005}' | '\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fd}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{fa0e}'..='\u{fa29}' | '\u{20000}'..='\u{323af}')
}

/// Letters of the scripts whose letters join: Arabic, Syriac, N'Ko, Mandaic, Mongolian,
/// Phags-pa, Adlam.
fn is_cursive(c: char) -> bool {
    c.is_alphabetic()
        && matches!(c,
            '\u{620}'..='\u{77f}' | '\u{7ca}'..='\u{7ea}' | '\u{840}'..='\u{8ff}'
            | '\u{1807}'..='\u{18aa}' | '\u{a840}'..='\u{a873}' | '\u{1e900}'..='\u{1e95f}')
}
