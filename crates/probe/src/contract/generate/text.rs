//! Strings: by length, by format, and by pattern. A pattern is walked as the syntax tree of a
//! regular expression, once per way of repeating; what the parser does not read (assertions that
//! look ahead, references back) cannot be made and is said so.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;

use super::choice::Choice;
use super::view::View;
use crate::random::Random;

/// The longest string that is made.
pub(super) const MAX_LENGTH: usize = 4096;
/// Extra repetitions that are tried to reach a minimum length.
const EXTRA: [u32; 9] = [0, 1, 2, 4, 8, 16, 32, 64, 128];
/// Pieces of the syntax tree that are walked for one string.
const MAX_PIECES: usize = 10_000;

/// An example of each format that servers check.
const FORMATS: [(&str, &str); 19] = [
    ("date", "2024-02-29"),
    ("date-time", "2024-02-29T12:30:00Z"),
    ("time", "12:30:00Z"),
    ("duration", "P1DT2H"),
    ("email", "someone@example.org"),
    ("idn-email", "someone@example.org"),
    ("hostname", "host.example.org"),
    ("idn-hostname", "host.example.org"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.org/path"),
    ("url", "https://example.org/path"),
    ("uri-reference", "/path"),
    ("iri", "https://example.org/path"),
    ("iri-reference", "/path"),
    ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
    ("json-pointer", "/a/0"),
    ("relative-json-pointer", "0/a"),
    ("regex", "^a+$"),
];

/// Characters that programs trip over: quotes, escapes, other scripts, beyond the first plane.
const ODD: [char; 12] = [
    'a', 'Z', '0', ' ', '"', '\\', '\n', '/', 'é', '漢', '😀', '%',
];

/// A string for a view, if one can be made.
pub(super) fn text(view: &View<'_>, choice: Choice) -> Option<Value> {
    let least = view.count("minLength").unwrap_or(0);
    let most = view
        .count("maxLength")
        .unwrap_or(MAX_LENGTH)
        .min(MAX_LENGTH);
    if least > most {
        return None;
    }
    if let Some(pattern) = view.patterns.first() {
        let seed = match choice {
            Choice::Random(seed) => seed,
            _ => 0,
        };
        let lengths = |text: &String| (least..=most).contains(&text.chars().count());
        let mut made = EXTRA
            .iter()
            .filter_map(|extra| matching(pattern, *extra, seed));
        return made.find(lengths).map(Value::String);
    }
    if let Some((_, example)) = view
        .format
        .and_then(|name| FORMATS.iter().find(|(known, _)| *known == name))
    {
        return Some(Value::from(*example));
    }
    Some(Value::String(match choice {
        Choice::Minimal(_) => plain(least.max(1).min(most)),
        Choice::Maximal(_) => plain(least.max(8).min(most)),
        Choice::Random(seed) => odd(least, most, &mut Random::new(seed)),
    }))
}

/// A string of so many plain characters.
pub(super) fn plain(length: usize) -> String {
    "a".repeat(length)
}

fn odd(least: usize, most: usize, random: &mut Random) -> String {
    let length = least + random.index((most - least).min(24) + 1);
    (0..length).map(|_| ODD[random.index(ODD.len())]).collect()
}

/// Whether strings for the pattern can be made at all.
pub(super) fn is_readable(pattern: &str) -> bool {
    parse(pattern).is_some()
}

fn parse(pattern: &str) -> Option<Hir> {
    // The nesting bounds the walk below.
    ParserBuilder::new()
        .nest_limit(48)
        .utf8(true)
        .build()
        .parse(pattern)
        .ok()
}

/// A string the pattern should match, with optional parts repeated `extra` times.
pub(super) fn matching(pattern: &str, extra: u32, seed: u64) -> Option<String> {
    let tree = parse(pattern)?;
    let mut writer = Writer {
        text: String::new(),
        extra,
        random: Random::new(seed),
        vary: seed != 0,
        pieces: 0,
    };
    writer.write(&tree)?;
    Some(writer.text)
}

struct Writer {
    text: String,
    extra: u32,
    random: Random,
    vary: bool,
    pieces: usize,
}

impl Writer {
    /// Recursive, as deep as the parser let a pattern be.
    fn write(&mut self, tree: &Hir) -> Option<()> {
        self.pieces += 1;
        if self.pieces > MAX_PIECES || self.text.len() > MAX_LENGTH {
            return None;
        }
        match tree.kind() {
            // Assertions take no room; whether they hold is the engine's word.
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.text.push_str(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(class) => self.class(class)?,
            HirKind::Capture(group) => self.write(&group.sub)?,
            HirKind::Concat(parts) => {
                for part in parts {
                    self.write(part)?;
                }
            }
            HirKind::Alternation(branches) => {
                let chosen = self.choose(branches.len());
                self.write(branches.get(chosen)?)?;
            }
            HirKind::Repetition(repetition) => {
                let most = repetition.max.unwrap_or(u32::MAX);
                let times = repetition.min.saturating_add(self.extra).min(most);
                for _ in 0..times.min(1024) {
                    self.write(&repetition.sub)?;
                }
            }
        }
        Some(())
    }

    fn choose(&mut self, count: usize) -> usize {
        if self.vary {
            self.random.index(count)
        } else {
            0
        }
    }

    /// A character of a class, a letter or digit if it has one.
    fn class(&mut self, class: &Class) -> Option<()> {
        let ranges: Vec<(char, char)> = match class {
            Class::Unicode(class) => class
                .ranges()
                .iter()
                .map(|range| (range.start(), range.end()))
                .collect(),
            Class::Bytes(class) => class
                .ranges()
                .iter()
                .map(|range| (char::from(range.start()), char::from(range.end())))
                .collect(),
        };
        let within = |wanted: char| {
            ranges
                .iter()
                .any(|(start, end)| (*start..=*end).contains(&wanted))
        };
        let common: Vec<char> = ('a'..='z')
            .chain('0'..='9')
            .chain('A'..='Z')
            .filter(|one| within(*one))
            .collect();
        let chosen = self.choose(common.len());
        let printable = || (' '..='~').find(|one| within(*one));
        let any = || ranges.first().map(|(start, _)| *start);
        let letter = common.get(chosen).copied();
        self.text.push(letter.or_else(printable).or_else(any)?);
        Some(())
    }
}
