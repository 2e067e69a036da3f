//! The two ways a name written by an upstream may appear: plain, in a text for an agent, or
//! not at all; cleaned and shortened, in a record for an operator. Nothing else of a result is
//! ever quoted.

/// The longest name either audience sees, in characters.
const MAX_NAME: usize = 64;

/// The longest phrase an agent sees, in bytes.
const MAX_WORDS: usize = 160;

/// The longest pointer or message in a record, in characters.
const MAX_TEXT: usize = 512;

/// Whether a name is a bare identifier, too poor to carry a message: `[A-Za-z0-9_$.-]{1,64}`.
pub(crate) fn is_plain_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'-'))
}

/// A tool's name that a client asked for, as it may be repeated to the client: what a plain `server:tool` cannot have
/// becomes `?`, and it is cut at 128 characters. No space survives, so it cannot carry a message.
pub fn asked_tool_name(name: &str) -> String {
    let plain = |c: char| if is_asked_name(c) { c } else { '?' };
    name.chars().take(2 * MAX_NAME).map(plain).collect()
}

/// Whether `asked_tool_name` may write this character.
pub(crate) fn is_asked_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_$.-:/?".contains(c)
}

/// The schema engine's own words, which name types, counts and plain declared properties. They
/// are safe as they are; this only keeps a mistake there from becoming one here.
pub(crate) fn for_agent(words: &str) -> &str {
    let plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    if words.len() <= MAX_WORDS && words.bytes().all(plain) {
        words
    } else {
        "something else"
    }
}

/// A name for an operator's record: what is not printable ASCII becomes `?`, and it is cut at
/// 64 characters. Letters of other scripts are kept.
pub(crate) fn for_record(name: &str) -> String {
    shorten(name, MAX_NAME)
}

/// A whole message for an operator's record, cleaned like a name but longer.
pub(crate) fn long_for_record(text: &str) -> String {
    shorten(text, MAX_TEXT)
}

/// An RFC 6901 pointer for an operator's record: each name cleaned and shortened, the rest cut.
pub(crate) fn pointer_for_record(pointer: &str) -> String {
    let names: Vec<String> = pointer.split('/').map(for_record).collect();
    shorten(&names.join("/"), MAX_TEXT)
}

fn shorten(text: &str, limit: usize) -> String {
    let mut clean: String = text.chars().take(limit).map(printable).collect();
    if text.chars().nth(limit).is_some() {
        clean.push('…');
    }
    clean
}

/// Letters and digits of any script and visible ASCII stay; controls, format characters and
/// everything that could reorder or hide text do not.
fn printable(c: char) -> char {
    if c.is_alphanumeric() || matches!(c, ' ' | '…') || c.is_ascii_graphic() {
        c
    } else {
        '?'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_short_identifiers() {
        for name in ["a", "id", "$ref", "user.name", "x-y_z", &"n".repeat(64)] {
            assert!(is_plain_name(name), "{name}");
        }
        for name in [
            "",
            " ",
            "a b",
            "é",
            "a/b",
            "a~0",
            "<|im_start|>",
            &"n".repeat(65),
        ] {
            assert!(!is_plain_name(name), "{name}");
        }
    }

    #[test]
    fn a_name_that_was_asked_for_carries_no_message() {
        assert_eq!(asked_tool_name("files:read/all"), "files:read/all");
        assert_eq!(
            asked_tool_name("<|im_start|> now é\u{1b}"),
            "??im_start???now???"
        );
        assert_eq!(asked_tool_name(&"x".repeat(5000)).len(), 128);
    }

    #[test]
    fn a_record_keeps_letters_and_drops_tricks() {
        assert_eq!(for_record("größe 价格"), "größe 价格");
        assert_eq!(for_record("a\u{202e}b\u{200b}c\nd\u{e0041}"), "a?b?c?d?");
        assert_eq!(for_record(&"x".repeat(80)).chars().count(), 65);
    }
}
