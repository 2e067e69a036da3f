//! What a token is called and whether the settings act on it: the table of classes and modes in one place.

use crate::chars::Chars;
use crate::edit::{BOUNDARY_PLACEHOLDER, TOKEN_PLACEHOLDER};
use crate::error::{Error, Kind};
use crate::finding::Severity;
use crate::settings::{Mode, OnToken, Settings};
use crate::tokens::{Class, Token, Tokens};

const MAX_EXTRA: usize = 256;
const MAX_EXTRA_BYTES: usize = 256;

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

impl Label {
    /// The label of a shape or a configured marker: no list is asked, only the settings.
    pub(crate) fn special(
        family: u16,
        class: &'static str,
        severity: Severity,
        settings: &Settings,
    ) -> Self {
        Self {
            family,
            class,
            severity,
            acted_on: settings.on_token != OnToken::Report,
            lookalike: false,
        }
    }

    /// The label of a literal, given the families the settings name.
    pub(crate) fn literal(token: &Token, named: u128, settings: &Settings) -> Self {
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
        Self {
            family: u16::try_from(families.trailing_zeros()).unwrap_or_default(),
            class: token.class.as_str(),
            severity: if counts {
                Severity::Attack
            } else {
                Severity::Info
            },
            acted_on: counts && settings.on_token != OnToken::Report,
            lookalike: false,
        }
    }

    /// The label of a case variant; nothing for classes where case variants are ordinary text.
    pub(crate) fn lookalike(self) -> Option<Self> {
        matches!(self.class, "A" | "B" | "C").then_some(Self {
            severity: Severity::Info,
            acted_on: false,
            lookalike: true,
            ..self
        })
    }
}

/// Bits of the families the settings name.
pub(crate) fn named_families(tokens: &Tokens, settings: &Settings) -> Result<u128, Error> {
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

/// The configured markers in their match-view form.
pub(crate) fn extra_tokens(settings: &Settings) -> Result<Vec<String>, Error> {
    if let Some(token) = settings.extra_tokens.get(MAX_EXTRA) {
        return Err(refused(token, "is one too many: 256 are allowed"));
    }
    settings
        .extra_tokens
        .iter()
        .map(|token| extra_token(token))
        .collect()
}

fn extra_token(token: &str) -> Result<String, Error> {
    let folded = Chars::shared().fold_text(token);
    let placeholders = [TOKEN_PLACEHOLDER, BOUNDARY_PLACEHOLDER];
    if folded.trim().chars().count() < 2 {
        Err(refused(token, "has fewer than two visible characters"))
    } else if folded.len() > MAX_EXTRA_BYTES {
        Err(refused(token, "is longer than 256 bytes"))
    } else if folded.contains("(removed:") || placeholders.iter().any(|text| text.contains(&folded))
    {
        Err(refused(token, "would match the placeholder"))
    } else {
        Ok(folded)
    }
}

fn refused(token: &str, why: &'static str) -> Error {
    let token = token.chars().take(64).collect();
    Error::new(Kind::ExtraToken { token, why })
}
