//! How close to the wire a verdict was made.

/// What was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// The bytes as received.
    #[default]
    Bytes,
    /// A parsed value, written again: repeated keys, digits and spelling are lost before.
    Value,
}

impl Fidelity {
    /// The fidelity of a verdict about a value, or about bytes.
    pub const fn new(is_value: bool) -> Self {
        if is_value { Self::Value } else { Self::Bytes }
    }

    /// The word in verdicts and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Value => "value",
        }
    }
}
