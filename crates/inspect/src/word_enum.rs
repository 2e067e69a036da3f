//! Enums whose members are words in configuration, flags, queries and records. Parsing is strict: a word outside the
//! set is an error that lists the set and the nearest member.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};

use crate::nearest::nearest_word;

/// A word that is not in the set it was meant for. Displays the allowed words and the nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    word: String,
    allowed: &'static [&'static str],
    what: &'static str,
}

impl UnknownWord {
    /// The error for a word outside `allowed`. `what` says what the words of the set are: `value`, `key`, `status`.
    pub fn new(what: &'static str, word: &str, allowed: &'static [&'static str]) -> Self {
        // The word comes from a file someone typed; keep the message one readable line.
        let word = word.chars().filter(|c| !c.is_control()).take(64).collect();
        Self {
            word,
            allowed,
            what,
        }
    }

    /// The words that would have been accepted.
    pub fn allowed(&self) -> &'static [&'static str] {
        self.allowed
    }

    /// The accepted word closest to what was written, if any is close.
    pub fn nearest(&self) -> Option<&'static str> {
        nearest_word(&self.word, self.allowed.iter().copied())
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, what, .. } = self;
        // Keys and values are quoted as they are in a configuration file.
        let quote = match *what {
            "key" | "value" => '"',
            _ => '`',
        };
        let allowed = self.allowed.join(", ");
        write!(f, "unknown {what} {quote}{word}{quote}; allowed: {allowed}")?;
        match self.nearest() {
            Some(nearest) => write!(f, "; did you mean {quote}{nearest}{quote}?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownWord {}

/// Reads a member of a set from its word, without a copy. For [`word_enum!`](crate::word_enum!).
#[doc(hidden)]
pub fn deserialize_word<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr<Err = UnknownWord>,
    D: Deserializer<'de>,
{
    from.deserialize_str(WordVisitor(PhantomData))
}

struct WordVisitor<T>(PhantomData<T>);

impl<T: FromStr<Err = UnknownWord>> Visitor<'_> for WordVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<T, E> {
        word.parse().map_err(E::custom)
    }
}

/// Declares an enum whose members are spelt as given, with `ALL`, `WORDS`, `as_str`, `Display`, `FromStr` and serde in
/// both directions, every one strict. In parentheses stands what an error calls such a word; `value` if nothing does.
///
/// ```
/// countersign_inspect::word_enum! {
///     /// How a thing is written.
///     pub enum Format("format") {
///         /// One JSON object a line.
///         Jsonl = "jsonl",
///         /// Comma-separated values.
///         Csv = "csv",
///     }
/// }
/// let wrong = "xml".parse::<Format>().unwrap_err();
/// assert_eq!(wrong.to_string(), "unknown format `xml`; allowed: jsonl, csv");
/// ```
#[macro_export]
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident($what:literal) {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every member, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Every accepted word, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word used in configuration, JSON and records.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::UnknownWord::new($what, word, Self::WORDS)),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::deserialize_word(from)
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident { $($members:tt)+ }) => {
        $crate::word_enum! { $(#[$meta])* pub enum $name("value") { $($members)+ } }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named_only_when_it_is_near() {
        const MODES: &[&str] = &["off", "warn", "strict"];
        let near = UnknownWord::new("value", "Strcit", MODES);
        assert_eq!(
            near.to_string(),
            "unknown value \"Strcit\"; allowed: off, warn, strict; did you mean \"strict\"?"
        );
        let far = UnknownWord::new("value", "enforcing", MODES);
        assert_eq!(
            far.to_string(),
            "unknown value \"enforcing\"; allowed: off, warn, strict"
        );
        assert_eq!(far.nearest(), None);
    }

    #[test]
    fn a_message_stays_one_short_line() {
        let noisy = UnknownWord::new("value", &"\n\u{1b}x".repeat(500), &["off"]);
        let text = noisy.to_string();
        assert!(text.len() < 120 && !text.contains(char::is_control));
    }
}
