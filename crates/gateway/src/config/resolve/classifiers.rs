//! Classifiers: which settings a kind has, where its keys come from, and what a server or tool may name. A setting that
//! means nothing for a kind is refused, not ignored: somebody meant something by it.

mod allowed;
mod bedrock;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use countersign_classify::{
    HAS_LOCAL_MODEL, Kind, Local, Nemo, NemoRail, OnError, OnInjection, Options, PromptShields,
    Secret as Key, Settings, ShieldsAuth, Webhook,
};

use super::Resolver;
use super::transport::{check_header, check_url};
use crate::config::classifier::Classifier;
use crate::config::document::{brief, step};
use crate::config::duration;
use crate::config::problem::Problem;
use crate::config::raw::RawClassifier;
use crate::config::secret::Secret;

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

/// One classifier while it is read.
struct Reading {
    pointer: String,
    raw: RawClassifier,
    secrets: BTreeMap<String, Secret>,
}

impl Reading {
    fn word(&self, key: &str) -> Option<&str> {
        self.raw.words.get(key).map(String::as_str)
    }

    /// Whether a setting is this word; `check` has seen that it is one of its words.
    fn is(&self, key: &str, word: &str) -> bool {
        self.word(key) == Some(word)
    }

    fn at(&self, key: &str) -> String {
        format!("{}/{key}", self.pointer)
    }

    /// Every setting that not all kinds have.
    fn given(&self) -> Vec<&str> {
        let mut given: Vec<&str> = self.raw.words.keys().map(String::as_str).collect();
        let numbers = [
            ("threshold", self.raw.threshold.is_some()),
            ("temperature", self.raw.temperature.is_some()),
            ("headers", self.raw.headers.is_some()),
        ];
        given.extend(
            numbers
                .iter()
                .filter(|(_, given)| *given)
                .map(|(key, _)| *key),
        );
        given
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

    fn prompt_shields(&mut self, reading: &mut Reading) -> Option<Kind> {
        let endpoint = self.endpoint(reading, true);
        if reading.word("api_key").is_some() && reading.word("bearer_token").is_some() {
            let message = "\"api_key\" and \"bearer_token\" are both given";
            self.refuse(
                &reading.at("bearer_token"),
                Problem::new(None, message).hint("keep one"),
            );
        }
        let auth = match self.key(reading, "bearer_token") {
            Some(token) => Some(ShieldsAuth::Bearer(token)),
            None if reading.word("api_key").is_none() => {
                self.missing(reading, "api_key", "\"${env:AZURE_CONTENT_SAFETY_KEY}\"");
                None
            }
            None => self.key(reading, "api_key").map(ShieldsAuth::Key),
        };
        Some(Kind::PromptShields(PromptShields {
            endpoint: endpoint?,
            auth: auth?,
        }))
    }

    fn nemo(&mut self, reading: &mut Reading) -> Option<Kind> {
        let endpoint = self.endpoint(reading, false);
        let headers = self.headers(reading);
        let rail = if reading.is("rail", "output") {
            NemoRail::Output
        } else {
            NemoRail::Input
        };
        Some(Kind::Nemo(Nemo {
            endpoint: endpoint?,
            config_id: reading.word("config_id").map(str::to_owned),
            model: reading.word("model").unwrap_or("none").to_owned(),
            rail,
            headers,
        }))
    }

    fn webhook(&mut self, reading: &mut Reading) -> Option<Kind> {
        let endpoint = self.endpoint(reading, false);
        let headers = self.headers(reading);
        Some(Kind::Webhook(Webhook {
            endpoint: endpoint?,
            headers,
        }))
    }

    fn local(&mut self, reading: &Reading) -> Option<Kind> {
        if !HAS_LOCAL_MODEL {
            let problem = Problem::new(None, "this build has no local model")
                .hint("build with `--features local-model`");
            self.refuse(&reading.at("kind"), problem);
            return None;
        }
        let Some(text) = reading.word("path") else {
            self.missing(reading, "path", "the folder with the model's files");
            return None;
        };
        let path = self.path(&reading.at("path"), text)?;
        let has = |name: &str| path.join(name).is_file();
        if !has("tokenizer.json") || !(has("model_quantized.onnx") || has("model.onnx")) {
            let problem = Problem::new(None, "no model in this folder")
                .hint("it needs model_quantized.onnx or model.onnx, and tokenizer.json");
            self.refuse(&reading.at("path"), problem);
        }
        Some(Kind::Local(Local {
            path,
            threshold: self.threshold(reading),
            temperature: reading.raw.temperature,
        }))
    }

    fn threshold(&mut self, reading: &Reading) -> Option<f32> {
        let threshold = reading.raw.threshold?;
        if threshold > 1.0 {
            let problem = Problem::new(None, "no score is greater than 1")
                .hint("write a number up to 1, like 0.5");
            self.refuse(&reading.at("threshold"), problem);
        }
        Some(threshold)
    }

    /// An address. A key must not travel in the clear; text should not.
    fn endpoint(&mut self, reading: &Reading, keyed: bool) -> Option<String> {
        let Some(url) = reading.word("endpoint") else {
            self.missing(reading, "endpoint", "its address");
            return None;
        };
        let place = reading.at("endpoint");
        if let Err(problem) = check_url(url) {
            self.refuse(&place, problem);
            return None;
        }
        if url.contains('?') {
            let problem = Problem::new(None, "an address with a query")
                .hint("leave it out; what is secret goes into \"api_key\" or \"headers\"");
            self.refuse(&place, problem);
        }
        if url.starts_with("http://") && !is_here(url) {
            let problem = Problem::new(None, "what tools return would be sent in the clear");
            if keyed {
                self.refuse(&place, problem.hint("write an https:// address"));
            } else {
                self.warn(
                    &place,
                    problem.hint("use https:// unless the network is your own"),
                );
            }
        }
        Some(url.to_owned())
    }

    fn headers(&mut self, reading: &mut Reading) -> BTreeMap<String, Key> {
        let mut headers = BTreeMap::new();
        let mut seen = BTreeMap::new();
        for (header, text) in reading.raw.headers.clone().unwrap_or_default() {
            let place = format!("{}/headers{}", reading.pointer, step(&header));
            if let Some(value) = self.secret(&place, &text, true) {
                if let Err(problem) = check_header(&header, &value, &seen) {
                    self.refuse(&place, problem);
                }
                headers.insert(header.clone(), Key::new(value.expose()));
                reading
                    .secrets
                    .insert(format!("headers/{header}"), value.clone());
                seen.insert(header, value);
            }
        }
        headers
    }

    /// A key, if it is given; it is kept for `config show`.
    fn key(&mut self, reading: &mut Reading, key: &'static str) -> Option<Key> {
        let text = reading.word(key)?.to_owned();
        let value = self.secret(&reading.at(key), &text, true)?;
        if value.expose().is_empty() || !value.expose().bytes().all(|byte| byte.is_ascii_graphic())
        {
            let problem = Problem::new(None, "not a key that can be sent")
                .hint("a line break at the end of a variable is a common reason");
            self.refuse(&reading.at(key), problem);
        }
        let exposed = Key::new(value.expose());
        reading.secrets.insert(key.to_owned(), value);
        Some(exposed)
    }

    fn missing(&mut self, reading: &Reading, key: &str, value: &str) {
        let kind = reading.raw.kind.as_deref().unwrap_or_default();
        let message = format!("a classifier of kind \"{kind}\" needs \"{key}\"");
        self.refuse(
            &reading.pointer,
            Problem::new(None, message).hint(format!("give {value}")),
        );
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

/// Whether an address is on this machine.
fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}
