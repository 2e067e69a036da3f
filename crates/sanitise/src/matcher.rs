//! Finds control tokens, role markers and forged boundaries in a match view, and says which of them the settings
//! replace. Work is linear in the view. It changes nothing and never sees the text as received.

use std::fmt;

use memchr::memmem::Finder;

use crate::chars::Chars;
use crate::edit::{BOUNDARY_PLACEHOLDER, TOKEN_PLACEHOLDER};
use crate::error::{Error, Kind};
use crate::finding::Severity;
use crate::settings::{Mode, OnToken, Settings, Wrap};
use crate::shape;
use crate::tokens::{Class, Token, Tokens};
use crate::triage::Triage;
use crate::trie::Trie;

const MAX_EXTRA: usize = 256;
const MAX_EXTRA_BYTES: usize = 256;

/// A hit in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) what: What,
}

/// What was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Token(Label),
    Boundary,
}

/// What a token is and what is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// Index into the family names.
    pub(crate) family: u16,
    pub(crate) class: &'static str,
    pub(crate) severity: Severity,
    /// The settings want it out of the text (or the whole text refused).
    pub(crate) acted_on: bool,
    /// A case variant of a literal: tokenizers do not take it for the token.
    pub(crate) lookalike: bool,
}

/// A compiled token table under given settings.
pub(crate) struct Matcher {
    names: Vec<String>,
    literals: Vec<(String, Label)>,
    /// Literals that begin with one of the openers.
    opened: Trie,
    /// Role markers, tried at anchors only.
    anchored: Trie,
    /// Literals that begin otherwise, and configured ones.
    anywhere: Vec<Anywhere>,
    generic: Label,
    blank_line: Finder<'static>,
    blank_line_crlf: Finder<'static>,
    pub(crate) replaces_boundaries: bool,
}

#[derive(Debug)]
struct Anywhere {
    finder: Finder<'static>,
    label: Label,
    length: usize,
    /// May occur in plain ASCII text.
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
        let special = |names: &mut Vec<String>, name: &str| {
            names.push(name.to_owned());
            u16::try_from(names.len() - 1).unwrap_or(u16::MAX)
        };
        let label = |family, class, severity| Label {
            family,
            class,
            severity,
            acted_on: settings.on_token != OnToken::Report,
            lookalike: false,
        };
        let generic = label(special(&mut names, "generic"), "A", Severity::Violation);
        let extra = label(special(&mut names, "extra"), "extra", Severity::Attack);

