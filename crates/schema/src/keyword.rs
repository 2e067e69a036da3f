//! The keywords of the supported dialects, as one closed set.

macro_rules! keywords {
    ($($variant:ident = $text:literal),* $(,)?) => {
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
        }
    };
}

keywords! {
    Schema = "$schema", Id = "$id", Anchor = "$anchor", DynamicAnchor = "$dynamicAnchor",
    RecursiveAnchor = "$recursiveAnchor", Ref = "$ref", DynamicRef = "$dynamicRef", RecursiveRef = "$recursiveRef",
    Vocabulary = "$vocabulary", Defs = "$defs", Definitions = "definitions",
    Type = "type", Enum = "enum", Const = "const",
    MultipleOf = "multipleOf", Maximum = "maximum", ExclusiveMaximum = "exclusiveMaximum", Minimum = "minimum",
    ExclusiveMinimum = "exclusiveMinimum",
    MaxLength = "maxLength", MinLength = "minLength", Pattern = "pattern", Format = "format",
    MaxItems = "maxItems", MinItems = "minItems", UniqueItems = "uniqueItems",
    MaxContains = "maxContains", MinContains = "minContains",
    MaxProperties = "maxProperties", MinProperties = "minProperties", Required = "required",
    DependentRequired = "dependentRequired", Dependencies = "dependencies", DependentSchemas = "dependentSchemas",
    PrefixItems = "prefixItems", Items = "items", AdditionalItems = "additionalItems", Contains = "contains",
    UnevaluatedItems = "unevaluatedItems",
    Properties = "properties", PatternProperties = "patternProperties",
    AdditionalProperties = "additionalProperties", PropertyNames = "propertyNames",
    UnevaluatedProperties = "unevaluatedProperties",
    AllOf = "allOf", AnyOf = "anyOf", OneOf = "oneOf", Not = "not", If = "if", Then = "then", Else = "else",
    ContentSchema = "contentSchema",
    FalseSchema = "false",
}
