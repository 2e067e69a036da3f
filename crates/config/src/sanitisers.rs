//! One compiled sanitiser for each set of settings in use: compiling one takes longer than a call may, and thousands of
//! tools share a few. Kept beside the configuration they were made from.

use std::sync::{Arc, Mutex, PoisonError};

use countersign_inspect::Sanitisation;
use countersign_inspect::config::OutputSanitisation;

/// Sanitisers by their settings.
#[derive(Clone, Debug, Default)]
pub(super) struct Sanitisers(Arc<Mutex<Vec<(OutputSanitisation, Sanitisation)>>>);

impl Sanitisers {
    /// The sanitiser with these settings.
    pub(super) fn get(&self, settings: &OutputSanitisation) -> Sanitisation {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sanitisation)) = known.iter().find(|(known, _)| known == settings) {
            return sanitisation.clone();
        }
        // Reading the file has refused what does not compile; the defaults always do.
        let made = Sanitisation::compile(settings).unwrap_or_default();
        known.push((settings.clone(), made.clone()));
        made
    }
}
