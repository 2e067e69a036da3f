//! `output_sanitisation`, compiled: one sanitiser shared by all tools with the same settings, or none where
//! sanitising is off.

use std::fmt;
use std::sync::{Arc, LazyLock};

use countersign_sanitise::{HOST_INSTRUCTION, Sanitiser};

use crate::config::{OutputSanitisation, SanitiseMode};
use crate::error::Error;

/// What holds for the texts of a tool. Cheap to clone, costly to compile: keep one per set of settings.
#[derive(Clone)]
pub struct Sanitisation(Option<Arc<Compiled>>);

struct Compiled {
    config: OutputSanitisation,
    sanitiser: Sanitiser,
}

impl Sanitisation {
    /// Texts are not looked at.
    pub fn off() -> Self {
        Self(None)
    }

    /// Compiles settings. An error names a family or a marker that cannot be used.
    ///
    /// ```
    /// use countersign_inspect::Sanitisation;
    /// use countersign_inspect::config::{OutputSanitisation, RawOutputSanitisation};
    ///
    /// let block: RawOutputSanitisation = serde_json::from_str(r#"{"mode": "full"}"#).unwrap();
    /// let full = Sanitisation::compile(&OutputSanitisation::resolve([&block]))?;
    /// assert!(full.host_instruction().is_some());
    /// # Ok::<(), countersign_inspect::Error>(())
    /// ```
    pub fn compile(config: &OutputSanitisation) -> Result<Self, Error> {
        if config.settings.mode == SanitiseMode::Off {
            return Ok(Self::off());
        }
        let sanitiser = Sanitiser::new(config.settings.clone()).map_err(Error::sanitisation)?;
        // The first text that is not ASCII builds a table; better now than during a call.
        let _warm = sanitiser.clean("\u{e9}");
        Ok(Self(Some(Arc::new(Compiled {
            config: config.clone(),
            sanitiser,
        }))))
    }

    /// Whether texts are looked at.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The settings, where there are any.
    pub fn config(&self) -> Option<&OutputSanitisation> {
        self.0.as_deref().map(|compiled| &compiled.config)
    }

    /// What a host should tell its model about boundaries, if the settings say that clients are to be given it.
    pub fn host_instruction(&self) -> Option<&'static str> {
        let config = self.config()?;
        config.host_instruction.then_some(HOST_INSTRUCTION)
    }

    pub(crate) fn sanitiser(&self) -> Option<&Sanitiser> {
        self.0.as_deref().map(|compiled| &compiled.sanitiser)
    }
}

impl Default for Sanitisation {
    /// The defaults, compiled once for the whole process.
    fn default() -> Self {
        static DEFAULT: LazyLock<Sanitisation> = LazyLock::new(|| {
            // The defaults have neither families nor markers, so nothing can be wrong with them.
            let compiled = Sanitisation::compile(&OutputSanitisation::default());
            compiled.unwrap_or_else(|_| Sanitisation::off())
        });
        DEFAULT.clone()
    }
}

impl PartialEq for Sanitisation {
    fn eq(&self, other: &Self) -> bool {
        self.config() == other.config()
    }
}

impl fmt::Debug for Sanitisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = self
            .config()
            .map_or("off", |config| config.settings.mode.as_str());
        f.debug_tuple("Sanitisation").field(&mode).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_on_and_off_is_nothing() {
        assert!(Sanitisation::default().is_on());
        assert_eq!(Sanitisation::default(), Sanitisation::default());
        assert!(!Sanitisation::off().is_on());
        assert_eq!(
            format!("{:?}", Sanitisation::default()),
            "Sanitisation(\"clean\")"
        );
        assert_eq!(Sanitisation::default().host_instruction(), None);
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let mut config = OutputSanitisation::default();
        config.settings.families = vec!["nosuch".to_owned()];
        let error = Sanitisation::compile(&config).unwrap_err();
        assert!(error.is_sanitisation());
        assert!(error.to_string().contains("nosuch"), "{error}");
    }
}
