//! The file as JSON with positions: every value has a pointer, a line and a column for messages.
//! Refuses what is not JSON and what repeats a key, since two readers could then disagree.

use countersign_inspect::nearest_word;
use countersign_tape::{Limits, ParseError, Tape};

use super::MAX_BYTES;
use super::problem::{ConfigError, FilePosition, Problem};

/// Deeper than any configuration, and shallow enough for serde.
const MAX_DEPTH: u32 = 64;

pub(crate) struct Document<'a> {
    tape: Tape<'a>,
}

impl<'a> Document<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, ConfigError> {
        // Some editors write a byte order mark; it means nothing in UTF-8.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let limits = Limits {
            max_bytes: usize::try_from(MAX_BYTES).unwrap_or(usize::MAX),
            max_depth: MAX_DEPTH,
        };
        let tape = Tape::parse(text.as_bytes(), &limits).map_err(|error| not_json(&error, text))?;
        let document = Self { tape };
        let repeated = document.tape.duplicate_keys().iter();
        let problems = repeated.map(|key| {
            let name = document.tape.string(*key);
            let place = document.place(*key);
            Problem::new(
                format!("the key \"{}\" is repeated", brief(&name)),
                "keep one of them; which one would count is not defined",
            )
            .at(place)
        });
        ConfigError::if_any(problems.collect())?;
        Ok(document)
    }

    pub(crate) fn tape(&self) -> &Tape<'a> {
        &self.tape
    }

    /// Where a node is.
    pub(crate) fn place(&self, index: u32) -> FilePosition {
        let offset = self.tape.node(index).start() as usize;
        FilePosition {
            pointer: self.tape.pointer(index),
            at: Some(position(self.tape.text(), offset)),
        }
    }
}

/// A word of the file, short and on one line, fit for a message.
pub(crate) fn brief(word: &str) -> String {
    let mut short: String = word.chars().filter(|c| !c.is_control()).take(64).collect();
    if word.chars().nth(64).is_some() {
        short.push('…');
    }
    short
}

/// A hint with the known words, and the one that was probably meant.
pub(crate) fn suggestion(word: &str, known: &[&str], introduction: &str) -> String {
    let listed = known.join(", ");
    match nearest_word(word, known.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"? {introduction}: {listed}"),
        None => format!("{introduction}: {listed}"),
    }
}

/// One step of a pointer.
pub(crate) fn step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn not_json(error: &ParseError, text: &str) -> Problem {
    let place = FilePosition {
        pointer: String::new(),
        at: Some(position(text, error.offset())),
    };
    if error.is_too_deep() {
        return Problem::new(
            format!("nested deeper than {MAX_DEPTH} levels"),
            "no setting is nested like that; look for a bracket too many",
        )
        .at(place);
    }
    let before = text.get(..error.offset()).unwrap_or(text);
    let rest = text.get(error.offset()..).unwrap_or("");
    let hint = if rest.starts_with('/') || rest.starts_with('#') {
        "comments are not JSON; remove it"
    } else if rest.starts_with(['}', ']']) && before.trim_end().ends_with(',') {
        "remove the comma before it"
    } else if text.trim().is_empty() {
        "the smallest configuration is {}; `countersign config init` writes a whole one"
    } else if rest.starts_with('\'') {
        "strings are written in double quotes"
    } else {
        "look for a missing comma, quote or bracket just before this place"
    };
    Problem::new(format!("not JSON: {error}"), hint).at(place)
}

/// Line and column in characters, from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let last = before.rsplit('\n').next().unwrap_or("");
    (line, last.chars().count() + 1)
}
