//! The sanitiser: settings compiled once, then text in, clean text and findings out. Rounds are repeated until one of
//! them changes nothing; a text that does not settle is to be refused. No clock, no randomness, no I/O.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::edit::{Edit, Edits, Replacement};
use crate::error::Error;
use crate::finding::{Action, Finding, Rule, Severity};
use crate::matcher::{HitKind, Matcher};
use crate::probe;
use crate::settings::{Invisibles, Mode, Normalisation, OnToken, Settings};
use crate::tokens::Tokens;
use crate::triage::Triage;
use crate::truncate;
use crate::view::View;
use crate::walk::{self, Notes, match_view};

/// Rounds after which a text that still changes is given up.
const ROUNDS: usize = 8;

/// Cleans text under fixed settings. Cheap to share, costly to build: keep one per set of settings.
#[derive(Debug)]
pub struct Sanitiser {
    settings: Settings,
    pub(crate) matcher: Matcher,
}

/// A text after sanitising.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Cleaned<'t> {
    /// The text to pass on. Borrowed, and identical to the input, if nothing had to change.
    pub text: Cow<'t, str>,
    /// What was found, one entry a kind, the worst first.
    pub findings: Vec<Finding>,
    /// The text must not be passed on: `on_token = block` had a hit, or the text did not settle.
    pub blocked: bool,
    /// Characters and bytes looked at in all rounds: a measure of work that no clock disturbs.
    pub work: u64,
}

impl<'t> Cleaned<'t> {
    fn untouched(text: &'t str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            findings: Vec::new(),
            blocked: false,
            work: text.len() as u64,
        }
    }

    /// Whether the text differs from what came in.
    pub fn is_changed(&self) -> bool {
        matches!(self.text, Cow::Owned(_))
    }
}

/// Whether a pass may change the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Rewrite,
    Report,
}

