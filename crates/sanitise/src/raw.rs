//! JSON judged as it stands, before anything is decoded: whether its strings can have anything for the sanitiser. Most
//! results are done here. It may say no to a text that is clean; it never says yes to one that is not.

use crate::matcher::Matcher;
use crate::sanitiser::Sanitiser;
use crate::settings::Mode;

/// Bytes judged before the loop may stop early.
const BLOCK: usize = 4096;

impl Sanitiser {
    /// Whether the inside of a JSON string, escapes undecoded, has nothing to find, alone or joined to a neighbour.
    ///
    /// ```
    /// use countersign_sanitise::{Sanitiser, Settings};
    ///
    /// let sanitiser = Sanitiser::new(Settings::default())?;
    /// assert!(sanitiser.passes_string(r#"{\"id\": 7, \"tags\": [\"a\"]}\n"#));
    /// assert!(!sanitiser.passes_string(r"\u003c|im_start|>"));
    /// # Ok::<(), countersign_sanitise::Error>(())
    /// ```
    pub fn passes_string(&self, raw: &str) -> bool {
        let bytes = raw.as_bytes();
        if self.settings().mode == Mode::Off {
            return true;
        }
        match look(bytes) {
            Look::Odd => false,
            _ if self.matcher.has_plain_literals() || self.matcher.marks(bytes) => false,
            Look::Plain => true,
            Look::Special => walk(bytes, &self.matcher, Ends::Here),
        }
    }

    /// Whether no string or key of a checked JSON text has anything to find.
    ///
    /// ```
    /// use countersign_sanitise::{Sanitiser, Settings};
    ///
    /// let sanitiser = Sanitiser::new(Settings::default())?;
    /// assert!(sanitiser.passes_json(r#"{"id": 7, "tags": ["a"], "text": "two\nlines"}"#));
    /// assert!(!sanitiser.passes_json(r#"{"[INST]": 1}"#));
    /// # Ok::<(), countersign_sanitise::Error>(())
    /// ```
    pub fn passes_json(&self, json: &str) -> bool {
        self.passes(json.as_bytes(), Ends::Nowhere)
    }

    /// The same for texts that a host may join, so that a token may begin in one of them and end in the next.
    pub fn passes_blocks(&self, json: &str) -> bool {
        self.passes(json.as_bytes(), Ends::AtQuotes)
    }

    fn passes(&self, bytes: &[u8], ends: Ends) -> bool {
        if self.settings().mode == Mode::Off {
            return true;
        }
        let look = look(bytes);
        if look == Look::Odd || self.matcher.has_plain_literals() {
            return false;
        }
        // A string may begin behind any quote; that some of them end one does no harm.
        let marks = |at: usize| {
            let rest = bytes.get(at + 1..).unwrap_or_default();
            self.matcher.marks(rest)
        };
        if look == Look::Special && !walk(bytes, &self.matcher, ends) {
            return false;
        }
        let signless = self.matcher.has_signless_markers();
        !(signless || has_sign(bytes)) || !memchr::memchr_iter(b'"', bytes).any(marks)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Letters, digits and marks that mean nothing here.
    Plain,
    /// Escapes or brackets, too.
    Special,
    /// Something that only the slow path can judge.
    Odd,
}

/// Where a text ends that another one may follow: a token may begin with its last bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Here,
    AtQuotes,
    /// Texts stay apart.
    Nowhere,
}

fn look(bytes: &[u8]) -> Look {
    let mut special = 0;
    for block in bytes.chunks(BLOCK) {
        let mut odd = 0_u8;
        for &byte in block {
            // Everything that is not ASCII, and DEL; controls cannot stand in JSON text.
            let outside = byte >= 0x7F;
            let loaded = byte == b'<' || byte == b'&' || byte == b'%';
            odd |= u8::from(outside | loaded);
            // The two brackets and the backslash between them.
            special |= u8::from(byte.wrapping_sub(b'[') < 3);
        }
        if odd != 0 {
            return Look::Odd;
        }
    }
    if special == 0 {
        Look::Plain
    } else {
        Look::Special
    }
}

/// Whether JSON text has a colon that does not follow a quote, as those of members do, or another sign that a role
/// marker has. Without one of them no string needs to be looked at for markers.
fn has_sign(bytes: &[u8]) -> bool {
    let behind = bytes.get(1..).unwrap_or_default();
    let mut blocks = bytes.chunks(BLOCK).zip(behind.chunks(BLOCK));
    blocks.any(|(before, block)| {
        let mut found = 0_u8;
        for (&before, &byte) in before.iter().zip(block) {
            let colon = u8::from(byte == b':') & u8::from(before != b'"');
            found |= colon | u8::from(byte == b'@') | u8::from(byte == b'#');
        }
        found != 0
    })
}

