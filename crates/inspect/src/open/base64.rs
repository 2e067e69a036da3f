//! Whether a string is base64 that decodes, without decoding it. Standard alphabet, padding
//! required (RFC 4648, section 4). Serves the shape stage: image, audio and blob data.

/// Whether `text` decodes. The empty string does: it is the encoding of nothing.
pub(crate) fn decodes(text: &str) -> bool {
    let bytes = text.as_bytes();
    let padding = bytes.iter().rev().take_while(|byte| **byte == b'=').count();
    let data = bytes.split_at(bytes.len() - padding).0;
    bytes.len().is_multiple_of(4)
        && padding <= 2
        && (padding == 0 || !data.is_empty())
        && data.chunks(64).all(are_digits)
}

/// A whole chunk without a branch per byte, so that it can be done in vectors.
fn are_digits(chunk: &[u8]) -> bool {
    chunk.iter().fold(true, |all, byte| all & is_digit(*byte))
}

const fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_decodes() {
        for text in ["", "QQ==", "QUI=", "QUJD", "+/+/", "QUJDREVGR0g="] {
            assert!(decodes(text), "{text}");
        }
    }

    #[test]
    fn refuses_what_does_not() {
        for text in [
            "Q",
            "QQ",
            "QUI",
            "Q===",
            "====",
            "==",
            "=",
            "QQ=A",
            "Q=Q=",
            "QU JD",
            "QUJD\n",
            "_-_-",
            "data:image/png;base64,QUJD",
            "é===",
        ] {
            assert!(!decodes(text), "{text}");
        }
    }
}
