//! A small document model that the properties compare with: it remembers how each character is written, so
//! that the bytes an edit should produce are known exactly.

use countersign_tape::{Kind, Tape};
use proptest::prelude::*;

/// A JSON value; numbers as text, objects in order, names possibly repeated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Document {
    Word(&'static str),
    Number(String),
    Text(Text),
    Array(Vec<Document>),
    Object(Vec<(Text, Document)>),
}

/// A string with the spelling of each character.
#[derive(Debug, Clone)]
pub(crate) struct Text(pub(crate) Vec<Glyph>);

#[derive(Debug, Clone)]
pub(crate) struct Glyph {
    pub(crate) decoded: char,
    pub(crate) raw: String,
}

/// Two texts are equal when they decode to the same characters.
impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.decoded() == other.decoded()
    }
}

impl Text {
    pub(crate) fn plain(text: &str) -> Self {
        Self(
            text.chars()
                .map(|decoded| Glyph {
                    decoded,
                    raw: decoded.to_string(),
                })
                .collect(),
        )
    }

    pub(crate) fn decoded(&self) -> String {
        self.0.iter().map(|glyph| glyph.decoded).collect()
    }

    /// Two lone surrogates that would be read as one character: the second is spelt as what it decodes to.
    pub(crate) fn keep_surrogates_apart(&mut self) {
        for second in 1..self.0.len() {
            let lone = |place: usize, units| {
                let unit = self.0[place].raw.get(2..6);
                let unit = unit.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                self.0[place].raw.len() == 6
                    && unit.is_some_and(|unit| std::ops::Range::contains(&units, &unit))
            };
            if lone(second - 1, 0xD800..0xDC00) && lone(second, 0xDC00..0xE000) {
                "\\ufffd".clone_into(&mut self.0[second].raw);
            }
        }
    }

    pub(crate) fn render(&self) -> String {
        let inside: String = self.0.iter().map(|glyph| glyph.raw.as_str()).collect();
        format!("\"{inside}\"")
    }
}

/// What separates tokens.
pub(crate) fn spaces() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        1 => "[ \t\r\n]{1,9}",
    ]
}

/// A surrogate escape, which stands alone unless its neighbour says otherwise.
fn lone_surrogate() -> impl Strategy<Value = Glyph> {
    (0xD800..0xE000_u32).prop_map(|unit| Glyph {
        decoded: char::REPLACEMENT_CHARACTER,
        raw: format!("\\u{unit:04x}"),
    })
}

fn glyph() -> impl Strategy<Value = Glyph> {
    let character = prop_oneof![
        4 => proptest::char::range(' ', '~'),
        1 => any::<char>(),
        1 => proptest::sample::select(vec!['"', '\\', '/', '\n', '\t', '\u{8}', '\u{c}', '\r', 'é', '😀', '\u{2028}']),
    ];
    let spelt = (character, 0..3_u8).prop_map(|(decoded, style)| Glyph {
        decoded,
        raw: spell(decoded, style),
    });
    prop_oneof![12 => spelt, 1 => lone_surrogate()]
}

/// Style 0 is the shortest spelling, 1 a short escape where there is one, 2 always `\u`.
fn spell(decoded: char, style: u8) -> String {
    let short = match decoded {
        '"' => Some("\\\""),
        '\\' => Some("\\\\"),
        '\n' => Some("\\n"),
        '\r' => Some("\\r"),
        '\t' => Some("\\t"),
        '\u{8}' => Some("\\b"),
        '\u{c}' => Some("\\f"),
        '/' if style == 1 => Some("\\/"),
        _ => None,
    };
    match short {
        Some(short) if style < 2 => short.to_owned(),
        None if style < 2 && decoded >= ' ' => decoded.to_string(),
        _ => {
            let mut units = [0; 2];
            decoded
                .encode_utf16(&mut units)
                .iter()
                .map(|unit| {
                    if style == 1 {
                        format!("\\u{unit:04X}")
                    } else {
                        format!("\\u{unit:04x}")
                    }
                })
                .collect()
        }
    }
}

pub(crate) fn text() -> impl Strategy<Value = Text> {
    proptest::collection::vec(glyph(), 0..12).prop_map(|glyphs| {
        let mut text = Text(glyphs);
        text.keep_surrogates_apart();
        text
    })
}

pub(crate) fn document() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        proptest::sample::select(vec!["null", "true", "false"]).prop_map(Document::Word),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?".prop_map(Document::Number),
        text().prop_map(Document::Text),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Document::Array),
            proptest::collection::vec((text(), inner), 0..6).prop_map(Document::Object),
        ]
    })
}

impl Document {
    /// The bytes of the value, with whitespace taken in turn from `gaps`.
    pub(crate) fn render(&self, gaps: &[String]) -> String {
        let mut out = String::new();
        let mut gaps = gaps.iter().cycle();
        self.write(&mut out, &mut || {
            gaps.next().map_or("", String::as_str).to_owned()
        });
        out
    }

    fn write(&self, out: &mut String, gap: &mut impl FnMut() -> String) {
        match self {
            Self::Word(word) => out.push_str(word),
            Self::Number(number) => out.push_str(number),
            Self::Text(text) => out.push_str(&text.render()),
            Self::Array(elements) => {
                out.push('[');
                for (place, element) in elements.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    out.push_str(&gap());
                    element.write(out, gap);
                    out.push_str(&gap());
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (place, (name, value)) in members.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    out.push_str(&gap());
                    out.push_str(&name.render());
                    out.push_str(&gap());
                    out.push(':');
                    out.push_str(&gap());
                    value.write(out, gap);
                    out.push_str(&gap());
                }
                out.push('}');
            }
        }
    }

    /// What a tape says at a node, as a document.
    pub(crate) fn read(tape: &Tape<'_>, index: u32) -> Self {
        match tape.node(index).kind() {
            Kind::Null => Self::Word("null"),
            Kind::True => Self::Word("true"),
            Kind::False => Self::Word("false"),
            Kind::Number => Self::Number(tape.raw(index).to_owned()),
            Kind::String | Kind::Key => Self::Text(Text::plain(&tape.string(index))),
            Kind::Array => Self::Array(
                tape.children(index)
                    .map(|child| Self::read(tape, child))
                    .collect(),
            ),
            Kind::Object => Self::Object(
                tape.members(index)
                    .map(|(key, value)| (Text::plain(&tape.string(key)), Self::read(tape, value)))
                    .collect(),
            ),
        }
    }

    /// A scalar or an empty container is 1, a container is 1 + its deepest child.
    pub(crate) fn depth(&self) -> u32 {
        let deepest = match self {
            Self::Array(elements) => elements.iter().map(Self::depth).max(),
            Self::Object(members) => members.iter().map(|(_, value)| value.depth()).max(),
            _ => None,
        };
        1 + deepest.unwrap_or(0)
    }
}
