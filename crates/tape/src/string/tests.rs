//! The block-wise reader of strings against one that takes a byte at a time.

use proptest::prelude::*;

use super::*;
use crate::masks::levels;

/// Where the string ends and what is in it, or what is wrong with it first.
fn reference(bytes: &[u8]) -> Result<(usize, u32), ParseError> {
    let (mut at, mut flags) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok((at, flags)),
            b'\\' => {
                flags |= ESCAPED;
                at = escape(bytes, at, &mut flags)?;
            }
            0..0x20 => return Err(ParseError::new(at, Reason::Control)),
            _ => {
                flags |= if byte.is_ascii() { 0 } else { NON_ASCII };
                at += 1;
            }
        }
    }
    Err(ParseError::new(bytes.len(), Reason::UnterminatedString))
}

fn piece() -> impl Strategy<Value = String> {
    const PIECES: [&str; 19] = [
        "\\",
        "\\\\",
        "\\\"",
        "\\n",
        "\\t",
        "\\/",
        "\\u",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\ude00",
        "\\x",
        "\u{1}",
        "\n",
        "é",
        "日本",
        "\u{7f}",
        "u",
        "n",
    ];
    prop_oneof![
        6 => prop::sample::select(&PIECES[..4]).prop_map(str::to_owned),
        4 => prop::sample::select(&PIECES[2..12]).prop_map(str::to_owned),
        1 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        6 => "[a-z ]{0,24}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn blocks_and_bytes_agree(
        lead in 0..70_usize,
        pieces in prop::collection::vec(piece(), 0..40),
        tail in prop::sample::select(&["", "\"", "\", \"more\" \\", "\"\u{1}"][..]),
    ) {
        let text = format!("{}{}{tail}", "a".repeat(lead), pieces.concat());
        let bytes = text.as_bytes();
        let read = end_of_string(Text { bytes }, bytes);
        let read = read.map(|(behind, flags)| (bytes.len() - behind.len() - 1, flags));
        prop_assert_eq!(read, reference(bytes), "{}", text);
        for level in levels() {
            let end = dispatch!(level, vectors => scan_rest_with(vectors, bytes, 0));
            let end = end.map(|string| (string.close, string.flags));
            prop_assert_eq!(end, reference(bytes), "{:?}: {}", level, text);
        }
    }
}