        let literals: Vec<(String, Label)> = tokens
            .iter()
            .map(|token| (token.text.clone(), token_label(token, named, settings)))
            .collect();
        let numbered = |test: fn(&Token) -> bool| {
            Trie::new(
                (0..)
                    .zip(tokens.iter())
                    .filter(move |(_, token)| test(token))
                    .map(|(index, token)| (token.text.as_str(), index)),
            )
        };
        let mut anywhere: Vec<Anywhere> = tokens
            .iter()
            .filter(|token| token.class != Class::E && !is_opened(token))
            .map(|token| {
                Anywhere::new(
                    &token.text,
                    token_label(token, named, settings),
                    token.ascii,
                )
            })
            .collect();
        if settings.extra_tokens.len() > MAX_EXTRA {
            let why = "is one too many: 256 are allowed";
            let token = settings.extra_tokens.last().cloned().unwrap_or_default();
            return Err(Error::new(Kind::ExtraToken { token, why }));
        }
        for text in &settings.extra_tokens {
            anywhere.push(Anywhere::new(&extra_token(text)?, extra, true));
        }
        Ok(Self {
            names,
            opened: numbered(|token| token.class != Class::E && is_opened(token)),
            anchored: numbered(|token| token.class == Class::E),
            literals,
            anywhere,
            generic,
            blank_line: Finder::new("\n\n"),
            blank_line_crlf: Finder::new("\n\r\n"),
            replaces_boundaries: settings.wrap == Wrap::Delimit,
        })
    }

    /// Name of a family by its number.
    pub(crate) fn family(&self, index: u16) -> String {
        self.names
            .get(usize::from(index))
            .cloned()
            .unwrap_or_default()
    }

    /// Whether an ASCII text without openers has anything to find.
    pub(crate) fn may_hit_plain(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut hit = false;
        self.anchors(bytes, |_| hit = true);
        hit || self
            .anywhere
            .iter()
            .any(|literal| literal.ascii && literal.finder.find(bytes).is_some())
    }

    /// Whether a token may begin in a text, as the end of a block.
    pub(crate) fn may_begin_in(&self, text: &str) -> bool {
        let triage = Triage::of(text);
        triage.exotic || triage.openers || self.anywhere.iter().any(|literal| literal.ascii)
    }

    /// All hits, by kind and not in order. They may overlap. Returns the steps made.
    pub(crate) fn find(&self, view: &str, mut sink: impl FnMut(Hit)) -> u64 {
        let bytes = view.as_bytes();
        let mut steps = bytes.len() as u64;
        for start in memchr::memchr3_iter(b'<', b'[', b']', bytes) {
            let rest = bytes.get(start..).unwrap_or_default();
            steps += self.opener(start, rest, &mut sink);
        }
        steps += self.anchors(bytes, &mut sink);
        for literal in &self.anywhere {
            steps += bytes.len() as u64;
            for start in literal.finder.find_iter(bytes) {
                sink(Hit {
                    start,
                    end: start + literal.length,
                    what: What::Token(literal.label),
                });
            }
        }
        steps
    }

    /// Hits that begin at an opener.
    fn opener(&self, start: usize, rest: &[u8], sink: &mut impl FnMut(Hit)) -> u64 {
        let mut best: Option<(usize, Label)> = None;
        let mut steps = self.opened.at(rest, |length, values| {
            if let Some(label) = self.literal(rest, length, values) {
                best = Some(prefer(best, (length, label)));
            }
        });
        if rest.first() == Some(&b'<') {
            if let Some(length) = shape::boundary_len(rest, &mut steps) {
                sink(Hit {
                    start,
                    end: start + length,
                    what: What::Boundary,
                });
            }
            let shaped =
                shape::bar_token_len(rest, &mut steps).map(|length| (length, self.generic));
            best = match (best, shaped) {
                (Some((length, label)), Some((shaped_length, _)))
                    if !label.lookalike && length >= shaped_length =>
                {
                    Some((length, label))
                }
                (_, Some(shaped)) => Some(shaped),
                (best, None) => best,
            };
        }
        if let Some((length, label)) = best {
            sink(Hit {
                start,
                end: start + length,
                what: What::Token(label),
            });
        }
        steps
    }

    /// The literal of `length` bytes at the start of `rest`: exact if there is one, else a look-alike.
    fn literal(&self, rest: &[u8], length: usize, values: &[u32]) -> Option<Label> {
        let seen = rest.get(..length)?;
        let of = |value: &u32| self.literals.get(*value as usize);
        if let Some((_, label)) = values
            .iter()
            .filter_map(of)
            .find(|(text, _)| text.as_bytes() == seen)
        {
            return Some(*label);
        }
        let (_, label) = values.iter().find_map(of)?;
        matches!(label.class, "A" | "B" | "C").then_some(Label {
            severity: Severity::Info,
            acted_on: false,
            lookalike: true,
            ..*label
        })
    }

    /// Role markers at block start and after blank lines.
    fn anchors(&self, bytes: &[u8], mut sink: impl FnMut(Hit)) -> u64 {
        let mut steps = self.anchor(0, bytes, &mut sink);
        for finder in [&self.blank_line, &self.blank_line_crlf] {
            let mut at = 0;
            while let Some(found) = bytes.get(at..).and_then(|rest| finder.find(rest)) {
                let line_ends = bytes.get(at + found..).unwrap_or_default();
                let length = line_ends
                    .iter()
                    .take_while(|byte| matches!(byte, b'\n' | b'\r'))
                    .count();
                at += found + length;
                steps += length as u64;
                // Mixed line ends are found by both finders.
                let mixed = finder.needle() == b"\n\r\n"
                    && self
                        .blank_line
                        .find(line_ends.get(..length).unwrap_or_default())
                        .is_some();
                if !mixed {
                    steps += self.anchor(at, bytes, &mut sink);
                }
            }
        }
        steps
    }

    fn anchor(&self, start: usize, bytes: &[u8], sink: &mut impl FnMut(Hit)) -> u64 {
        let rest = bytes.get(start..).unwrap_or_default();
        let mut best = None;
        let steps = self.anchored.at(rest, |length, values| {
            best = self
                .literal(rest, length, values)
                .map(|label| (length, label))
                .or(best);
        });
        if let Some((length, label)) = best {
            sink(Hit {
                start,
                end: start + length,
                what: What::Token(label),
            });
        }
        steps
    }
}

