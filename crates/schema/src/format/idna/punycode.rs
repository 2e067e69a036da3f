//! Punycode (RFC 3492), decoding only. A label has at most 63 bytes and so at most that many
//! characters, which bounds the quadratic insertion; longer input is refused.

/// The most characters a label can have.
pub(super) const MAX_CHARS: usize = 63;

/// RFC 3492, section 6.2, into `output`; the number of characters, or `None` if the text is no
/// encoding or too long.
pub(super) fn decode(encoded: &str, output: &mut [char; MAX_CHARS]) -> Option<usize> {
    let (basic, extended) = encoded.rsplit_once('-').unwrap_or(("", encoded));
    let mut length = 0;
    for c in basic.chars() {
        *output.get_mut(length)? = c.to_ascii_lowercase();
        length += 1;
    }
    let mut digits = extended.bytes();
    let (mut code, mut index, mut bias) = (128_u32, 0_u32, 72);
    while digits.len() > 0 {
        let before = index;
        index = index.checked_add(variable_integer(&mut digits, bias)?)?;
        let count = u32::try_from(length).ok()? + 1;
        bias = adapt(index - before, count, before == 0);
        code = code.checked_add(index / count)?;
        index %= count;
        insert(
            output,
            length,
            usize::try_from(index).ok()?,
            char::from_u32(code)?,
        )?;
        length += 1;
        index += 1;
    }
    Some(length)
}

/// One generalised variable-length integer.
fn variable_integer(digits: &mut std::str::Bytes<'_>, bias: u32) -> Option<u32> {
    let (mut value, mut weight, mut k) = (0_u32, 1_u32, 36_u32);
    loop {
        let digit = match digits.next()? {
            byte @ b'a'..=b'z' => byte - b'a',
            byte @ b'A'..=b'Z' => byte - b'A',
            byte @ b'0'..=b'9' => byte - b'0' + 26,
            _ => return None,
        };
        value = value.checked_add(u32::from(digit).checked_mul(weight)?)?;
        let threshold = k.saturating_sub(bias).clamp(1, 26);
        if u32::from(digit) < threshold {
            return Some(value);
        }
        weight = weight.checked_mul(36 - threshold)?;
        k += 36;
    }
}

/// RFC 3492, section 6.1.
fn adapt(delta: u32, count: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / count;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    k + 36 * delta / (delta + 38)
}

fn insert(output: &mut [char; MAX_CHARS], length: usize, at: usize, c: char) -> Option<()> {
    let room = output.get_mut(..=length)?;
    room.get_mut(at..)?.rotate_right(1);
    *room.get_mut(at)? = c;
    Some(())
}
