//! A profile: one word for several settings. It stands under what the file itself says, so single keys win over it.

use countersign_inspect::config::{
    GuardScope, Posture, RawOutputSanitisation, RawOutputValidation, SanitiseMode, Structured,
};
use countersign_inspect::{Mode, word_enum};
use serde_json::Value;

use super::setting::{plain, read_word};

word_enum! {
    /// Which settings hold where the file says nothing.
    #[derive(Default)]
    pub enum Profile {
        /// The documented defaults.
        #[default]
        Standard = "standard",
        /// Whatever is not known to be good is blocked.
        Hardened = "hardened",
    }
}

plain! { Profile: read_word, Profile::clone; }

impl Profile {
    /// The `output_validation` it stands for.
    pub(crate) fn output(self) -> RawOutputValidation {
        match self {
            Self::Standard => RawOutputValidation::default(),
            Self::Hardened => RawOutputValidation {
                mode: Some(Mode::Strict),
                missing_structured_content: Some(Posture::Block),
                uncompilable_schema: Some(Posture::Block),
                guards: Some(GuardScope::Always),
                ..RawOutputValidation::default()
            },
        }
    }

    /// The `output_sanitisation` it stands for.
    pub(crate) fn sanitisation(self) -> RawOutputSanitisation {
        match self {
            Self::Standard => RawOutputSanitisation::default(),
            Self::Hardened => RawOutputSanitisation {
                mode: Some(SanitiseMode::Full),
                structured: Some(Structured::Block),
                ..RawOutputSanitisation::default()
            },
        }
    }

    /// What it stands for, as keys and values of the file.
    pub fn settings(self) -> Vec<(String, String)> {
        let blocks = [
            ("output_validation", serde_json::to_value(self.output())),
            (
                "output_sanitisation",
                serde_json::to_value(self.sanitisation()),
            ),
        ];
        let mut settings = Vec::new();
        for (block, value) in blocks {
            if let Ok(Value::Object(keys)) = value {
                settings.extend(keys.iter().map(|(key, value)| {
                    let text = value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    (format!("{block}.{key}"), text)
                }));
            }
        }
        settings
    }
}
