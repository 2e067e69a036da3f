//! `output_sanitisation`: what is done about text that only makes sense as an attack. The mode chooses the defaults of
//! all other keys, so what a block does not say depends on the mode that holds in the end. Strict like every block:
//! an unknown key or word is an error that names what is allowed, and so is an unknown family or a marker that cannot be
//! used, once the block is compiled.

use countersign_sanitise::{Sanitiser, Settings};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess};
use serde::ser::{Serialize, SerializeMap, Serializer};

pub use countersign_sanitise::{
    Invisibles, MirrorText, Mode as SanitiseMode, NonceSource, Normalisation, OnToken, Structured,
    Wrap,
};

use super::block::{Block, deserialize_block};
use crate::word_enum::UnknownWord;

/// Declares the raw block and everything that goes key by key.
macro_rules! keys {
    (
        words { $($(#[$word_meta:meta])* $word:ident: $type:ty;)+ }
        values { $($(#[$value_meta:meta])* $value:ident: $kind:ty;)+ }
    ) => {
        /// `output_sanitisation` as one file says it.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct RawOutputSanitisation {
            $($(#[$word_meta])* pub $word: Option<$type>,)+
            $($(#[$value_meta])* pub $value: Option<$kind>,)+
        }

        impl RawOutputSanitisation {
            /// Every key the block may hold.
            pub const KEYS: &'static [&'static str] =
                &[$(stringify!($word),)+ $(stringify!($value),)+];

            /// This block with the keys it does not set taken from `outer`.
            #[must_use]
            pub fn with_defaults_from(self, outer: Self) -> Self {
                Self {
                    $($word: self.$word.or(outer.$word),)+
                    $($value: self.$value.or(outer.$value),)+
                }
            }

        }

        impl Block for RawOutputSanitisation {
            fn read_key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
                let failed = |error: A::Error| A::Error::custom(format_args!("{key}: {error}"));
                match key {
                    $(stringify!($word) => {
                        let word: String = map.next_value().map_err(failed)?;
                        let parsed = <$type>::parse(&word)
                            .map_err(|_| failed(A::Error::custom(UnknownWord::new("value", &word, <$type>::ALLOWED))))?;
                        set_once(key, &mut self.$word, parsed)
                    })+
                    $(stringify!($value) => {
                        let value: $kind = map.next_value().map_err(failed)?;
                        set_once(key, &mut self.$value, value)
                    })+
                    _ => Err(A::Error::custom(UnknownWord::new("key", key, Self::KEYS))),
                }
            }
        }

        impl Serialize for RawOutputSanitisation {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let mut map = to.serialize_map(None)?;
                $(if let Some(word) = self.$word {
                    map.serialize_entry(stringify!($word), word.as_str())?;
                })+
                $(if let Some(value) = &self.$value {
                    map.serialize_entry(stringify!($value), value)?;
                })+
                map.end()
            }
        }
    };
}

keys! {
    words {
        /// `off`, `detect`, `clean` or `full`.
        mode: SanitiseMode;
        /// Normalisation of what leaves.
        normalisation: Normalisation;
        /// Invisible and format characters.
        invisibles: Invisibles;
        /// Control tokens.
        on_token: OnToken;
        /// A boundary around text.
        wrap: Wrap;
        /// Hits inside `structuredContent`.
        structured: Structured;
        /// The text twin of `structuredContent`.
        mirror_text: MirrorText;
        /// Where the boundary's nonce comes from.
        nonce: NonceSource;
    }
    values {
        /// Longest text, in characters; 0 sets no limit.
        max_text_chars: usize;
        /// Families whose ambiguous tokens and role markers count.
        families: Vec<String>;
        /// Markers of the deployment itself.
        extra_tokens: Vec<String>;
        /// Whether clients are given the sentence that tells a model what a boundary means.
        host_instruction: bool;
    }
}

fn set_once<T, E: serde::de::Error>(key: &str, slot: &mut Option<T>, value: T) -> Result<(), E> {
    if slot.replace(value).is_some() {
        return Err(E::custom(format_args!("duplicate field `{key}`")));
    }
    Ok(())
}

impl RawOutputSanitisation {
    /// What is wrong with the lists of this block, before anything is compiled with them: `(key, why)`.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let families = self.families.clone().map(|families| Settings {
            families,
            ..Settings::default()
        });
        let tokens = self.extra_tokens.clone().map(|extra_tokens| Settings {
            extra_tokens,
            ..Settings::default()
        });
        let mut lists = [("families", families), ("extra_tokens", tokens)].into_iter();
        lists.find_map(|(key, settings)| {
            let error = Sanitiser::new(settings?).err()?;
            Some((key, error.to_string()))
        })
    }
}

impl<'de> Deserialize<'de> for RawOutputSanitisation {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_block(from)
    }
}

/// `output_sanitisation` as it holds for one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSanitisation {
    /// What the sanitiser is told.
    pub settings: Settings,
    /// Whether clients are given the sentence that tells a model what a boundary means.
    pub host_instruction: bool,
}

impl Default for OutputSanitisation {
    fn default() -> Self {
        Self::resolve([])
    }
}

impl OutputSanitisation {
    /// Merges blocks given from the outermost (global) to the innermost (tool): key by key the innermost that sets it
    /// wins, and what none sets has the default of the mode that holds.
    pub fn resolve<'a>(blocks: impl IntoIterator<Item = &'a RawOutputSanitisation>) -> Self {
        let mut merged = RawOutputSanitisation::default();
        for block in blocks {
            merged = block.clone().with_defaults_from(merged);
        }
        let mode = merged.mode.unwrap_or(SanitiseMode::Clean);
        let defaults = Settings::for_mode(mode);
        let ceiling = merged.max_text_chars.map(|max| (max > 0).then_some(max));
        Self {
            host_instruction: merged
                .host_instruction
                .unwrap_or(mode == SanitiseMode::Full),
            settings: Settings {
                mode,
                normalisation: merged.normalisation.unwrap_or(defaults.normalisation),
                invisibles: merged.invisibles.unwrap_or(defaults.invisibles),
                on_token: merged.on_token.unwrap_or(defaults.on_token),
                wrap: merged.wrap.unwrap_or(defaults.wrap),
                structured: merged.structured.unwrap_or(defaults.structured),
                max_text_chars: ceiling.unwrap_or(defaults.max_text_chars),
                families: merged.families.unwrap_or(defaults.families),
                extra_tokens: merged.extra_tokens.unwrap_or(defaults.extra_tokens),
                mirror_text: merged.mirror_text.unwrap_or(defaults.mirror_text),
                nonce: merged.nonce.unwrap_or(defaults.nonce),
            },
        }
    }
}

