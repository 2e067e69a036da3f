//! Patterns whose next step the next character decides: identifiers, dates, colours, codes.
//!
//! A short list of steps walked once over the text, without a table of states: `^\p{L}{1,64}$` is one step, where an
//! automaton over bytes would need a megabyte. Anchored at the start of the text; a pattern that would ever have to
//! choose is refused by the builder and left to the engines. Serves validation.

use super::set::CodeSet;

mod build;

/// The steps of one pattern.
#[derive(Debug)]
pub(super) struct Shape {
    steps: Box<[Step]>,
    sets: Box<[FastSet]>,
    /// Whether the end of the steps must be the end of the text.
    whole: bool,
}

#[derive(Debug)]
enum Step {
    /// This text comes next.
    Text(Box<str>),
    /// As many characters of a set as there are, `max` at most, `min` at least.
    Run { set: usize, min: u32, max: u32 },
    /// Goes on if the next character is in the set, otherwise elsewhere.
    Enter { set: usize, otherwise: usize },
    /// Goes on elsewhere.
    Jump(usize),
}

impl Shape {
    pub(super) fn is_match(&self, text: &str) -> bool {
        let mut rest = text;
        let mut next = 0;
        while let Some(step) = self.steps.get(next) {
            next += 1;
            match step {
                Step::Text(literal) => match rest.strip_prefix(&**literal) {
                    Some(after) => rest = after,
                    None => return false,
                },
                Step::Run { set, min, max } => {
                    let (count, after) = self.sets[*set].run(rest, *max);
                    if count < *min {
                        return false;
                    }
                    rest = after;
                }
                Step::Enter { set, otherwise } => {
                    if self.sets[*set].run(rest, 1).0 == 0 {
                        next = *otherwise;
                    }
                }
                Step::Jump(target) => next = *target,
            }
        }
        !self.whole || rest.is_empty()
    }

    /// Steps one character may cost: a loop may pass over all of them for each.
    pub(super) fn steps(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn memory_usage(&self) -> usize {
        let wide = |set: &FastSet| size_of_val(&*set.wide);
        let text = |step: &Step| match step {
            Step::Text(text) => text.len(),
            _ => 0,
        };
        size_of_val(&*self.steps)
            + self.steps.iter().map(text).sum::<usize>()
            + size_of_val(&*self.sets)
            + self.sets.iter().map(wide).sum::<usize>()
    }
}

/// A set of characters: a table for ASCII, sorted ranges for the rest.
#[derive(Debug)]
struct FastSet {
    ascii: [bool; 128],
    wide: Box<[(char, char)]>,
}

impl FastSet {
    fn new(set: &CodeSet) -> Self {
        let mut ascii = [false; 128];
        for (entry, code) in ascii.iter_mut().zip(0..) {
            *entry = set.contains(code);
        }
        let wide = set.chars().filter(|range| !range.1.is_ascii());
        Self {
            ascii,
            wide: wide.collect(),
        }
    }

    /// How many characters of the set lead `text`, up to `max`, and what follows them.
    #[inline]
    fn run<'t>(&self, text: &'t str, max: u32) -> (u32, &'t str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut count = 0;
        while count < max {
            let Some(&byte) = bytes.get(at) else { break };
            if let Some(&member) = self.ascii.get(usize::from(byte)) {
                if !member {
                    break;
                }
                at += 1;
            } else {
                match self.wide_length(text, at) {
                    Some(length) => at += length,
                    None => break,
                }
            }
            count += 1;
        }
        (count, text.get(at..).unwrap_or_default())
    }

    /// The length of the character at `at`, if it is a member.
    fn wide_length(&self, text: &str, at: usize) -> Option<usize> {
        if self.wide.is_empty() {
            return None;
        }
        let character = text.get(at..)?.chars().next()?;
        let above = self.wide.partition_point(|range| range.1 < character);
        let member = self.wide.get(above)?.0 <= character;
        member.then(|| character.len_utf8())
    }
}
