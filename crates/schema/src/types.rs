//! Sets of JSON types.

use std::fmt;

use countersign_tape::Kind;

/// A set of the seven type names of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

const NAMES: [(&str, u8); 7] = [
    ("null", 1),
    ("boolean", 2),
    ("object", 4),
    ("array", 8),
    ("number", 16),
    ("string", 32),
    ("integer", 64),
];

impl TypeSet {
    pub(crate) const ANY: TypeSet = TypeSet(0x7f);
    pub(crate) const EMPTY: TypeSet = TypeSet(0);
    pub(crate) const INTEGER: TypeSet = TypeSet(64);

    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, bit)| Self(*bit))
    }

    /// The type of an instance. A number counts as `number` here; whether it is an integer takes its text.
    #[inline]
    pub(crate) fn of(kind: Kind) -> Self {
        Self(match kind {
            Kind::Null => 1,
            Kind::False | Kind::True => 2,
            Kind::Object => 4,
            Kind::Array => 8,
            Kind::Number => 16,
            Kind::String | Kind::Key => 32,
        })
    }

    #[inline]
    pub(crate) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The type name of an instance, as messages give it.
pub(crate) fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::False | Kind::True => "boolean",
        Kind::Object => "object",
        Kind::Array => "array",
        Kind::Number => "number",
        Kind::String | Kind::Key => "string",
    }
}

impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (name, bit) in NAMES {
            if self.0 & bit != 0 {
                write!(f, "{separator}{name}")?;
                separator = " or ";
            }
        }
        Ok(())
    }
}
