//! Finds control tokens, role markers and forged boundaries in a match view, and says which of them the settings
//! replace. Work is linear in the view. It changes nothing and never sees the text as received.

use std::fmt;

use memchr::memmem::Finder;

use crate::edit::Replacement;
use crate::error::Error;
use crate::finding::{Action, Key, Rule, Severity};
use crate::settings::{Settings, Wrap};
use crate::shape;
use crate::tokens::{Class, Token, Tokens};
use crate::triage::Triage;
use crate::trie::Trie;
use crate::view::View;

mod label;
mod places;

use label::{extra_tokens, named_families};
use places::{Anchors, SecondBytes, is_opened, is_without_latin, markers_begin_with_capitals};

pub(crate) use label::Label;

/// A hit in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: HitKind,
}

/// The kind of thing that a hit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HitKind {
    Token(Label),
    Boundary,
}

/// A compiled token table under given settings.
pub(crate) struct Matcher {
    names: Vec<String>,
    literals: Vec<(String, Label)>,
    seconds: SecondBytes,
    /// Literals that begin with one of the openers.
    opened: Trie,
    anchors: Anchors,
    /// Role markers, tried at anchors only.
    anchored: Trie,
    /// Literals that begin otherwise, and configured ones.
    anywhere: Vec<FreeLiteral>,
    markers_begin_with_capitals: bool,
    is_without_latin: bool,
    generic: Label,
    replaces_boundaries: bool,
}

/// A literal that begins with no opener and no role marker: searched for everywhere in a text.
struct FreeLiteral {
    finder: Finder<'static>,
    label: Label,
    length: usize,
    /// May occur in a text of which nothing was folded.
    ascii: bool,
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("literals", &self.literals.len())
            .finish_non_exhaustive()
    }
}

impl Matcher {
    pub(crate) fn new(tokens: &Tokens, settings: &Settings) -> Result<Self, Error> {
        let named = named_families(tokens, settings)?;
        let mut names: Vec<String> = tokens.families().map(str::to_owned).collect();
        let listed = u16::try_from(names.len()).unwrap_or(u16::MAX);
        names.extend(["generic".to_owned(), "extra".to_owned()]);
        let generic = Label::special(listed, "A", Severity::Violation, settings);
        let extra = Label::special(listed + 1, "extra", Severity::Attack, settings);

        let literals: Vec<(String, Label)> = tokens
            .iter()
            .map(|token| (token.text.clone(), Label::literal(token, named, settings)))
            .collect();
        let mut anywhere: Vec<FreeLiteral> = literals
            .iter()
            .zip(tokens.iter())
            .filter(|(_, token)| token.class != Class::E && !is_opened(token))
            .map(|((text, label), token)| FreeLiteral::new(text, *label, token.ascii))
            .collect();
        for text in extra_tokens(settings)? {
            anywhere.push(FreeLiteral::new(&text, extra, true));
        }
        Ok(Self {
            names,
            literals,
            seconds: SecondBytes::new(tokens),
            opened: trie(tokens, is_opened),
            anchors: Anchors::new(tokens),
            anchored: trie(tokens, |token| token.class == Class::E),
            anywhere,
            markers_begin_with_capitals: markers_begin_with_capitals(tokens),
            is_without_latin: is_without_latin(tokens),
            generic,
            replaces_boundaries: settings.wrap == Wrap::Delimit,
        })
    }

    /// Name of a family by its number.
    pub(crate) fn family(&self, index: u16) -> String {
        let name = self.names.get(usize::from(index));
        name.cloned().unwrap_or_default()
    }

    /// How a hit is counted where the text may, or may not, be edited, and what would stand in its place.
    pub(crate) fn judge(&self, hit: Hit, may_edit: bool) -> (Key, Replacement) {
        let (rule, severity, acted_on, replacement) = match hit.kind {
            HitKind::Token(label) => {
                let rule = Rule::Token(label.family, label.class);
                (rule, label.severity, label.acted_on, Replacement::Token)
            }
            HitKind::Boundary if self.replaces_boundaries => (
                Rule::Boundary,
                Severity::Attack,
                true,
                Replacement::Boundary,
            ),
            // Without a wrapper of our own it may be the honest one of a gateway behind us.
            HitKind::Boundary => (Rule::Boundary, Severity::Info, false, Replacement::Boundary),
        };
        let action = if acted_on && may_edit {
            Action::Replaced
        } else {
            Action::Reported
        };
        (Key::new(rule, severity, action), replacement)
    }

    /// Whether an ASCII text without openers has anything to find.
    pub(crate) fn may_hit_plain(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut hit = false;
        self.role_markers(bytes, &mut |_| hit = true);
        hit || self
            .anywhere
            .iter()
            .any(|literal| literal.ascii && literal.finder.find(bytes).is_some())
    }

    /// Whether a token may begin with the bracket at the start of a text.
    pub(crate) fn opens(&self, rest: &[u8]) -> bool {
        self.seconds.has(rest)
    }

    /// Whether a text begins with a role marker.
    pub(crate) fn marks(&self, rest: &[u8]) -> bool {
        let mut found = false;
        if self.anchors.may_begin(rest) {
            self.anchored.find_prefixes(rest, |length, values| {
                found |= self.literal(rest, length, values).is_some();
            });
        }
        found
    }

