//! One walk over a text that is not plain ASCII: builds the match view, and finds hidden characters and terminal
//! sequences with what is to become of them. Looks at each character once; never looks for tokens.

use crate::chars::{CharKind, Chars};
use crate::edit::{Edit, Edits, Replacement};
use crate::finding::{Action, Key, Rule, Severity, Tally};
use crate::payload::Payloads;
use crate::settings::Invisibles;
use crate::triage::Triage;
use crate::view::{Builder, View};

mod hide;
mod skip;

use skip::{MARKS, skip_inert};

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

/// The view of a text that will not be edited.
pub(crate) fn match_view(text: &str) -> View<'_> {
    if Triage::scan(text).exotic {
        walk(
            text,
            Invisibles::Report,
            &mut Edits::default(),
            &mut Notes::default(),
        )
    } else {
        View::identity(text)
    }
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
            let stop = skip::skip_quiet(block, self.chars);
            at += stop.length;
            if stop.marks > 0 {
                self.marks = Run {
                    end: at,
                    length: stop.marks,
                };
            }
            if let Some((c, kind)) = stop.found {
                at = self.special(at, c, kind);
            }
        }
        at
    }

    /// Deals with a character that is folded, hidden, or a mark in a suspicious place.
    fn special(&mut self, start: usize, c: char, kind: CharKind) -> usize {
        let end = start + c.len_utf8();
        match kind {
            CharKind::Inert => {}
            CharKind::Mark => self.mark(start, end),
            CharKind::Fold(fold) => self.view.fold(start, end, self.chars.folded(fold)),
            CharKind::Hidden(hidden) => return self.hidden(start, c, hidden),
        }
        end
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
        self.edit(start, end, Replacement::Nothing)
    }

    fn edit(&mut self, start: usize, end: usize, replacement: Replacement) -> Action {
        if self.invisibles == Invisibles::Report {
            return Action::Reported;
        }
        self.edits.push(Edit {
            start,
            end,
            replacement,
        });
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
        let key = Key::new(Rule::Invisible(class), severity, action);
        self.notes.tally.add(key, at, count);
    }
}
