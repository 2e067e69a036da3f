//! Hexadecimal text of digests, keys and signatures.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Bytes as lower-case hexadecimal digits. Used on the path of every call, so without the machinery of `format!`.
///
/// ```
/// assert_eq!(countersign_inspect::encode_hex(&[0, 0xab, 0xff]), "00abff");
/// ```
pub fn encode_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| {
        let digit = DIGITS.get(usize::from(nibble));
        char::from(digit.copied().unwrap_or(b'0'))
    };
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Exactly `N` bytes of hexadecimal digits, in either case.
///
/// ```
/// use countersign_inspect::decode_hex;
///
/// assert_eq!(decode_hex("00ABff"), Some([0, 0xab, 0xff]));
/// assert_eq!(decode_hex::<3>("00ab"), None);
/// ```
pub fn decode_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| {
            pair.get(at)
                .and_then(|digit| char::from(*digit).to_digit(16))
        };
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives() {
        let all: [u8; 256] = std::array::from_fn(|byte| u8::try_from(byte).unwrap());
        let text = encode_hex(&all);
        assert_eq!(text, all.map(|byte| format!("{byte:02x}")).concat());
        assert_eq!(decode_hex(&text), Some(all));
        assert_eq!(decode_hex(&text.to_uppercase()), Some(all));
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "0", "000", "zz", "+1", " 1", "\u{e9}"] {
            assert_eq!(decode_hex::<1>(text), None, "{text}");
        }
    }
}