impl Serialize for OutputSanitisation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let settings = &self.settings;
        let raw = RawOutputSanitisation {
            mode: Some(settings.mode),
            normalisation: Some(settings.normalisation),
            invisibles: Some(settings.invisibles),
            on_token: Some(settings.on_token),
            wrap: Some(settings.wrap),
            structured: Some(settings.structured),
            mirror_text: Some(settings.mirror_text),
            nonce: Some(settings.nonce),
            max_text_chars: Some(settings.max_text_chars.unwrap_or(0)),
            families: Some(settings.families.clone()),
            extra_tokens: Some(settings.extra_tokens.clone()),
            host_instruction: Some(self.host_instruction),
        };
        raw.serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<RawOutputSanitisation, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    fn shown(blocks: &[&str]) -> String {
        let blocks: Vec<_> = blocks.iter().map(|json| parse(json).unwrap()).collect();
        serde_json::to_string(&OutputSanitisation::resolve(&blocks)).unwrap()
    }

    #[test]
    fn the_mode_chooses_what_is_not_said() {
        insta::assert_snapshot!(shown(&[]), @r#"{"mode":"clean","normalisation":"preserve","invisibles":"locale-safe","on_token":"replace","wrap":"none","structured":"rewrite","mirror_text":"keep","nonce":"random","max_text_chars":0,"families":[],"extra_tokens":[],"host_instruction":false}"#);
        insta::assert_snapshot!(shown(&[r#"{"mode":"full"}"#]), @r#"{"mode":"full","normalisation":"nfkc","invisibles":"strict","on_token":"replace","wrap":"delimit","structured":"block","mirror_text":"wrap","nonce":"random","max_text_chars":200000,"families":[],"extra_tokens":[],"host_instruction":true}"#);
    }

    #[test]
    fn the_innermost_block_wins_and_defaults_follow_its_mode() {
        let merged = shown(&[
            r#"{"mode":"full","structured":"report","max_text_chars":10}"#,
            r#"{"mode":"clean","wrap":"delimit"}"#,
            r#"{"max_text_chars":0,"families":["mistral"]}"#,
        ]);
        insta::assert_snapshot!(merged, @r#"{"mode":"clean","normalisation":"preserve","invisibles":"locale-safe","on_token":"replace","wrap":"delimit","structured":"report","mirror_text":"keep","nonce":"random","max_text_chars":0,"families":["mistral"],"extra_tokens":[],"host_instruction":false}"#);
    }

    #[test]
    fn every_key_is_read_and_written_back() {
        let json = r#"{"mode":"full","normalisation":"nfc","invisibles":"report","on_token":"block","wrap":"none","structured":"rewrite","mirror_text":"keep","nonce":"keyed","max_text_chars":7,"families":["all","qwen"],"extra_tokens":["@@agent@@"],"host_instruction":true}"#;
        let raw = parse(json).unwrap();
        assert_eq!(serde_json::to_string(&raw).unwrap(), json);
        assert_eq!(shown(&[json]), json);
        assert_eq!(raw.problem(), None);
    }

    #[test]
    fn mistakes_name_the_key_and_what_is_allowed() {
        let message = |json| parse(json).unwrap_err();
        insta::assert_snapshot!(message(r#"{"mode":"claen"}"#), @r#"mode: unknown value "claen"; allowed: off, detect, clean, full; did you mean "clean"? at line 1 column 16"#);
        insta::assert_snapshot!(message(r#"{"wraps":1}"#), @r#"unknown key "wraps"; allowed: mode, normalisation, invisibles, on_token, wrap, structured, mirror_text, nonce, max_text_chars, families, extra_tokens, host_instruction; did you mean "wrap"? at line 1 column 8"#);
        insta::assert_snapshot!(message(r#"{"mode":"off","mode":"full"}"#), @"duplicate field `mode` at line 1 column 28");
        insta::assert_snapshot!(message(r#"{"max_text_chars":-1}"#), @"max_text_chars: invalid value: integer `-1`, expected usize at line 1 column 20");
        let problem = |json| parse(json).unwrap().problem().unwrap();
        assert_eq!(
            problem(r#"{"extra_tokens":["x"]}"#),
            (
                "extra_tokens",
                "extra_tokens: \"x\" has fewer than two visible characters".to_owned()
            )
        );
        let (key, families) = problem(r#"{"families":["mistrel"]}"#);
        assert!(
            key == "families" && families.contains("known: all, ") && families.contains("mistral"),
            "{families}"
        );
    }
}
