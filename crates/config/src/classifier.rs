//! Classifiers as the configuration knows them: their settings, and which of these are secret.

mod keys;
mod read;

use std::collections::BTreeMap;

use countersign_classify::{AwsAuth, BedrockCheck, Kind, Options, Settings};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

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
}

/// A classifier as `config show` prints it, in the shape of the file.
struct ShownClassifier<'a>(&'a Classifier);

impl Serialize for ShownClassifier<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Settings {
            name,
            options,
            kind,
        } = &self.0.settings;
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
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("kind", kind.as_str())?;
        map.serialize_entry("name", name)?;
        map.serialize_entry("action", action)?;
        map.serialize_entry("on_error", on_error)?;
        map.serialize_entry("timeout", &duration::show(*timeout))?;
        map.serialize_entry("max_concurrent", max_concurrent)?;
        map.serialize_entry("max_chunks", max_chunks)?;
        if let Some(chars) = chunk_chars {
            map.serialize_entry("chunk_chars", chars)?;
        }
        map.serialize_entry("cache_entries", cache_entries)?;
        map.serialize_entry("cache_ttl", &duration::show(*cache_ttl))?;
        map.serialize_entry("breaker_pause", &duration::show(*breaker_pause))?;
        for (key, value) in own(kind).iter().chain(&shown(&self.0.secrets)) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// What is not secret about a kind.
fn own(kind: &Kind) -> Map<String, Value> {
    let mut own = Map::new();
    let mut add = |key: &str, value: Value| drop(own.insert(key.to_owned(), value));
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
fn shown(secrets: &BTreeMap<String, Secret>) -> Map<String, Value> {
    let mut shown = Map::new();
    let mut headers = Map::new();
    for (key, secret) in secrets {
        let (map, key) = match key.strip_prefix("headers/") {
            Some(header) => (&mut headers, header),
            None => (&mut shown, key.as_str()),
        };
        map.insert(key.to_owned(), secret.shown().into());
    }
    if !headers.is_empty() {
        shown.insert("headers".to_owned(), headers.into());
    }
    shown
}
