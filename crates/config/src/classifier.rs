//! Classifiers as the configuration knows them: their settings, which of these are secret, who may see what, and the
//! panel that is made of them when it is first needed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use countersign_classify::{AwsAuth, BedrockCheck, Kind, Options, Panel, Settings, SetupError};
use serde::Serialize;
use thiserror::Error;

use super::duration;
use super::model::Config;
use super::secret::Secret;

/// One classifier.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// Everything it is set up with.
    pub settings: Settings,
    /// What of it is secret, by the key it stands under.
    pub(super) secrets: BTreeMap<String, Secret>,
}

impl Classifier {
    /// A classifier that no file describes.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            secrets: BTreeMap::new(),
        }
    }

    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.values()
    }
}

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

/// A classifier as `config show` prints it, in the shape of the file.
#[derive(Serialize)]
pub(crate) struct ShownClassifier {
    kind: &'static str,
    name: String,
    action: &'static str,
    on_error: &'static str,
    timeout: String,
    max_concurrent: usize,
    max_chunks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_chars: Option<usize>,
    cache_entries: usize,
    cache_ttl: String,
    breaker_pause: String,
    #[serde(flatten)]
    own: BTreeMap<&'static str, serde_json::Value>,
    #[serde(flatten)]
    secrets: BTreeMap<String, serde_json::Value>,
}

impl From<&Classifier> for ShownClassifier {
    fn from(classifier: &Classifier) -> Self {
        let Settings {
            name,
            options,
            kind,
        } = &classifier.settings;
        let Options {
            action,
            on_error,
            timeout,
            max_concurrent,
            max_chunks,
            chunk_chars,
            cache_entries,
            cache_ttl,
            breaker_failures: _,
            breaker_pause,
        } = options;
        Self {
            kind: kind.as_str(),
            name: name.clone(),
            action: action.as_str(),
            on_error: on_error.as_str(),
            timeout: duration::show(*timeout),
            max_concurrent: *max_concurrent,
            max_chunks: *max_chunks,
            chunk_chars: *chunk_chars,
            cache_entries: *cache_entries,
            cache_ttl: duration::show(*cache_ttl),
            breaker_pause: duration::show(*breaker_pause),
            own: own(kind),
            secrets: shown(&classifier.secrets),
        }
    }
}

/// What is not secret about a kind.
fn own(kind: &Kind) -> BTreeMap<&'static str, serde_json::Value> {
    let mut own = BTreeMap::new();
    let mut add = |key, value: serde_json::Value| {
        own.insert(key, value);
    };
    if let Some(endpoint) = kind.endpoint() {
        add("endpoint", super::show::shown_url(endpoint).into());
    }
    match kind {
        Kind::Bedrock(bedrock) => {
            add("region", bedrock.region.as_str().into());
            if let AwsAuth::Keys { access_key_id, .. } = &bedrock.auth {
                add("access_key_id", access_key_id.as_str().into());
            }
            match &bedrock.check {
                BedrockCheck::Guardrail {
                    id,
                    version,
                    source,
                } => {
                    add("guardrail_id", id.as_str().into());
                    add("guardrail_version", version.as_str().into());
                    add("source", source.as_str().into());
                }
                BedrockCheck::PromptAttack { threshold } => {
                    add("check", "prompt_attack".into());
                    add("threshold", (*threshold).into());
                }
            }
        }
        Kind::Nemo(nemo) => {
            add("config_id", nemo.config_id.as_deref().into());
            add("model", nemo.model.as_str().into());
            add("rail", nemo.rail.as_str().into());
        }
        Kind::Local(local) => {
            add("path", local.path.display().to_string().into());
            add("threshold", local.threshold.into());
            add("temperature", local.temperature.into());
        }
        _ => {}
    }
    own
}

/// Each secret as it may be shown; those of `headers` together.
fn shown(secrets: &BTreeMap<String, Secret>) -> BTreeMap<String, serde_json::Value> {
    let mut shown = BTreeMap::new();
    let mut headers = serde_json::Map::new();
    for (key, secret) in secrets {
        match key.strip_prefix("headers/") {
            Some(header) => {
                headers.insert(header.to_owned(), secret.shown().into());
            }
            None => {
                shown.insert(key.clone(), secret.shown().into());
            }
        }
    }
    if !headers.is_empty() {
        shown.insert("headers".to_owned(), headers.into());
    }
    shown
}
