//! Classifiers: which settings a kind has, where its keys come from, and what a server or tool may name. A setting that
//! means nothing for a kind is refused, not ignored: somebody meant something by it.

mod allowed;
mod bedrock;
mod local;
mod nemo;
mod parts;
mod prompt_shields;
mod reading;
mod webhook;

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_classify::{Kind, OnError, OnInjection, Options, Settings};

use super::Resolver;
use crate::classifier::Classifier;
use crate::document::brief;
use crate::duration;
use crate::problem::Problem;
use crate::raw::RawClassifier;

use reading::Reading;

const NAMES: &str = "1 to 32 characters of a-z, 0-9, _ and -";

/// The settings of a kind, beside those every classifier has.
fn settings_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "prompt_shields" => &["endpoint", "api_key", "bearer_token"],
        "bedrock" => &[
            "endpoint",
            "region",
            "api_key",
            "access_key_id",
            "secret_access_key",
            "session_token",
            "check",
            "guardrail_id",
            "guardrail_version",
            "source",
            "threshold",
        ],
        "nemo" => &["endpoint", "config_id", "model", "rail", "headers"],
        "webhook" => &["endpoint", "headers"],
        _ => &["path", "threshold", "temperature"],
    }
}

impl Resolver<'_, '_> {
    pub(super) fn classifiers(&mut self, raw: Vec<RawClassifier>) -> Vec<Classifier> {
        let mut classifiers = Vec::new();
        for (index, raw) in raw.into_iter().enumerate() {
            let reading = Reading {
                pointer: format!("/classifiers/{index}"),
                raw,
                secrets: BTreeMap::new(),
            };
            classifiers.extend(self.classifier(reading));
        }
        classifiers
    }

    fn classifier(&mut self, mut reading: Reading) -> Option<Classifier> {
        let Some(word) = reading.raw.kind.clone() else {
            let message = "a classifier needs a \"kind\"";
            let problem =
                Problem::new(None, message).hint(format!("one of {}", Kind::WORDS.join(", ")));
            self.refuse(&reading.pointer, problem);
            return None;
        };
        let name = reading.raw.name.clone().unwrap_or_else(|| word.clone());
        self.classifier_name(&reading, &name);
        self.superfluous(&reading, &word);
        let kind = match word.as_str() {
            "prompt_shields" => self.prompt_shields(&mut reading),
            "bedrock" => self.bedrock(&mut reading),
            "nemo" => self.nemo(&mut reading),
            "webhook" => self.webhook(&mut reading),
            _ => self.local(&reading),
        };
        Some(Classifier {
            settings: Settings {
                name,
                options: options(&reading.raw),
                kind: kind?,
            },
            secrets: reading.secrets,
        })
    }

    fn classifier_name(&mut self, reading: &Reading, name: &str) {
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        let place = if reading.raw.name.is_some() {
            reading.at("name")
        } else {
            reading.pointer.clone()
        };
        if !(1..=32).contains(&name.len()) || !name.bytes().all(plain) {
            let message = format!("\"{}\" cannot be a classifier's name", brief(name));
            self.refuse(
                &place,
                Problem::new(None, message).hint(format!("a name is {NAMES}")),
            );
        } else if self.classifiers.iter().any(|known| known == name) {
            let message = format!("there is another classifier \"{name}\"");
            self.refuse(
                &place,
                Problem::new(None, message).hint("give each a \"name\" of its own"),
            );
        }
        self.classifiers.push(name.to_owned());
    }

    fn superfluous(&mut self, reading: &Reading, kind: &str) {
        let known = settings_of(kind);
        for key in reading.given() {
            if !known.contains(&key) {
                let message = format!("\"{key}\" means nothing to a classifier of kind \"{kind}\"");
                let hint = format!("remove it; such a classifier has: {}", known.join(", "));
                self.refuse(&reading.at(key), Problem::new(None, message).hint(hint));
            }
        }
    }
}

fn options(raw: &RawClassifier) -> Options {
    let defaults = Options::default();
    let time = |text: &Option<String>, otherwise: Duration| {
        text.as_deref()
            .and_then(duration::parse)
            .unwrap_or(otherwise)
    };
    let action = match raw.action.as_deref() {
        Some("block") => OnInjection::Block,
        _ => OnInjection::Report,
    };
    Options {
        action,
        on_error: match raw.on_error.as_deref() {
            Some("open") => OnError::Open,
            Some("flag") => OnError::Flag,
            Some("closed") => OnError::Closed,
            _ => action.on_error(),
        },
        timeout: time(&raw.timeout, defaults.timeout),
        max_concurrent: raw.max_concurrent.unwrap_or(defaults.max_concurrent),
        max_chunks: raw.max_chunks.unwrap_or(defaults.max_chunks),
        chunk_chars: raw.chunk_chars,
        cache_entries: raw.cache_entries.unwrap_or(defaults.cache_entries),
        cache_ttl: time(&raw.cache_ttl, defaults.cache_ttl),
        breaker_failures: defaults.breaker_failures,
        breaker_pause: time(&raw.breaker_pause, defaults.breaker_pause),
    }
}
