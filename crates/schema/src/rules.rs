//! Which keywords a subschema understands: its dialect and the vocabularies in force.
//!
//! A custom metaschema's `$vocabulary` can narrow the vocabularies. A keyword outside them is an annotation and asserts
//! nothing.

use crate::dialect::Dialect;
use crate::keyword::{Keyword, SubschemaLayout, Vocabulary};

/// A dialect together with the vocabularies in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) dialect: Dialect,
    vocabularies: u8,
}

impl Rules {
    /// All vocabularies of the dialect, formats as annotations.
    pub(crate) fn from_dialect(dialect: Dialect) -> Self {
        Self::core(dialect)
            .with(Vocabulary::Applicator)
            .with(Vocabulary::Unevaluated)
            .with(Vocabulary::Validation)
    }

    /// The core vocabulary alone.
    pub(crate) fn core(dialect: Dialect) -> Self {
        Self {
            dialect,
            vocabularies: Vocabulary::Core as u8,
        }
    }

    pub(crate) fn with(self, vocabulary: Vocabulary) -> Self {
        Self {
            vocabularies: self.vocabularies | vocabulary as u8,
            ..self
        }
    }

    /// Adds the vocabulary a URI names. `None`: not a vocabulary of this crate.
    pub(crate) fn with_uri(self, uri: &str) -> Option<Self> {
        let (dialect, name) = uri
            .strip_prefix("https://json-schema.org/draft/")?
            .split_once("/vocab/")?;
        if !matches!(dialect, "2020-12" | "2019-09") {
            return None;
        }
        match name {
            // 2019-09 kept the `unevaluated*` keywords in its applicator vocabulary.
            "applicator" if dialect == "2019-09" => Some(
                self.with(Vocabulary::Applicator)
                    .with(Vocabulary::Unevaluated),
            ),
            "applicator" => Some(self.with(Vocabulary::Applicator)),
            "unevaluated" => Some(self.with(Vocabulary::Unevaluated)),
            "validation" => Some(self.with(Vocabulary::Validation)),
            "format-assertion" => Some(self.with(Vocabulary::FormatAssertion)),
            "core" | "meta-data" | "format" | "format-annotation" | "content" => Some(self),
            _ => None,
        }
    }

    /// Whether a keyword means anything under these rules.
    pub(crate) fn knows(self, keyword: Keyword) -> bool {
        keyword.dialects().contains(&self.dialect)
            && self.vocabularies & keyword.vocabulary() as u8 != 0
    }

    /// The subschemas in the value of a known keyword. Since 2020-12 `items` is one schema.
    pub(crate) fn subschema_layout(self, keyword: Keyword) -> SubschemaLayout {
        match keyword {
            Keyword::Items if self.dialect == Dialect::Draft202012 => SubschemaLayout::Schema,
            keyword => keyword.subschema_layout(),
        }
    }
}
