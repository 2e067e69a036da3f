//! Sets of JSON types.

use std::fmt;

use countersign_tape::{Kind, Node};

/// A set of the seven type names of JSON Schema: one bit per kind of tape node, and one for `integer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeSet(u16);

const fn kinds(kinds: &[Kind]) -> u16 {
    let mut bits = 0;
    let mut rest = kinds;
    while let [kind, tail @ ..] = rest {
        bits |= 1 << *kind as u16;
        rest = tail;
    }
    bits
}

const INTEGER: u16 = Node::INTEGER_BIT;

/// The bits of a kind; integers go with numbers.
const fn bits_of(kind: Kind) -> u16 {
    let integer = match kind {
        Kind::Number => INTEGER,
        _ => 0,
    };
    1 << kind as u16 | integer
}

const NAMES: [(&str, u16); 7] = [
    ("null", kinds(&[Kind::Null])),
    ("boolean", kinds(&[Kind::False, Kind::True])),
    ("object", kinds(&[Kind::Object])),
    ("array", kinds(&[Kind::Array])),
    ("number", kinds(&[Kind::Number])),
    ("string", kinds(&[Kind::String, Kind::Key])),
    ("integer", INTEGER),
];

impl TypeSet {
    pub(crate) const ANY: TypeSet = TypeSet(0x1ff);
    pub(crate) const EMPTY: TypeSet = TypeSet(0);

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, bits)| Self(*bits))
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// Whether every value of this kind is in the set. A number in a set of integers takes its text to decide.
    #[inline]
    pub(crate) fn admits(self, kind: Kind) -> bool {
        self.0 >> kind as u16 & 1 == 1
    }

    /// Whether this value is in the set for sure. An integer that is not written as one takes its text to decide.
    #[inline]
    pub(crate) fn admits_value(self, value: Node) -> bool {
        self.0 & value.kind_bits() != 0
    }

    #[inline]
    pub(crate) fn admits_integers(self) -> bool {
        self.0 & INTEGER != 0
    }

    /// The set without a kind of value; integers go with numbers.
    #[must_use]
    pub(crate) fn without(self, kind: Kind) -> Self {
        Self(self.0 & !bits_of(kind))
    }

    /// The kind of value in the set, integers with numbers.
    #[must_use]
    pub(crate) fn only(self, kind: Kind) -> Self {
        Self(self.0 & bits_of(kind))
    }

    /// The containers in the set.
    #[must_use]
    pub(crate) fn containers(self) -> Self {
        Self(self.0 & kinds(&[Kind::Object, Kind::Array]))
    }

    #[must_use]
    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (name, bits) in NAMES {
            if self.0 & bits != 0 {
                write!(f, "{separator}{name}")?;
                separator = " or ";
            }
        }
        Ok(())
    }
}
