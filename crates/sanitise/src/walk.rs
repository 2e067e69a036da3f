//! One walk over a text that is not plain ASCII: builds the match view, and finds hidden characters and terminal
//! sequences with what is to become of them. Looks at each character once; never looks for tokens.

use crate::ansi;
use crate::chars::{Chars, Sort};
use crate::context;
use crate::edit::{Edit, Edits, To};
use crate::finding::{Action, Key, Rule, Severity, Tally};
use crate::hidden::Hidden;
use crate::payload::Payloads;
use crate::settings::Invisibles;
use crate::view::{Builder, View};

mod skip;

use skip::{MARKS, skip_inert};

/// A run of characters that look blank this long hides something.
const BLANKS: u32 = 4;

/// Bytes walked before the walk looks again for something to skip.
const BLOCK: usize = 64;

/// What a pass writes down besides its edits.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) tally: Tally,
    pub(crate) payloads: Payloads,
    /// Characters and bytes looked at. Grows with the length of the text, whatever the text is.
    pub(crate) work: u64,
}

/// The view of `text`, with the edits that `invisibles` asks for.
pub(crate) fn walk<'t>(
    text: &'t str,
    invisibles: Invisibles,
    edits: &mut Edits,
    notes: &mut Notes,
) -> View<'t> {
    let mut walk = Walk {
        text,
        chars: Chars::shared(),
        invisibles,
        view: Builder::new(text),
        edits,
        notes,
        edge: 0,
        edge_before: None,
        marks: Run::default(),
        blanks: Run::default(),
        paragraph: Paragraph::default(),
    };
    let mut at = 0;
    while at < text.len() {
        at = skip_inert(text, at);
        at = walk.step(at);
    }
    walk.notes.work += text.len() as u64;
    walk.view.finish()
}

struct Walk<'t, 'n> {
    text: &'t str,
    chars: &'static Chars,
    invisibles: Invisibles,
    view: Builder<'t>,
    edits: &'n mut Edits,
    notes: &'n mut Notes,
    /// End of the last stretch that will not be in the output, and the character before it.
    edge: usize,
    edge_before: Option<char>,
    marks: Run,
    blanks: Run,
    paragraph: Paragraph,
}

/// Length of a run of neighbours of one sort.
#[derive(Default)]
struct Run {
    end: usize,
    length: u32,
}

impl Run {
    fn extend(&mut self, start: usize, end: usize) -> u32 {
        let before = if self.end == start { self.length } else { 0 };
        self.length = before.saturating_add(1);
        self.end = end;
        self.length
    }
}

/// The verdict about the isolates of the paragraph that ends at `end`.
#[derive(Default)]
struct Paragraph {
    end: usize,
    keeps_isolates: bool,
}

impl Walk<'_, '_> {
    /// Walks a block of text from `at` on; returns where to go on, which may be behind a longer sequence.
    fn step(&mut self, mut at: usize) -> usize {
        let text = self.text;
        let until = text.ceil_char_boundary((at + BLOCK).min(text.len()));
        while let Some(block) = text.get(at..until).filter(|block| !block.is_empty()) {
            let stop = skip::quiet(block, self.chars);
            at += stop.length;
            if stop.marks > 0 {
                self.marks = Run {
                    end: at,
                    length: stop.marks,
                };
            }
            if let Some((c, sort)) = stop.found {
                at = self.special(at, c, sort);
            }
        }
        at
    }

    /// Deals with a character that is folded, hidden, or a mark in a suspicious place.
    fn special(&mut self, start: usize, c: char, sort: Sort) -> usize {
        let end = start + c.len_utf8();
        match sort {
            Sort::Inert => {}
            Sort::Mark => self.mark(start, end),
            Sort::Fold(fold) => self.view.fold(start, end, self.chars.folded(fold)),
            Sort::Hidden(hidden) => return self.hidden(start, c, hidden),
        }
        end
    }

    fn line_ending(&mut self, start: usize, end: usize, c: char) {
        if c != '\r' || self.text.as_bytes().get(end) != Some(&b'\n') {
            self.line_feed(start, end);
        }
    }

    fn line_feed(&mut self, start: usize, end: usize) {
        self.view.fold(start, end, "\n");
        let action = self.edit(start, end, To::LineFeed);
        self.tally(Hidden::LineEnding.name(), Severity::Info, action, start, 1);
    }

    /// A mark too many, or one that may be on an ASCII character.
    fn mark(&mut self, start: usize, end: usize) {
        let length = self.marks.extend(start, end);
        if self.view.ends_in_ascii(start) {
            self.view.drop(start, end);
        }
        if length > MARKS {
            let action = match self.invisibles {
                Invisibles::Strict => self.remove(start, end),
                Invisibles::LocaleSafe | Invisibles::Report => Action::Reported,
            };
            if length == MARKS + 1 {
                self.tally("combining", Severity::Info, action, start, 1);
            }
        }
    }

    fn hidden(&mut self, start: usize, c: char, hidden: Hidden) -> usize {
        let end = start + c.len_utf8();
        match hidden {
            Hidden::LineEnding => self.line_ending(start, end, c),
            Hidden::Blank => self.blank(start, end, c),
            Hidden::PrivateUse => {
                self.view.drop(start, end);
                self.tally(hidden.name(), Severity::Info, Action::Reported, start, 1);
            }
            Hidden::Control => return self.control(start, c),
            Hidden::Tag | Hidden::VariationSelector => return self.run(start, hidden),
            _ => self.single(start, end, c, hidden),
        }
        end
    }

