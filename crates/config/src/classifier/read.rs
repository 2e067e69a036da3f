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

use countersign_classify::{Kind, OnError, OnInjection, Options, Settings};
use serde::Serialize;

use super::{Classifier, ShownClassifier};
use crate::document::brief;
use crate::held::Held;
use crate::keys::Form;
use crate::reader::Reader;
use crate::setting::{self, Setting};

pub(crate) use allowed::read_allowed;
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

impl Setting for Vec<Classifier> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let elements: Vec<_> = reader.tape().children(node).collect();
        let classifiers = elements.into_iter();
        Some(
            classifiers
                .filter_map(|classifier| reader.classifier(classifier))
                .collect(),
        )
    }

    fn show<'a>(&'a self, _: Form, _: &'a Held) -> Option<impl Serialize + 'a> {
        Some(self.iter().map(ShownClassifier::from).collect::<Vec<_>>())
    }
}

impl Reader<'_, '_> {
    fn classifier(&mut self, node: u32) -> Option<Classifier> {
        let mut reading = Reading::new(self, node);
        let Some(word) = reading.word("kind").map(str::to_owned) else {
            let message = "a classifier needs a \"kind\"";
            let hint = format!("one of {}", Kind::WORDS.join(", "));
            self.refuse(node, message, hint);
            return None;
        };
        let name = reading.word("name").unwrap_or(&word).to_owned();
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
                options: self.options(&reading),
                kind: kind?,
            },
            secrets: reading.secrets,
        })
    }

    fn classifier_name(&mut self, reading: &Reading, name: &str) {
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        let place = reading.at("name");
        if !(1..=32).contains(&name.len()) || !name.bytes().all(plain) {
            let message = format!("\"{}\" cannot be a classifier's name", brief(name));
            self.refuse(place, message, format!("a name is {NAMES}"));
        } else if self.classifiers.iter().any(|known| known == name) {
            let message = format!("there is another classifier \"{name}\"");
            self.refuse(place, message, "give each a \"name\" of its own");
        }
        self.classifiers.push(name.to_owned());
    }

    fn superfluous(&mut self, reading: &Reading, kind: &str) {
        let known = settings_of(kind);
        for key in reading.specific() {
            if !known.contains(&key) {
                let message = format!("\"{key}\" means nothing to a classifier of kind \"{kind}\"");
                let hint = format!("remove it; such a classifier has: {}", known.join(", "));
                self.refuse(reading.at(key), message, hint);
            }
        }
    }

    fn options(&mut self, reading: &Reading) -> Options {
        let mut options = Options::default();
        if reading.has_word("action", "block") {
            options.action = OnInjection::Block;
        }
        options.on_error = match reading.word("on_error") {
            Some("open") => OnError::Open,
            Some("flag") => OnError::Flag,
            Some("closed") => OnError::Closed,
            _ => options.action.on_error(),
        };
        let node = reading.node;
        self.read_into(node, "timeout", &mut options.timeout);
        self.read_into(node, "max_concurrent", &mut options.max_concurrent);
        self.read_into(node, "max_chunks", &mut options.max_chunks);
        self.read_into(node, "chunk_chars", &mut options.chunk_chars);
        self.read_into(node, "cache_entries", &mut options.cache_entries);
        self.read_into(node, "cache_ttl", &mut options.cache_ttl);
        self.read_into(node, "breaker_pause", &mut options.breaker_pause);
        options
    }

    fn read_into<T: Setting>(&mut self, node: u32, key: &str, setting: &mut T) {
        if let Some(node) = self.member(node, key) {
            setting::read_into(self, node, setting);
        }
    }
}
