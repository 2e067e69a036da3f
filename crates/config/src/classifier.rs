//! Classifiers as the configuration knows them: their settings, and which of these are secret.

mod keys;
mod read;

use std::collections::BTreeMap;

use countersign_classify::{AwsAuth, BedrockCheck, Kind, Options, Settings};
use serde::Serialize;

use super::duration;
use super::secret::Secret;

pub(crate) use keys::CLASSIFIER;
pub(crate) use read::read_allowed;

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
        add("endpoint", super::mask::shown_url(endpoint).into());
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
