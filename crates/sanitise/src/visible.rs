//! Foreign text made harmless for a terminal. Servers choose the names of their tools, and a name may carry escape
//! sequences that move the cursor, recolour the screen or reorder what is read.

use std::borrow::Cow;

/// `text` with every character that would steer a terminal written as a visible escape, like `\u{1b}`: control
/// characters other than line feed and tab, and those that change the direction of text.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(steers_terminal) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if steers_terminal(character) {
            visible.extend(character.escape_unicode());
        } else {
            visible.push(character);
        }
    }
    Cow::Owned(visible)
}

/// Whether a terminal acts on a character instead of showing it.
pub fn steers_terminal(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_made_visible() {
        for (text, expected) in [
            ("plain é नि 👩‍💻\n\t", "plain é नि 👩‍💻\n\t"),
            ("a\u{1b}[2Jb", r"a\u{1b}[2Jb"),
            ("\u{9b}31m\u{7f}\r", r"\u{9b}31m\u{7f}\u{d}"),
            ("\u{202e}txt.exe\u{2066}", r"\u{202e}txt.exe\u{2066}"),
        ] {
            assert_eq!(escape_controls(text), expected);
        }
    }
}
