//! The fast path: a look at the bytes that says which of the slow stages a text needs, if any. Most text needs
//! none and is handed back as it came.
//! Written so that the compiler turns it into vector instructions.

/// What a text contains that some stage must look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Triage {
    /// Not ASCII, a control character, or a carriage return without its line feed.
    pub(crate) exotic: bool,
    /// `<`, `[` or `]`: a token or boundary may begin.
    pub(crate) openers: bool,
    /// `&`, `\` or `%`: something may be encoded.
    pub(crate) escapes: bool,
}

/// Bytes judged before the loop may stop early.
const BLOCK: usize = 4096;

impl Triage {
    pub(crate) fn scan(text: &str) -> Self {
        let bytes = text.as_bytes();
        Self {
            exotic: bytes.chunks(BLOCK).any(has_exotic) || has_lone_carriage_return(bytes),
            openers: memchr::memchr3(b'<', b'[', b']', bytes).is_some(),
            escapes: memchr::memchr3(b'&', b'%', b'\\', bytes).is_some(),
        }
    }

    /// Nothing for any stage but the role markers.
    pub(crate) fn is_plain(self) -> bool {
        self == Self::default()
    }
}

/// Whether a block has a byte that is not ASCII or a control character. Reduces it to one bit without a branch.
fn has_exotic(block: &[u8]) -> bool {
    let mut found = 0_u8;
    for &byte in block {
        // One signed comparison covers C0, DEL and everything that is not ASCII.
        let outside = byte.wrapping_add(1).cast_signed() < 0x21;
        let layout = byte == b'\n' || byte == b'\t' || byte == b'\r';
        found |= u8::from(outside && !layout);
    }
    found != 0
}

fn has_lone_carriage_return(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::Triage;

    #[test]
    fn every_byte_lands_in_its_flag() {
        for byte in 0..=0x7F_u8 {
            let text = format!("{}{}{}", "a".repeat(5000), char::from(byte), "b".repeat(70));
            let triage = Triage::scan(&text);
            let control = byte < 0x20 || byte == 0x7F;
            assert_eq!(
                triage.exotic,
                control && !matches!(byte, b'\t' | b'\n'),
                "{byte:#x}"
            );
            assert_eq!(
                triage.openers,
                matches!(byte, b'<' | b'[' | b']'),
                "{byte:#x}"
            );
            assert_eq!(
                triage.escapes,
                matches!(byte, b'&' | b'\\' | b'%'),
                "{byte:#x}"
            );
        }
        assert!(Triage::scan("naïve").exotic);
        assert!(Triage::scan("one\r\ntwo\r\n").is_plain());
        assert!(Triage::scan("one\rtwo").exotic);
    }
}