impl Sanitiser {
    /// Compiles settings with the shipped token table.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        Self::with_tokens(settings, &Tokens::builtin())
    }

    /// Compiles settings with a token table of one's own.
    pub fn with_tokens(settings: Settings, tokens: &Tokens) -> Result<Self, Error> {
        let matcher = Matcher::new(tokens, &settings)?;
        Ok(Self { settings, matcher })
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Cleans one text as the mode says. Truncation and wrapping are separate steps, because a classifier may sit
    /// between them.
    pub fn clean<'t>(&self, text: &'t str) -> Cleaned<'t> {
        match self.triage(text) {
            Some(triage) => self.rounds(text, triage),
            None => Cleaned::untouched(text),
        }
    }

    /// The slow stages that a text needs; `None` if there is nothing to find in it.
    fn triage(&self, text: &str) -> Option<Triage> {
        if self.settings.mode == Mode::Off {
            return None;
        }
        let triage = Triage::scan(text);
        (!triage.is_plain() || self.matcher.may_hit_plain(text)).then_some(triage)
    }

    /// Reports what is in a text without changing it: for strings and keys of structured content, URIs, metadata.
    pub fn scan(&self, text: &str) -> Vec<Finding> {
        let Some(triage) = self.triage(text) else {
            return Vec::new();
        };
        let mut notes = Notes::default();
        self.pass(text, triage, Purpose::Report, &mut notes);
        self.probe(text, triage, &mut notes);
        self.weigh_sequences(text, &mut notes);
        self.findings(notes)
    }

    /// Cuts a text at the configured ceiling, with a visible marker.
    pub fn truncate<'t>(&self, text: &'t str) -> (Cow<'t, str>, Option<Finding>) {
        match self.settings.max_text_chars {
            Some(max) if self.settings.mode != Mode::Off => truncate::truncate(text, max),
            _ => (Cow::Borrowed(text), None),
        }
    }

    /// The text with every boundary tag replaced.
    pub(crate) fn without_boundaries<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut edits = Edits::default();
        let view = match_view(text);
        self.matcher.find(&view, |hit| {
            if hit.kind == HitKind::Boundary {
                let (start, end) = (view.start(hit.start), view.end(hit.end));
                edits.push(Edit {
                    start,
                    end,
                    replacement: Replacement::Boundary,
                });
            }
        });
        if edits.is_empty() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(edits.apply(text))
        }
    }

    fn rounds<'t>(&self, text: &'t str, triage: Triage) -> Cleaned<'t> {
        let mut notes = Notes::default();
        self.probe(text, triage, &mut notes);
        let mut current = Cow::Borrowed(text);
        let mut settled = false;
        for round in 0..=ROUNDS {
            let triage = if round == 0 {
                triage
            } else {
                Triage::scan(&current)
            };
            let edits = self.pass(&current, triage, Purpose::Rewrite, &mut notes);
            notes.tally.later_round = true;
            let Some(next) = self.rewritten(&current, edits) else {
                settled = true;
                break;
            };
            current = Cow::Owned(next);
        }
        self.weigh_sequences(text, &mut notes);
        let refused = self.settings.on_token == OnToken::Block
            && notes
                .tally
                .any(|key| matches!(key.rule, Rule::Token(..)) && key.action == Action::Replaced);
        Cleaned {
            text: current,
            blocked: refused || !settled,
            work: notes.work,
            findings: self.findings(notes),
        }
    }

    /// The text after edits and normalisation, or nothing if it stays as it is.
    fn rewritten(&self, text: &str, edits: Edits) -> Option<String> {
        let edited = (!edits.is_empty()).then(|| edits.apply(text));
        let normaliser = match self.settings.normalisation {
            Normalisation::Preserve => return edited,
            Normalisation::Nfc => ComposingNormalizerBorrowed::new_nfc(),
            Normalisation::Nfkc => ComposingNormalizerBorrowed::new_nfkc(),
        };
        match normaliser.normalize(edited.as_deref().unwrap_or(text)) {
            Cow::Owned(normal) => Some(normal),
            Cow::Borrowed(_) => edited,
        }
    }

    /// One look at a text: hidden characters, then tokens on the match view.
    fn pass(&self, text: &str, triage: Triage, purpose: Purpose, notes: &mut Notes) -> Edits {
        let mut edits = Edits::default();
        let invisibles = match purpose {
            Purpose::Rewrite => self.settings.invisibles,
            Purpose::Report => Invisibles::Report,
        };
        let view = if triage.exotic {
            walk::walk(text, invisibles, &mut edits, notes)
        } else {
            View::identity(text)
        };
        let work = self.matcher.find(&view, |hit| {
            let (start, end) = (view.start(hit.start), view.end(hit.end));
            let (key, replacement) = self.matcher.judge(hit, purpose == Purpose::Rewrite);
            notes.tally.add(key, start, 1);
            if key.action == Action::Replaced {
                edits.push(Edit {
                    start,
                    end,
                    replacement,
                });
            }
        });
        notes.work += work;
        edits
    }

    fn probe(&self, text: &str, triage: Triage, notes: &mut Notes) {
        if triage.escapes {
            probe::probe(text, &self.matcher, notes);
        }
    }

    /// Makes terminal sequences an attack where they hide a token, whole or a part of it. Cleaning drops a sequence as a
    /// whole, and with it the token; a reader that drops only the control characters, or keeps the text, sees it.
    fn weigh_sequences(&self, text: &str, notes: &mut Notes) {
        if !notes.tally.any(|key| key.rule == Rule::Ansi) {
            return;
        }
        let stays = |c: &char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
        let bare: String = text.chars().filter(stays).collect();
        let mut tokens = |text: &str| {
            let mut count = 0_u64;
            notes.work += self.matcher.find(&match_view(text), |hit| {
                count += u64::from(matches!(hit.kind, HitKind::Token(label) if label.acted_on));
            });
            count
        };
        if tokens(&bare) > tokens(text) {
            notes.tally.raise(Rule::Ansi, Severity::Attack);
        }
    }

    fn findings(&self, notes: Notes) -> Vec<Finding> {
        let Notes {
            tally, payloads, ..
        } = notes;
        let mut findings = tally.into_findings(
            |index| self.matcher.family(index),
            |class| payloads.decoded(class),
        );
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }
}

#[cfg(test)]
mod tests;
