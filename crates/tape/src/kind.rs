//! The kinds of JSON values, and how a node packs its kind and flags into one word.

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number, kept as text.
    Number,
    /// A string value.
    String,
    /// The name of an object member; its value is the next node.
    Key,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Whether a node of this kind has children.
    #[inline]
    pub const fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }

    /// The name of the JSON type; a member name is a string.
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::False | Self::True => "boolean",
            Self::Number => "number",
            Self::String | Self::Key => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

pub(crate) const ESCAPED: u32 = 1 << 3;
pub(crate) const NON_ASCII: u32 = 1 << 4;
pub(crate) const NOT_INTEGER: u32 = 1 << 5;
pub(crate) const LONE_SURROGATE: u32 = 1 << 6;
/// A key of fewer than eight bytes, which its tag tells from any other.
pub(crate) const SHORT: u32 = 1 << 7;
pub(crate) const FINGERPRINT_SHIFT: u32 = 8;
pub(crate) const COUNT_SHIFT: u32 = 3;
pub(crate) const KIND_MASK: u32 = 0b111;
