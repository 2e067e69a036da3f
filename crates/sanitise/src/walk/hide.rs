//! Decides whether a hidden character is kept or removed: by itself, by its neighbours, or as one of a run.

use super::{Paragraph, Walk};
use crate::ansi;
use crate::chars::CharKind;
use crate::context;
use crate::edit::Replacement;
use crate::finding::{Action, Key, Rule, Severity};
use crate::hidden::Hidden;
use crate::settings::Invisibles;

/// A run of characters that look blank this long hides something.
const BLANKS: u32 = 4;

impl Walk<'_, '_> {
    fn line_ending(&mut self, start: usize, end: usize, c: char) {
        if c != '\r' || self.text.as_bytes().get(end) != Some(&b'\n') {
            self.line_feed(start, end);
        }
    }

    fn line_feed(&mut self, start: usize, end: usize) {
        self.view.fold(start, end, "\n");
        let action = self.edit(start, end, Replacement::LineFeed);
        self.tally(
            Hidden::LineEnding.as_str(),
            Severity::Info,
            action,
            start,
            1,
        );
    }

    pub(super) fn hidden(&mut self, start: usize, c: char, hidden: Hidden) -> usize {
        let end = start + c.len_utf8();
        match hidden {
            Hidden::LineEnding => self.line_ending(start, end, c),
            Hidden::Blank => self.blank(start, end, c),
            Hidden::PrivateUse => {
                self.view.drop(start, end);
                self.tally(hidden.as_str(), Severity::Info, Action::Reported, start, 1);
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
        if self.is_kept(start, end, c, hidden) {
            return;
        }
        let severity = match hidden {
            Hidden::SoftHyphen | Hidden::Interlinear | Hidden::Format => Severity::Info,
            _ => Severity::Violation,
        };
        self.notes.payloads.note(c);
        let action = self.remove(start, end);
        self.tally(hidden.as_str(), severity, action, start, 1);
    }

    fn is_kept(&mut self, start: usize, end: usize, c: char, hidden: Hidden) -> bool {
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
            0 => {
                let rule = Rule::Invisible(Hidden::Control.as_str());
                (c.len_utf8(), rule, Severity::Info)
            }
            length => (length, Rule::Ansi, Severity::Violation),
        };
        let end = start + length;
        self.view.drop(start, end);
        let action = self.remove(start, end);
        let key = Key::new(rule, severity, action);
        self.notes.tally.add(key, start, 1);
        end
    }

    fn blank(&mut self, start: usize, end: usize, c: char) {
        if c == '\u{2800}' {
            self.view.drop(start, end);
        } else {
            self.view.fold(start, end, " ");
        }
        if self.blanks.extend(start, end) == BLANKS {
            let class = Hidden::Blank.as_str();
            self.tally(class, Severity::Info, Action::Reported, start, 1);
        }
    }

    /// A run of tag characters or selectors is judged as one: it may be a flag, or a smuggled text.
    fn run(&mut self, start: usize, hidden: Hidden) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        let (mut length, mut count) = (0, 0);
        let mut first = '\0';
        for c in rest
            .chars()
            .take_while(|c| self.chars.kind(*c) == CharKind::Hidden(hidden))
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
            self.tally(hidden.as_str(), severity, action, start, count);
        }
        end
    }
}