    /// A hidden character that is judged by itself and its neighbours.
    fn single(&mut self, start: usize, end: usize, c: char, hidden: Hidden) {
        self.view.drop(start, end);
        if self.keeps(start, end, c, hidden) {
            return;
        }
        let severity = match hidden {
            Hidden::SoftHyphen | Hidden::Interlinear | Hidden::Format => Severity::Info,
            _ => Severity::Violation,
        };
        self.notes.payloads.note(c);
        let action = self.remove(start, end);
        self.tally(hidden.name(), severity, action, start, 1);
    }

    fn keeps(&mut self, start: usize, end: usize, c: char, hidden: Hidden) -> bool {
        if self.invisibles == Invisibles::Strict {
            return false;
        }
        let before = self.before(start);
        let after = self.after(end);
        match hidden {
            Hidden::Joiner => context::keeps_joiner(c, before, after),
            Hidden::BidiMark => context::keeps_bidi_mark(
                self.text.get(..start).unwrap_or_default(),
                self.text.get(end..).unwrap_or_default(),
            ),
            Hidden::BidiIsolate => self.keeps_isolate(start),
            Hidden::Filler => context::keeps_filler(c, before, after),
            _ => false,
        }
    }

    /// Looks at a paragraph once, however many isolates it has.
    fn keeps_isolate(&mut self, start: usize) -> bool {
        if start >= self.paragraph.end {
            let bytes = self.text.as_bytes();
            let from = memchr::memrchr(b'\n', bytes.get(..start).unwrap_or_default())
                .map_or(0, |line_end| line_end + 1);
            let to = memchr::memchr(b'\n', bytes.get(start..).unwrap_or_default())
                .map_or(bytes.len(), |length| start + length);
            self.notes.work += (to - from) as u64;
            self.paragraph = Paragraph {
                end: to,
                keeps_isolates: self.text.get(from..to).is_some_and(context::keeps_isolates),
            };
        }
        self.paragraph.keeps_isolates
    }

    /// A terminal sequence goes as a whole, any other control character alone.
    fn control(&mut self, start: usize, c: char) -> usize {
        let bytes = self.text.as_bytes().get(start..).unwrap_or_default();
        let (length, rule, severity) = match ansi::sequence_len(bytes, &mut self.notes.work) {
            0 => (
                c.len_utf8(),
                Rule::Invisible(Hidden::Control.name()),
                Severity::Info,
            ),
            length => (length, Rule::Ansi, Severity::Violation),
        };
        let end = start + length;
        self.view.drop(start, end);
        let action = self.remove(start, end);
        self.notes.tally.add(
            Key {
                rule,
                severity,
                action,
            },
            start,
            1,
        );
        end
    }

    fn blank(&mut self, start: usize, end: usize, c: char) {
        if c == '\u{2800}' {
            self.view.drop(start, end);
        } else {
            self.view.fold(start, end, " ");
        }
        if self.blanks.extend(start, end) == BLANKS {
            self.tally(
                Hidden::Blank.name(),
                Severity::Info,
                Action::Reported,
                start,
                1,
            );
        }
    }

    /// A run of tag characters or selectors is judged as one: it may be a flag, or a smuggled text.
    fn run(&mut self, start: usize, hidden: Hidden) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        let (mut length, mut count) = (0, 0);
        let mut first = '\0';
        for c in rest
            .chars()
            .take_while(|c| self.chars.sort(*c) == Sort::Hidden(hidden))
        {
            first = if count == 0 { c } else { first };
            length += c.len_utf8();
            count += 1;
        }
        let end = start + length;
        self.notes.work += length as u64;
        self.view.drop(start, end);
        let run = rest.get(..length).unwrap_or_default();
        let kept = self.invisibles != Invisibles::Strict
            && match hidden {
                Hidden::Tag => context::keeps_tags(run, self.before(start)),
                _ => {
                    count == 1
                        && context::keeps_selector(first, self.before(start), self.after(end))
                }
            };
        if !kept {
            for c in run.chars().take(4096) {
                self.notes.payloads.note(c);
            }
            let severity = match (hidden, count) {
                (Hidden::VariationSelector, 1) => Severity::Info,
                _ => Severity::Attack,
            };
            let action = self.remove(start, end);
            self.tally(hidden.name(), severity, action, start, count);
        }
        end
    }

    fn before(&self, start: usize) -> Option<char> {
        if start == self.edge {
            return self.edge_before;
        }
        self.text.get(..start)?.chars().next_back()
    }

    fn after(&self, end: usize) -> Option<char> {
        self.text.get(end..)?.chars().next()
    }

    /// Takes a stretch out of the output, unless hidden characters are only reported.
    fn remove(&mut self, start: usize, end: usize) -> Action {
        self.edge_before = self.before(start);
        self.edge = end;
        self.edit(start, end, To::Nothing)
    }

    fn edit(&mut self, start: usize, end: usize, to: To) -> Action {
        if self.invisibles == Invisibles::Report {
            return Action::Reported;
        }
        self.edits.push(Edit { start, end, to });
        Action::Removed
    }

    fn tally(
        &mut self,
        class: &'static str,
        severity: Severity,
        action: Action,
        at: usize,
        count: u64,
    ) {
        let rule = Rule::Invisible(class);
        self.notes.tally.add(
            Key {
                rule,
                severity,
                action,
            },
            at,
            count,
        );
    }
}
