//! Terminal control sequences (ECMA-48) inside text. A sequence is measured so that all of it can be dropped:
//! removing the escape alone would leave its parameters, and OSC 8 hides links. Nothing is interpreted.

/// A control string longer than this is not one: only its introducer goes, the rest stays visible.
const MAX_STRING: usize = 4096;

const ESC: u8 = 0x1B;

/// Length of the sequence at the start of `bytes`, 0 if there is none. Looks at no byte behind the next
/// introducer, so measuring every sequence of a text is linear.
pub(crate) fn sequence_len(bytes: &[u8], steps: &mut u64) -> usize {
    let length = match bytes {
        [ESC, b'[', rest @ ..] => 2 + csi_len(rest),
        [ESC, b']' | b'P' | b'X' | b'^' | b'_', rest @ ..] => 2 + string_len(rest, steps),
        [ESC, rest @ ..] => 1 + escape_len(rest),
        [0xC2, 0x9B, rest @ ..] => 2 + csi_len(rest),
        [0xC2, 0x90 | 0x98 | 0x9D | 0x9E | 0x9F, rest @ ..] => 2 + string_len(rest, steps),
        _ => 0,
    };
    *steps += length as u64;
    length
}

/// Parameters, intermediates and the final byte; as much of them as is there.
fn csi_len(bytes: &[u8]) -> usize {
    let run = |from: usize, low: u8, high: u8| {
        bytes.get(from..).map_or(0, |rest| {
            rest.iter()
                .take(MAX_STRING)
                .take_while(|byte| (low..=high).contains(byte))
                .count()
        })
    };
    let parameters = run(0, 0x30, 0x3F);
    let body = parameters + run(parameters, 0x20, 0x2F);
    match bytes.get(body) {
        Some(0x40..=0x7E) => body + 1,
        // Malformed: a space or a digit run may be honest text, so only the parameters go.
        _ => parameters,
    }
}

/// Intermediates and a final byte after a bare escape.
fn escape_len(bytes: &[u8]) -> usize {
    let intermediates = bytes
        .iter()
        .take(4)
        .take_while(|byte| (0x20..=0x2F).contains(*byte))
        .count();
    match bytes.get(intermediates) {
        Some(0x30..=0x7E) => intermediates + 1,
        _ => 0,
    }
}

/// Everything up to and with the terminator. An abort (another escape, CAN, SUB, a C1 introducer) ends it before
/// that byte; a line end or the end of the text means that it was no control string.
fn string_len(bytes: &[u8], steps: &mut u64) -> usize {
    let mut previous = 0;
    for (at, &byte) in bytes.iter().take(MAX_STRING).enumerate() {
        *steps += 1;
        match byte {
            0x07 => return at + 1,
            ESC if bytes.get(at + 1) == Some(&b'\\') => return at + 2,
            0x9C if previous == 0xC2 => return at + 1,
            0x90 | 0x98 | 0x9B | 0x9D..=0x9F if previous == 0xC2 => return at - 1,
            ESC | 0x18 | 0x1A => return at,
            b'\n' | b'\r' => return 0,
            _ => previous = byte,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    fn sequence_len(bytes: &[u8]) -> usize {
        super::sequence_len(bytes, &mut 0)
    }

    #[test]
    fn whole_sequences_are_measured() {
        for whole in [
            "\u{1B}[31m",
            "\u{1B}[1;2;3 q",
            "\u{9B}0K",
            "\u{1B}]8;;https://example.test\u{7}",
            "\u{1B}]0;title\u{1B}\\",
            "\u{9D}0;title\u{9C}",
            "\u{1B}Pq#0\u{1B}\\",
            "\u{1B}(B",
            "\u{1B}c",
        ] {
            let text = format!("{whole}rest");
            assert_eq!(sequence_len(text.as_bytes()), whole.len(), "{whole:?}");
        }
    }

    #[test]
    fn an_unterminated_string_loses_only_its_introducer() {
        assert_eq!(sequence_len(b"\x1B]8;;https://example.test"), 2);
        assert_eq!(sequence_len(b"\x1B]0;title\nnext"), 2);
    }

    #[test]
    fn another_introducer_aborts_a_string() {
        assert_eq!(sequence_len(b"\x1B]0;ti\x1B[0m"), 6);
        assert_eq!(sequence_len("\u{1B}]0;ti\u{9B}0m".as_bytes()), 6);
    }

    #[test]
    fn honest_text_after_an_escape_stays() {
        assert_eq!(sequence_len("\u{1B}é".as_bytes()), 1);
        assert_eq!(sequence_len(b"\x1B[31 "), 4);
        assert_eq!(sequence_len(b"plain"), 0);
    }
}
