//! Reads the classifiers of a file: each kind has settings of its own, and one that belongs to another kind is refused.

mod allowed;
mod bedrock;
mod local;
mod nemo;
mod parts;
mod prompt_shields;
mod reading;
mod webhook;

use countersign_classify::{Kind, Options, Settings};
use serde::Serialize;

use super::{Classifier, ShownClassifier};
use crate::document::brief;
use crate::effective::EffectiveSettings;
use crate::keys::Form;
use crate::reader::Reader;
use crate::setting::Setting;

pub(crate) use allowed::read_allowed;
use reading::Reading;

const NAMES: &str = "1 to 32 characters of a-z, 0-9, _ and -";

/// The keys that every kind has.
const COMMON: &str = "kind name action on_error timeout max_concurrent max_chunks chunk_chars cache_entries cache_ttl \
    breaker_pause";

/// The other keys of a kind.
fn keys_of(kind: &str) -> &'static str {
    match kind {
        "prompt_shields" => "endpoint api_key bearer_token",
        "bedrock" => {
            "endpoint region api_key access_key_id secret_access_key session_token check guardrail_id \
             guardrail_version source threshold"
        }
        "nemo" => "endpoint config_id model rail headers",
        "webhook" => "endpoint headers",
        _ => "path threshold temperature",
    }
}

impl Setting for Vec<Classifier> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let elements: Vec<_> = reader.tape().children(node).collect();
        let classifiers = elements.into_iter();
        let read = |node| Reading::new(reader, node).classifier();
        Some(classifiers.filter_map(read).collect())
    }

    fn show<'a>(&'a self, _: Form, _: &'a EffectiveSettings) -> Option<impl Serialize + 'a> {
        Some(self.iter().map(ShownClassifier).collect::<Vec<_>>())
    }
}

impl Reading<'_, '_, '_> {
    fn classifier(mut self) -> Option<Classifier> {
        let Some(word) = self.word("kind") else {
            let hint = format!("one of {}", Kind::WORDS.join(", "));
            self.refuse("kind", "a classifier needs a \"kind\"", hint);
            return None;
        };
        let name = self.word("name").unwrap_or_else(|| word.clone());
        self.check_name(&name);
        self.refuse_superfluous(&word);
        let kind = match word.as_str() {
            "prompt_shields" => self.prompt_shields(),
            "bedrock" => self.bedrock(),
            "nemo" => self.nemo(),
            "webhook" => self.webhook(),
            _ => self.local(),
        };
        let options = self.options();
        Some(Classifier {
            settings: Settings {
                name,
                options,
                kind: kind?,
            },
            secrets: self.secrets,
        })
    }

    fn check_name(&mut self, name: &str) {
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        if !(1..=32).contains(&name.len()) || !name.bytes().all(plain) {
            let message = format!("\"{}\" cannot be a classifier's name", brief(name));
            self.refuse("name", message, format!("a name is {NAMES}"));
        } else if self.reader.classifiers.iter().any(|known| known == name) {
            let message = format!("there is another classifier \"{name}\"");
            self.refuse("name", message, "give each a \"name\" of its own");
        }
        self.reader.classifiers.push(name.to_owned());
    }

    fn refuse_superfluous(&mut self, kind: &str) {
        let known: Vec<_> = keys_of(kind).split_whitespace().collect();
        for (key, _) in self.reader.members(self.node) {
            if !known.contains(&&*key) && !COMMON.split_whitespace().any(|common| common == key) {
                let message = format!("\"{key}\" means nothing to a classifier of kind \"{kind}\"");
                let hint = format!("remove it; such a classifier has: {}", known.join(", "));
                self.refuse(&key, message, hint);
            }
        }
    }

    fn options(&mut self) -> Options {
        let mut options = Options::default();
        options.action = self.parsed("action").unwrap_or(options.action);
        let on_error = self.parsed("on_error");
        options.on_error = on_error.unwrap_or_else(|| options.action.on_error());
        self.read_into("timeout", &mut options.timeout);
        self.read_into("max_concurrent", &mut options.max_concurrent);
        self.read_into("max_chunks", &mut options.max_chunks);
        self.read_into("chunk_chars", &mut options.chunk_chars);
        self.read_into("cache_entries", &mut options.cache_entries);
        self.read_into("cache_ttl", &mut options.cache_ttl);
        self.read_into("breaker_pause", &mut options.breaker_pause);
        options
    }
}
