//! The keywords of the supported dialects, one row each: how it is spelt, its vocabulary, the dialects that know it, and
//! what its value holds. `$id`, `$schema` and the anchors are not here: they name a schema and are read where it is
//! indexed.

use std::ops::RangeInclusive;

use crate::dialect::Dialect;

/// A vocabulary whose keywords assert or apply something. Metadata and content only annotate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vocabulary {
    Core = 1,
    Applicator = 2,
    Unevaluated = 4,
    Validation = 8,
    FormatAssertion = 16,
    /// Of what is reported like a keyword, and is none.
    Never = 32,
}

/// What a keyword's value holds, for finding subschemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaLayout {
    Nothing,
    Schema,
    SchemaArray,
    SchemaMap,
    SchemaOrArray,
    /// A map whose values are schemas or arrays of names.
    Dependencies,
}

macro_rules! keywords {
    ($($variant:ident = $text:literal, $vocabulary:ident, $first:ident..=$last:ident, $holds:ident;)*) => {
        /// A keyword this crate understands in at least one dialect.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Keyword { $($variant),* }

        impl Keyword {
            pub(crate) const COUNT: usize = [$(Keyword::$variant),*].len();

            pub(crate) fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }

            pub(crate) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            pub(crate) fn vocabulary(self) -> Vocabulary {
                match self { $(Self::$variant => Vocabulary::$vocabulary),* }
            }

            /// The dialects that know it.
            pub(crate) fn dialects(self) -> RangeInclusive<Dialect> {
                match self { $(Self::$variant => Dialect::$first..=Dialect::$last),* }
            }

            /// The subschemas in its value.
            pub(crate) fn subschema_layout(self) -> SubschemaLayout {
                match self { $(Self::$variant => SubschemaLayout::$holds),* }
            }
        }
    };
}

keywords! {
    Ref = "$ref", Core, Draft4..=Draft202012, Nothing;
    DynamicRef = "$dynamicRef", Core, Draft202012..=Draft202012, Nothing;
    RecursiveRef = "$recursiveRef", Core, Draft201909..=Draft201909, Nothing;
    Defs = "$defs", Core, Draft201909..=Draft202012, SchemaMap;
    Definitions = "definitions", Core, Draft4..=Draft202012, SchemaMap;
    Type = "type", Validation, Draft4..=Draft202012, Nothing;
    Enum = "enum", Validation, Draft4..=Draft202012, Nothing;
    Const = "const", Validation, Draft6..=Draft202012, Nothing;
    MultipleOf = "multipleOf", Validation, Draft4..=Draft202012, Nothing;
    Maximum = "maximum", Validation, Draft4..=Draft202012, Nothing;
    ExclusiveMaximum = "exclusiveMaximum", Validation, Draft4..=Draft202012, Nothing;
    Minimum = "minimum", Validation, Draft4..=Draft202012, Nothing;
    ExclusiveMinimum = "exclusiveMinimum", Validation, Draft4..=Draft202012, Nothing;
    MaxLength = "maxLength", Validation, Draft4..=Draft202012, Nothing;
    MinLength = "minLength", Validation, Draft4..=Draft202012, Nothing;
    Pattern = "pattern", Validation, Draft4..=Draft202012, Nothing;
    Format = "format", FormatAssertion, Draft4..=Draft202012, Nothing;
    MaxItems = "maxItems", Validation, Draft4..=Draft202012, Nothing;
    MinItems = "minItems", Validation, Draft4..=Draft202012, Nothing;
    UniqueItems = "uniqueItems", Validation, Draft4..=Draft202012, Nothing;
    MaxContains = "maxContains", Validation, Draft201909..=Draft202012, Nothing;
    MinContains = "minContains", Validation, Draft201909..=Draft202012, Nothing;
    MaxProperties = "maxProperties", Validation, Draft4..=Draft202012, Nothing;
    MinProperties = "minProperties", Validation, Draft4..=Draft202012, Nothing;
    Required = "required", Validation, Draft4..=Draft202012, Nothing;
    DependentRequired = "dependentRequired", Validation, Draft201909..=Draft202012, Nothing;
    Dependencies = "dependencies", Applicator, Draft4..=Draft202012, Dependencies;
    DependentSchemas = "dependentSchemas", Applicator, Draft201909..=Draft202012, SchemaMap;
    PrefixItems = "prefixItems", Applicator, Draft202012..=Draft202012, SchemaArray;
    Items = "items", Applicator, Draft4..=Draft202012, SchemaOrArray;
    AdditionalItems = "additionalItems", Applicator, Draft4..=Draft201909, Schema;
    Contains = "contains", Applicator, Draft6..=Draft202012, Schema;
    UnevaluatedItems = "unevaluatedItems", Unevaluated, Draft201909..=Draft202012, Schema;
    Properties = "properties", Applicator, Draft4..=Draft202012, SchemaMap;
    PatternProperties = "patternProperties", Applicator, Draft4..=Draft202012, SchemaMap;
    AdditionalProperties = "additionalProperties", Applicator, Draft4..=Draft202012, Schema;
    PropertyNames = "propertyNames", Applicator, Draft6..=Draft202012, Schema;
    UnevaluatedProperties = "unevaluatedProperties", Unevaluated, Draft201909..=Draft202012, Schema;
    AllOf = "allOf", Applicator, Draft4..=Draft202012, SchemaArray;
    AnyOf = "anyOf", Applicator, Draft4..=Draft202012, SchemaArray;
    OneOf = "oneOf", Applicator, Draft4..=Draft202012, SchemaArray;
    Not = "not", Applicator, Draft4..=Draft202012, Schema;
    If = "if", Applicator, Draft7..=Draft202012, Schema;
    Then = "then", Applicator, Draft7..=Draft202012, Schema;
    Else = "else", Applicator, Draft7..=Draft202012, Schema;
    ContentSchema = "contentSchema", Core, Draft201909..=Draft202012, Schema;
    FalseSchema = "false", Never, Draft4..=Draft202012, Nothing;
}
