//! Words from a closed set, as configuration and flags spell them. Parsing is strict: a word
//! outside the set is an error that lists the set and the nearest member. Serves configuration
//! only; nothing here is used on a result.

use std::fmt;

use crate::nearest::nearest_word;

/// A word that is not in the set it was meant for. Displays the allowed words and the nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    word: String,
    allowed: &'static [&'static str],
    what: &'static str,
}

impl UnknownWord {
    /// The message for a value outside `allowed`.
    pub(crate) fn value(word: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(word, allowed, "value")
    }

    /// The message for a key outside `allowed`.
    pub(crate) fn key(word: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(word, allowed, "key")
    }

    fn new(word: &str, allowed: &'static [&'static str], what: &'static str) -> Self {
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
        write!(f, "unknown {} \"{}\"", self.what, self.word)?;
        for (index, word) in self.allowed.iter().enumerate() {
            let lead = if index == 0 { "; allowed: " } else { ", " };
            write!(f, "{lead}{word}")?;
        }
        match self.nearest() {
            Some(nearest) => write!(f, "; did you mean \"{nearest}\"?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownWord {}

/// Declares an enum whose variants are spelt as given, with `as_str`, `ALL`, `Display`,
/// `FromStr` and serde in both directions, every one strict.
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every accepted word, in order.
            pub const ALL: &'static [&'static str] = &[$($word),+];

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
            type Err = $crate::word_enum::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::word_enum::UnknownWord::value(word, Self::ALL)),
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
                let word = std::borrow::Cow::<'de, str>::deserialize(from)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use word_enum;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named_only_when_it_is_near() {
        const MODES: &[&str] = &["off", "warn", "strict"];
        let near = UnknownWord::value("Strcit", MODES);
        assert_eq!(
            near.to_string(),
            "unknown value \"Strcit\"; allowed: off, warn, strict; did you mean \"strict\"?"
        );
        let far = UnknownWord::value("enforcing", MODES);
        assert_eq!(
            far.to_string(),
            "unknown value \"enforcing\"; allowed: off, warn, strict"
        );
        assert_eq!(far.nearest(), None);
    }

    #[test]
    fn a_message_stays_one_short_line() {
        let noisy = UnknownWord::value(&"\n\u{1b}x".repeat(500), &["off"]);
        let text = noisy.to_string();
        assert!(text.len() < 120 && !text.contains(char::is_control));
    }
}