impl Anywhere {
    fn new(text: &str, label: Label, ascii: bool) -> Self {
        Self {
            finder: Finder::new(text).into_owned(),
            label,
            length: text.len(),
            ascii,
        }
    }
}

fn is_opened(token: &Token) -> bool {
    token.text.starts_with(['<', '[', ']'])
}

/// The longest literal that is acted on, else the longest exact one, else the longest.
fn prefer(best: Option<(usize, Label)>, new: (usize, Label)) -> (usize, Label) {
    let rank = |(length, label): (usize, Label)| (label.acted_on, !label.lookalike, length);
    match best {
        Some(best) if rank(best) > rank(new) => best,
        _ => new,
    }
}

fn token_label(token: &Token, named: u128, settings: &Settings) -> Label {
    let is_named = token.families & named != 0;
    let counts = match token.class {
        Class::A | Class::B | Class::C => true,
        Class::AmbiguousC => is_named,
        Class::D | Class::E => is_named && settings.mode == Mode::Full,
    };
    let families = if is_named {
        token.families & named
    } else {
        token.families
    };
    Label {
        family: u16::try_from(families.trailing_zeros()).unwrap_or_default(),
        class: token.class.name(),
        severity: if counts {
            Severity::Attack
        } else {
            Severity::Info
        },
        acted_on: counts && settings.on_token != OnToken::Report,
        lookalike: false,
    }
}

fn named_families(tokens: &Tokens, settings: &Settings) -> Result<u128, Error> {
    let mut named = 0;
    for family in settings.families.iter().filter(|family| *family != "all") {
        match tokens.bits([family.as_str()]) {
            0 => {
                return Err(Error::new(Kind::UnknownFamily {
                    family: family.chars().take(64).collect(),
                    allowed: tokens.families().collect::<Vec<_>>().join(", "),
                }));
            }
            bit => named |= bit,
        }
    }
    Ok(named)
}

/// A configured marker in its match-view form.
fn extra_token(text: &str) -> Result<String, Error> {
    let refuse = |why| {
        let token = text.chars().take(64).collect();
        Error::new(Kind::ExtraToken { token, why })
    };
    let folded = Chars::shared().fold_text(text);
    if folded.trim().chars().count() < 2 {
        return Err(refuse("has fewer than two visible characters"));
    }
    if folded.len() > MAX_EXTRA_BYTES {
        return Err(refuse("is longer than 256 bytes"));
    }
    let placeholders = [TOKEN_PLACEHOLDER, BOUNDARY_PLACEHOLDER];
    if folded.contains("(removed:")
        || placeholders
            .iter()
            .any(|placeholder| placeholder.contains(&folded))
    {
        return Err(refuse("would match the placeholder"));
    }
    Ok(folded)
}

#[cfg(test)]
mod tests;
