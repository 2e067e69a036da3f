//! Dialects and vocabularies: which keywords a subschema understands.
//!
//! A dialect is chosen by `$schema`; a vocabulary set can be narrowed by a custom metaschema's `$vocabulary`. What is
//! not in the set is an annotation and asserts nothing.

use crate::keyword::Keyword;
use crate::uri;

/// A published JSON Schema dialect. The older is the smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Dialect {
    /// Draft-04, which Swagger-era tooling still declares.
    Draft4,
    /// Draft-06.
    Draft6,
    /// Draft-07, which most servers built on older SDKs declare.
    Draft7,
    /// 2019-09.
    Draft201909,
    /// 2020-12, the dialect of a schema that names none.
    Draft202012,
}

impl Dialect {
    /// The dialect a `$schema` URI names. `http` and `https` are the same, and so is an empty fragment.
    pub(crate) fn from_uri(uri: &str) -> Option<Self> {
        let path = uri::normalise(uri);
        let path = path
            .strip_prefix("https://")
            .or_else(|| path.strip_prefix("http://"))?;
        match path {
            "json-schema.org/draft/2020-12/schema" => Some(Self::Draft202012),
            "json-schema.org/draft/2019-09/schema" => Some(Self::Draft201909),
            "json-schema.org/draft-07/schema" => Some(Self::Draft7),
            "json-schema.org/draft-06/schema" => Some(Self::Draft6),
            "json-schema.org/draft-04/schema" => Some(Self::Draft4),
            _ => None,
        }
    }

    /// The dialect's usual short name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft4 => "draft-04",
            Self::Draft6 => "draft-06",
            Self::Draft7 => "draft-07",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        }
    }

    /// Whether `$ref` hides every keyword beside it: true up to draft-07.
    pub fn reference_masks_siblings(self) -> bool {
        self <= Self::Draft7
    }

    /// The keyword that gives a schema its URI.
    pub fn id_keyword(self) -> &'static str {
        match self {
            Self::Draft4 => "id",
            _ => "$id",
        }
    }

    /// Whether the dialect defines a format of this name. A dialect may be used with formats of later ones; the drafts
    /// before 7 are held to their own, since a schema written for them may use another name as it likes.
    pub fn defines_format(self, name: &str) -> bool {
        const DRAFT_4: [&str; 6] = ["date-time", "email", "hostname", "ipv4", "ipv6", "uri"];
        const DRAFT_6: [&str; 3] = ["json-pointer", "uri-reference", "uri-template"];
        match self {
            Self::Draft4 => DRAFT_4.contains(&name),
            Self::Draft6 => DRAFT_4.contains(&name) || DRAFT_6.contains(&name),
            _ => true,
        }
    }
}

/// A dialect together with the vocabularies in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) dialect: Dialect,
    vocabularies: u8,
}

/// A vocabulary whose keywords assert or apply something. Metadata and content only annotate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vocabulary {
    Applicator = 1,
    Unevaluated = 2,
    Validation = 4,
    FormatAssertion = 8,
}

impl Rules {
    /// All vocabularies of the dialect, formats as annotations.
    pub(crate) fn from_dialect(dialect: Dialect) -> Self {
        let rules = Self {
            dialect,
            vocabularies: 0,
        };
        rules
            .with(Vocabulary::Applicator)
            .with(Vocabulary::Unevaluated)
            .with(Vocabulary::Validation)
    }

    /// The core vocabulary alone.
    pub(crate) fn core(dialect: Dialect) -> Self {
        Self {
            dialect,
            vocabularies: 0,
        }
    }

    pub(crate) fn with(self, vocabulary: Vocabulary) -> Self {
        Self {
            vocabularies: self.vocabularies | vocabulary as u8,
            ..self
        }
    }

    pub(crate) fn has(self, vocabulary: Vocabulary) -> bool {
        self.vocabularies & vocabulary as u8 != 0
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
}

/// What a keyword's value holds, for finding subschemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Schema,
    SchemaArray,
    SchemaMap,
    SchemaOrArray,
    /// A map whose values are schemas or arrays of names.
    Dependencies,
}

impl Rules {
    /// Whether a keyword means anything under these rules.
    pub(crate) fn knows(self, keyword: Keyword) -> bool {
        use Keyword as K;
        let since = |dialect| self.dialect >= dialect;
        let later = since(Dialect::Draft201909);
        let modern = since(Dialect::Draft202012);
        match keyword {
            K::FalseSchema => false,
            K::Schema | K::Ref | K::Definitions => true,
            K::Id => since(Dialect::Draft6),
            K::Anchor | K::Vocabulary | K::Defs | K::ContentSchema => later,
            K::DynamicAnchor | K::DynamicRef => modern,
            K::RecursiveAnchor | K::RecursiveRef => self.dialect == Dialect::Draft201909,
            K::UnevaluatedItems | K::UnevaluatedProperties => {
                later && self.has(Vocabulary::Unevaluated)
            }
            K::MaxContains | K::MinContains | K::DependentRequired => {
                later && self.has(Vocabulary::Validation)
            }
            K::Const => since(Dialect::Draft6) && self.has(Vocabulary::Validation),
            K::Type
            | K::Enum
            | K::MultipleOf
            | K::Maximum
            | K::ExclusiveMaximum
            | K::Minimum
            | K::ExclusiveMinimum
            | K::MaxLength
            | K::MinLength
            | K::Pattern
            | K::MaxItems
            | K::MinItems
            | K::UniqueItems
            | K::MaxProperties
            | K::MinProperties
            | K::Required => self.has(Vocabulary::Validation),
            K::Format => self.has(Vocabulary::FormatAssertion),
            K::DependentSchemas => later && self.has(Vocabulary::Applicator),
            K::PrefixItems => modern && self.has(Vocabulary::Applicator),
            K::AdditionalItems => !modern && self.has(Vocabulary::Applicator),
            K::Contains | K::PropertyNames => {
                since(Dialect::Draft6) && self.has(Vocabulary::Applicator)
            }
            K::If | K::Then | K::Else => since(Dialect::Draft7) && self.has(Vocabulary::Applicator),
            K::Dependencies
            | K::Items
            | K::Properties
            | K::PatternProperties
            | K::AdditionalProperties
            | K::AllOf
            | K::AnyOf
            | K::OneOf
            | K::Not => self.has(Vocabulary::Applicator),
        }
    }

    /// The subschemas a known keyword holds; `None` when it holds none.
    pub(crate) fn holds(self, keyword: Keyword) -> Option<Holds> {
        use Keyword as K;
        match keyword {
            K::Definitions
            | K::Defs
            | K::Properties
            | K::PatternProperties
            | K::DependentSchemas => Some(Holds::SchemaMap),
            K::AllOf | K::AnyOf | K::OneOf | K::PrefixItems => Some(Holds::SchemaArray),
            K::Items if self.dialect != Dialect::Draft202012 => Some(Holds::SchemaOrArray),
            K::Items
            | K::AdditionalItems
            | K::Contains
            | K::UnevaluatedItems
            | K::AdditionalProperties
            | K::PropertyNames
            | K::UnevaluatedProperties
            | K::Not
            | K::If
            | K::Then
            | K::Else
            | K::ContentSchema => Some(Holds::Schema),
            K::Dependencies => Some(Holds::Dependencies),
            _ => None,
        }
    }
}
