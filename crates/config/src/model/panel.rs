//! The panel of classifiers that a configuration describes, made when it is first needed, and which classifiers may see a
//! tool's results.

use std::fmt;
use std::sync::{Arc, OnceLock};

use countersign_classify::{Panel, Settings, SetupError};
use thiserror::Error;

use super::Config;

/// A classifier cannot be set up.
#[derive(Debug, Error)]
#[error("cannot set up the classifier {name}")]
pub struct SetupFailure {
    /// Its name.
    pub name: String,
    /// Why.
    #[source]
    pub source: SetupError,
}

/// The panel of a configuration, once it has been made. A copy of a configuration may be changed, so it has its own.
#[derive(Default)]
pub(crate) struct Panels(OnceLock<Result<Arc<Panel>, SetupFailure>>);

impl Clone for Panels {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Panels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Panels")
    }
}

impl Config {
    /// The classifiers, ready to be asked. The first time, a local model's files are read.
    pub fn panel(&self) -> Result<&Panel, &SetupFailure> {
        let panel = self.panels.0.get_or_init(|| {
            let settings = self.classifiers.iter().map(|one| &one.settings);
            Panel::build(settings, self.classifier_budget)
                .map(Arc::new)
                .map_err(|(name, source)| SetupFailure { name, source })
        });
        panel.as_deref()
    }

    /// Whether the classifiers are set up alike, secrets included.
    pub fn classifies_like(&self, other: &Self) -> bool {
        let settings = |config: &Self| -> Vec<Settings> {
            let all = config.classifiers.iter();
            all.map(|one| one.settings.clone()).collect()
        };
        self.classifier_budget == other.classifier_budget && settings(self) == settings(other)
    }

    /// Takes the classifiers that another configuration has made, if they are set up alike: what they have in mind, and a
    /// model in memory, need not be made again.
    pub fn take_panel(&mut self, other: &Self) {
        if self.classifies_like(other)
            && let Some(Ok(panel)) = other.panels.0.get()
        {
            self.panels = Panels(OnceLock::from(Ok(Arc::clone(panel))));
        }
    }

    /// The classifiers that may see a tool's results.
    pub fn classify(&self, server: &str, tool: &str) -> &[String] {
        if self.classifiers.is_empty() {
            return &[];
        }
        let server = self.server(server);
        let tool = server.and_then(|server| server.tools.get(tool));
        let own = tool.and_then(|tool| tool.classify.as_deref());
        own.or_else(|| server.and_then(|server| server.classify.as_deref()))
            .unwrap_or_default()
    }

    /// The settings of the classifier of that name.
    pub fn classifier(&self, name: &str) -> Option<&Settings> {
        let mut settings = self.classifiers.iter().map(|one| &one.settings);
        settings.find(|settings| settings.name == name)
    }
}
