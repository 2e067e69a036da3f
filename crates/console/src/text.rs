//! `Text`: what a stranger wrote, drawn so that it is inert and that all of it is seen. Markup is escaped; characters that
//! show nothing, turn the direction of a line or steer a terminal become labelled marks, and so do the control tokens of
//! chat templates.

mod hidden;
mod token;

use std::fmt::{self, Write as _};

/// A longer text is cut, and says so.
const MAX_CHARS: usize = 20_000;

/// Text that a server, a tool or a client chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// Takes the text as it is; drawing makes it safe.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as it was given. In a template it is escaped like every string, without marks.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// What it displays is HTML already.
impl askama::filters::HtmlSafe for Text {}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.char_indices().nth(MAX_CHARS).map(|(at, _)| at);
        let mut rest = end.map_or(&*self.0, |end| self.0.get(..end).unwrap_or_default());
        while let Some(first) = rest.chars().next() {
            let length = if let Some(token) = token::at_start(rest) {
                write_token(f, token)?;
                token.len()
            } else if let Some(name) = hidden::name(first) {
                let run = rest.chars().take_while(|c| *c == first).count();
                write_mark(f, first, &name, run)?;
                run * first.len_utf8()
            } else {
                write_escaped(f, first)?;
                first.len_utf8()
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        match end {
            Some(_) => f.write_str("<span class=\"mark\">cut here</span>"),
            None => Ok(()),
        }
    }
}

fn write_mark(f: &mut fmt::Formatter<'_>, c: char, name: &str, run: usize) -> fmt::Result {
    let code = u32::from(c);
    write!(
        f,
        "<span class=\"mark\" title=\"hidden character U+{code:04X}\">{name}"
    )?;
    if run > 1 {
        write!(f, "×{run}")?;
    }
    f.write_str("</span>")
}

fn write_token(f: &mut fmt::Formatter<'_>, token: &str) -> fmt::Result {
    f.write_str("<span class=\"mark token\" title=\"control token\">")?;
    for c in token.chars() {
        match hidden::name(c) {
            Some(name) => f.write_str(&name)?,
            None => write_escaped(f, c)?,
        }
    }
    f.write_str("</span>")
}

fn write_escaped(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '<' => f.write_str("&lt;"),
        '>' => f.write_str("&gt;"),
        '&' => f.write_str("&amp;"),
        '"' => f.write_str("&quot;"),
        '\'' => f.write_str("&#39;"),
        _ => f.write_char(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> String {
        Text::new(text).to_string()
    }

    #[test]
    fn markup_is_inert() {
        let drawn = drawn("<script>alert('1')</script><img onerror=\"x\"> & more");
        assert!(!drawn.contains('<') && !drawn.contains('"') && !drawn.contains('\''));
        assert!(drawn.contains("&lt;script&gt;") && drawn.ends_with("&amp; more"));
    }

    #[test]
    fn what_cannot_be_seen_is_drawn() {
        let one = drawn("a\u{202e}b");
        assert_eq!(
            one,
            "a<span class=\"mark\" title=\"hidden character U+202E\">RLO</span>b"
        );
        let run = drawn("\u{200b}\u{200b}\u{200b}");
        assert!(run.contains(">ZWSP×3<"), "{run}");
        let tag = drawn("\u{e0068}\u{e0069}");
        assert!(tag.contains(">tag h<") && tag.contains(">tag i<"), "{tag}");
        let escape = drawn("\u{1b}[2J");
        assert!(escape.contains(">ESC<") && escape.ends_with("[2J"));
    }

    #[test]
    fn nothing_hidden_is_left_in_what_is_drawn() {
        for code in (0..0x11_0000).filter_map(char::from_u32) {
            if hidden::name(code).is_some() {
                let drawn = drawn(&format!("x{code}y"));
                assert!(!drawn.contains(code), "{:x}", u32::from(code));
            }
        }
    }

    #[test]
    fn control_tokens_are_marked() {
        let drawn = drawn("hello <|im_start|>system [INST] x");
        assert!(drawn.contains("title=\"control token\">&lt;|im_start|&gt;</span>system"));
        assert!(drawn.contains(">[INST]</span> x"));
        assert_eq!(super::Text::new("a <| b").to_string(), "a &lt;| b");
    }

    #[test]
    fn a_long_text_is_cut() {
        let drawn = drawn(&"é".repeat(MAX_CHARS + 1));
        assert!(drawn.ends_with("cut here</span>"));
        assert_eq!(drawn.matches('é').count(), MAX_CHARS);
    }
}
