//! Settings whose values are words.

use crate::reader::Reader;

/// A setting that is one of a set of words.
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// Every value, with its word.
    const ALL: &'static [(Self, &'static str)];
    /// Every word.
    const WORDS: &'static [&'static str];

    /// As the file writes it.
    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(value, _)| *value == self);
        found.map_or("", |(_, word)| word)
    }

    /// The value that the file writes like this.
    fn named(word: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, known)| *known == word);
        found.map(|(value, _)| *value)
    }
}

pub(crate) fn read_word<T: Words>(reader: &Reader<'_, '_>, node: u32) -> Option<T> {
    T::named(&reader.text(node))
}

/// Types whose values are words.
macro_rules! words {
    ($($type:ident { $($value:ident = $word:literal),+ })+) => {
        $(
            impl $crate::setting::Words for $type {
                const ALL: &'static [(Self, &'static str)] = &[$((Self::$value, $word)),+];
                const WORDS: &'static [&'static str] = &[$($word),+];
            }
        )+
        $crate::setting::plain! {
            $($type: $crate::setting::read_word, |value: &$type| $crate::setting::Words::word(*value);)+
        }
    };
}
pub(crate) use words;
