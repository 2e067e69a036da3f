//! The resolved keys of `output_sanitisation`. Plain values: no file is parsed here, and the caller has merged the
//! global, server and tool levels before.

use crate::error::{Error, Kind};
use crate::named_enum::named_enum;

/// A closed set of words that a configuration key may take.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $key:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        named_enum! {
            $(#[$doc])*
            pub enum $name { $($(#[$variant_doc])* $variant = $word,)+ }
        }

        impl $name {
            /// Every word [`parse`](Self::parse) accepts, in the order of the documentation.
            pub const ALLOWED: &'static [&'static str] = &[$($word),+];

            /// The value a configuration word stands for.
            pub fn parse(word: &str) -> Result<Self, Error> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Error::new(Kind::UnknownWord {
                        key: $key,
                        word: word.chars().take(64).collect(),
                        allowed: Self::ALLOWED,
                    })),
                }
            }
        }
    };
}

words! {
    /// How far sanitising goes; chooses the defaults of all other keys.
    Mode, "mode" {
        /// Text is not looked at.
        Off = "off",
        /// Findings, no change.
        Detect = "detect",
        /// Hits and hidden characters are changed, the rest is byte-identical.
        Clean = "clean",
        /// The whole mitigation: NFKC, every invisible character, a ceiling, a wrapper.
        Full = "full",
    }
}

words! {
    /// Normalisation of what leaves. Matching is always done on a folded view.
    Normalisation, "normalisation" {
        /// As received.
        Preserve = "preserve",
        /// Canonical composition.
        Nfc = "nfc",
        /// Compatibility composition: changes source code and CJK punctuation.
        Nfkc = "nfkc",
    }
}

words! {
    /// What happens to invisible and format characters.
    Invisibles, "invisibles" {
        /// Reported only.
        Report = "report",
        /// Removed, except where a script or an emoji sequence needs them.
        LocaleSafe = "locale-safe",
        /// Removed without exception.
        Strict = "strict",
    }
}

words! {
    /// What happens to control tokens.
    OnToken, "on_token" {
        /// Reported only.
        Report = "report",
        /// Replaced by a visible placeholder.
        Replace = "replace",
        /// The whole result is to be refused.
        Block = "block",
    }
}

words! {
    /// Whether clean text is put between boundaries.
    Wrap, "wrap" {
        /// No boundary.
        None = "none",
        /// A nonce boundary with server and tool attribution.
        Delimit = "delimit",
    }
}

words! {
    /// What a hit inside `structuredContent` leads to. Applied by the caller.
    Structured, "structured" {
        /// Reported, bytes unchanged.
        Report = "report",
        /// The result is refused.
        Block = "block",
        /// Strings with a hit of severity attack are cleaned, and the value is held to its schema again.
        Rewrite = "rewrite",
    }
}

words! {
    /// What happens to the JSON text twin of `structuredContent`. Applied by the caller.
    MirrorText, "mirror_text" {
        /// Left alone when it has no hit.
        Keep = "keep",
        /// Wrapped like any other text.
        Wrap = "wrap",
    }
}

words! {
    /// Where the boundary nonce comes from. Drawn by the caller.
    NonceSource, "nonce" {
        /// Fresh randomness for each result.
        Random = "random",
        /// A keyed hash of the content, so that prompt caches still hit.
        Keyed = "keyed",
    }
}

/// Resolved settings of one server or tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The mode the defaults came from. Decides about D and E tokens of named families.
    pub mode: Mode,
    /// Normalisation of what leaves.
    pub normalisation: Normalisation,
    /// Invisible and format characters.
    pub invisibles: Invisibles,
    /// Control tokens.
    pub on_token: OnToken,
    /// Boundary around clean text.
    pub wrap: Wrap,
    /// Hits inside `structuredContent`.
    pub structured: Structured,
    /// Hard ceiling of one text, in characters.
    pub max_text_chars: Option<usize>,
    /// Families whose ambiguous tokens and role markers count; `all` adds nothing.
    pub families: Vec<String>,
    /// Markers of the deployment itself, matched anywhere, exact case.
    pub extra_tokens: Vec<String>,
    /// The JSON text twin of `structuredContent`.
    pub mirror_text: MirrorText,
    /// Where the boundary nonce comes from.
    pub nonce: NonceSource,
}

impl Settings {
    /// The column of the configuration table for a mode.
    pub fn for_mode(mode: Mode) -> Self {
        let reading = Self {
            mode,
            normalisation: Normalisation::Preserve,
            invisibles: Invisibles::Report,
            on_token: OnToken::Report,
            wrap: Wrap::None,
            structured: Structured::Report,
            max_text_chars: None,
            families: Vec::new(),
            extra_tokens: Vec::new(),
            mirror_text: MirrorText::Keep,
            nonce: NonceSource::Random,
        };
        match mode {
            Mode::Off | Mode::Detect => reading,
            Mode::Clean => Self {
                invisibles: Invisibles::LocaleSafe,
                on_token: OnToken::Replace,
                structured: Structured::Rewrite,
                ..reading
            },
            Mode::Full => Self {
                normalisation: Normalisation::Nfkc,
                invisibles: Invisibles::Strict,
                on_token: OnToken::Replace,
                wrap: Wrap::Delimit,
                structured: Structured::Block,
                max_text_chars: Some(200_000),
                mirror_text: MirrorText::Wrap,
                ..reading
            },
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::for_mode(Mode::Clean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_errors_name_the_allowed_ones() {
        for word in Mode::ALLOWED {
            assert_eq!(Mode::parse(word).unwrap().as_str(), *word);
        }
        let error = Invisibles::parse("loose").unwrap_err();
        assert!(error.is_setting());
        assert_eq!(
            error.to_string(),
            "invisibles: unknown value \"loose\", allowed: report, locale-safe, strict"
        );
    }

    #[test]
    fn each_mode_has_the_documented_column() {
        let full = Settings::for_mode(Mode::Full);
        assert_eq!(full.max_text_chars, Some(200_000));
        assert_eq!(full.structured, Structured::Block);
        let clean = Settings::default();
        assert_eq!(clean.normalisation, Normalisation::Preserve);
        assert_eq!(clean.wrap, Wrap::None);
        assert_eq!(clean.structured, Structured::Rewrite);
        assert_eq!(Settings::for_mode(Mode::Detect).on_token, OnToken::Report);
    }
}