    /// Whether every role marker begins with a capital, an at sign or a number sign, or is not ASCII.
    #[inline]
    pub(crate) fn markers_begin_with_capitals(&self) -> bool {
        self.markers_begin_with_capitals
    }

    /// Whether no token and no role marker has a letter of Latin-1 beyond ASCII.
    #[inline]
    pub(crate) fn is_without_latin(&self) -> bool {
        self.is_without_latin
    }

    /// Whether some token begins with a bracket and another one, a brace, a comma, a quote or a backslash.
    #[inline]
    pub(crate) fn opens_like_json(&self) -> bool {
        self.seconds.are_like_json()
    }

    /// Whether some literal may stand in a text in which nothing looks suspicious.
    pub(crate) fn has_plain_literals(&self) -> bool {
        self.anywhere.iter().any(|literal| literal.ascii)
    }

    /// Whether a token may begin in a text, as the end of a block.
    pub(crate) fn may_begin_in(&self, text: &str) -> bool {
        let triage = Triage::scan(text);
        triage.exotic || triage.openers || self.anywhere.iter().any(|literal| literal.ascii)
    }

    /// All hits, by kind and not in order. They may overlap. Returns the steps made.
    pub(crate) fn find(&self, view: &View<'_>, mut sink: impl FnMut(Hit)) -> u64 {
        let bytes = view.text().as_bytes();
        let mut steps = bytes.len() as u64;
        for start in memchr::memchr3_iter(b'<', b'[', b']', bytes) {
            let rest = bytes.get(start..).unwrap_or_default();
            if self.seconds.has(rest) {
                steps += self.opener(start, rest, &mut sink);
            }
        }
        steps += self.role_markers(bytes, &mut sink);
        let folded = view.is_folded();
        let searched = self
            .anywhere
            .iter()
            .filter(|literal| literal.ascii || folded);
        for literal in searched {
            steps += bytes.len() as u64;
            for start in literal.finder.find_iter(bytes) {
                sink(Hit::new(
                    start,
                    literal.length,
                    HitKind::Token(literal.label),
                ));
            }
        }
        steps
    }

    /// Hits that begin at an opener.
    fn opener(&self, start: usize, rest: &[u8], sink: &mut impl FnMut(Hit)) -> u64 {
        let mut best: Option<(usize, Label)> = None;
        let mut steps = self.opened.find_prefixes(rest, |length, values| {
            if let Some(label) = self.literal(rest, length, values) {
                best = Some(prefer(best, (length, label)));
            }
        });
        if rest.first() == Some(&b'<') {
            if let Some(length) = shape::boundary_len(rest, &mut steps) {
                sink(Hit::new(start, length, HitKind::Boundary));
            }
            if let Some(length) = shape::bar_token_len(rest, &mut steps) {
                // A listed token of that length has a better name than the shape.
                best = best
                    .filter(|(listed, label)| !label.lookalike && *listed >= length)
                    .or(Some((length, self.generic)));
            }
        }
        if let Some((length, label)) = best {
            sink(Hit::new(start, length, HitKind::Token(label)));
        }
        steps
    }

    /// Role markers at block start and after blank lines.
    fn role_markers(&self, bytes: &[u8], sink: &mut impl FnMut(Hit)) -> u64 {
        let mut steps = bytes.len() as u64;
        self.anchors.for_each(bytes, |start| {
            let rest = bytes.get(start..).unwrap_or_default();
            let mut best = None;
            steps += self.anchored.find_prefixes(rest, |length, values| {
                let found = self.literal(rest, length, values);
                best = found.map(|label| (length, label)).or(best);
            });
            if let Some((length, label)) = best {
                sink(Hit::new(start, length, HitKind::Token(label)));
            }
        });
        steps
    }

    /// The literal of `length` bytes at the start of `rest`: exact if there is one, else a look-alike.
    fn literal(&self, rest: &[u8], length: usize, values: &[u32]) -> Option<Label> {
        let seen = rest.get(..length)?;
        let of = |value: &u32| self.literals.get(*value as usize);
        let exact = values
            .iter()
            .filter_map(of)
            .find(|(text, _)| text.as_bytes() == seen);
        match exact {
            Some((_, label)) => Some(*label),
            None => values.iter().find_map(of)?.1.lookalike(),
        }
    }
}

impl Hit {
    fn new(start: usize, length: usize, kind: HitKind) -> Self {
        let end = start + length;
        Self { start, end, kind }
    }
}

impl FreeLiteral {
    fn new(text: &str, label: Label, ascii: bool) -> Self {
        Self {
            finder: Finder::new(text).into_owned(),
            label,
            length: text.len(),
            ascii,
        }
    }
}

/// The tokens that pass a test, under their number in the table.
fn trie(tokens: &Tokens, test: impl Fn(&Token) -> bool) -> Trie {
    let numbered = (0..).zip(tokens.iter());
    Trie::new(
        numbered
            .filter(|(_, token)| test(token))
            .map(|(index, token)| (token.text.as_str(), index)),
    )
}

/// The longest literal that is acted on, else the longest exact one, else the longest.
fn prefer(best: Option<(usize, Label)>, new: (usize, Label)) -> (usize, Label) {
    let rank = |(length, label): (usize, Label)| (label.acted_on, !label.lookalike, length);
    match best {
        Some(best) if rank(best) > rank(new) => best,
        _ => new,
    }
}

#[cfg(test)]
mod tests;