/// Escapes and brackets one by one. Harmless escapes are those of quotes, slashes, tabs, line feeds, and of backslashes
/// before which nothing could be an escape of its own. A bracket inside
/// a string is followed by what a token has there, one outside hardly ever.
fn walk(bytes: &[u8], matcher: &Matcher, ends: Ends) -> bool {
    let mut lines = 0;
    let mut line_end = usize::MAX;
    let mut done = 0;
    for at in memchr::memchr3_iter(b'[', b']', b'\\', bytes) {
        if at < done {
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        match rest {
            [b'\\', b'\\', behind @ ..] => {
                if is_escape_behind_backslash(behind) {
                    return false;
                }
                done = at + 2;
            }
            [b'\\', b'n', behind @ ..] => {
                lines = if line_end == at { lines + 1 } else { 1 };
                line_end = at + 2;
                if lines > 1 && matcher.marks(behind) {
                    return false;
                }
            }
            [b'\\', b'"' | b't' | b'/', ..] => {}
            [b'\\', ..] => return false,
            [_] if ends == Ends::Here => return false,
            [_, b'"', ..] if ends == Ends::AtQuotes => return false,
            // A quote or a slash; a line feed or a tab is in no token.
            [bracket, b'\\', escaped, ..] if matcher.opens(&[*bracket, *escaped]) => return false,
            _ if matcher.opens(rest) => return false,
            _ => {}
        }
    }
    true
}

/// Whether something may take a backslash of the text, and what follows it, for an escape.
fn is_escape_behind_backslash(behind: &[u8]) -> bool {
    matches!(
        behind,
        [b'u' | b'U' | b'x' | b'0'..=b'7', ..] | [b'\\', b'\\' | b'u', ..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn sanitiser() -> Sanitiser {
        Sanitiser::new(Settings::default()).unwrap()
    }

    #[test]
    fn ordinary_strings_pass_undecoded() {
        let sanitiser = sanitiser();
        for raw in [
            "",
            "plain",
            r"two\nlines\n\nand a \tparagraph",
            r#"[{\"id\":1,\"tags\":[\"a\",\"b\"]},[1,[2]], true]."#,
            r"https:\/\/example.test\/a",
            "System of a down",
            "Human error",
            r#"{\"a\":\"two\\nlines and a \\\"quote\\\"\"}"#,
            r"C:\\dir\\new",
        ] {
            assert!(sanitiser.passes_string(raw), "{raw}");
        }
    }

    #[test]
    fn whatever_may_hide_something_does_not_pass() {
        let sanitiser = sanitiser();
        for raw in [
            "<|im_start|>",
            r"\u003c|im_start|\u003e",
            "[INST]",
            r"[\/INST]",
            "x [",
            "x ]",
            "[\\u0049NST]",
            "Human: hello",
            r"text\n\nHuman: hello",
            r"text\n\n\nHuman: hello",
            "caf\u{e9}",
            "100%3C",
            "&lt;",
            r"a\\u003c",
            r"a\\\\u003c",
            r"a\\\u003c",
            r"a\\x3c",
            r"a\\074",
            r"a\rb",
            r"bell\u0007",
            "\u{7f}",
        ] {
            assert!(!sanitiser.passes_string(raw), "{raw}");
        }
    }

    #[test]
    fn json_passes_as_a_whole() {
        let sanitiser = sanitiser();
        assert!(sanitiser.passes_json(r#"{"a":[1,2,["x","y"]],"n":null,"System":"s"}"#));
        for json in [
            r#"{"a":"[INST]"}"#,
            r#"{"[INST]":1}"#,
            r#"["Human: hi"]"#,
            r#"["a\n\nHuman: hi"]"#,
            r#"["a\u006e"]"#,
            r#"["<|im_start|>"]"#,
        ] {
            assert!(!sanitiser.passes_json(json), "{json}");
        }
    }

    #[test]
    fn a_bracket_at_the_end_of_a_block_may_go_on_in_the_next() {
        let sanitiser = sanitiser();
        for json in [r#"[{"text":"a["}]"#, r#"[{"text":"a]"}]"#] {
            assert!(sanitiser.passes_json(json) && !sanitiser.passes_blocks(json));
        }
        assert!(sanitiser.passes_blocks(r#"[{"text":"a[\"b\"]\n"}]"#));
    }

    #[test]
    fn configured_markers_are_never_skipped() {
        let settings = Settings {
            extra_tokens: vec!["BEGIN AGENT".to_owned()],
            ..Settings::default()
        };
        let sanitiser = Sanitiser::new(settings).unwrap();
        assert!(!sanitiser.passes_string("BEGIN AGENT"));
        assert!(!sanitiser.passes_json(r#""BEGIN AGENT""#));
    }
}
