//! Bedrock: the region, the keys and where they come from, and what is asked.

use countersign_classify::{AwsAuth, Bedrock, BedrockCheck, BedrockSource, Kind, Secret as Key};

use super::Reading;
use crate::problem::Problem;
use crate::reader::Reader;

/// The score from which the prompt-attack check counts, unless something else is said.
const SEVERE: f32 = 0.6;

impl Reader<'_, '_> {
    pub(super) fn bedrock(&mut self, reading: &mut Reading) -> Option<Kind> {
        let region = reading.word("region").map(str::to_owned);
        let region = region
            .or_else(|| self.environment.get("AWS_REGION"))
            .or_else(|| self.environment.get("AWS_DEFAULT_REGION"));
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let region = match region {
            Some(region) if !region.is_empty() && region.bytes().all(plain) => region,
            Some(_) => {
                let hint = "write one like \"eu-west-1\"";
                self.refuse(reading.at("region"), "not a region", hint);
                return None;
            }
            None => {
                self.missing(reading, "region", "\"eu-west-1\", or set AWS_REGION");
                return None;
            }
        };
        let endpoint = match reading.word("endpoint") {
            Some(_) => self.endpoint(reading, true)?,
            None => format!("https://bedrock-runtime.{region}.amazonaws.com"),
        };
        let auth = self.aws_auth(reading);
        let check = self.bedrock_check(reading);
        Some(Kind::Bedrock(Bedrock {
            endpoint,
            region,
            auth: auth?,
            check: check?,
        }))
    }

    fn aws_auth(&mut self, reading: &mut Reading) -> Option<AwsAuth> {
        if reading.word("api_key").is_some() {
            return self.key(reading, "api_key").map(AwsAuth::Bearer);
        }
        if let Some(id) = reading.member("access_key_id") {
            let id = self.secret(id)?;
            if reading.word("secret_access_key").is_none() {
                self.missing(
                    reading,
                    "secret_access_key",
                    "\"${env:AWS_SECRET_ACCESS_KEY}\"",
                );
            }
            return Some(AwsAuth::Keys {
                access_key_id: id.expose().to_owned(),
                secret_access_key: self.key(reading, "secret_access_key")?,
                session_token: self.key(reading, "session_token"),
            });
        }
        let variable = |name: &str| self.environment.get(name);
        if let Some(key) = variable("AWS_BEARER_TOKEN_BEDROCK") {
            return Some(AwsAuth::Bearer(Key::new(key)));
        }
        let keys = (
            variable("AWS_ACCESS_KEY_ID"),
            variable("AWS_SECRET_ACCESS_KEY"),
        );
        if let (Some(id), Some(key)) = keys {
            return Some(AwsAuth::Keys {
                access_key_id: id,
                secret_access_key: Key::new(key),
                session_token: variable("AWS_SESSION_TOKEN").map(Key::new),
            });
        }
        self.refuse(reading.node, "no key for Bedrock", "give \"api_key\", or \"access_key_id\" and \"secret_access_key\", or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
        None
    }

    fn bedrock_check(&mut self, reading: &Reading) -> Option<BedrockCheck> {
        if reading.has_word("check", "prompt_attack") {
            for key in ["guardrail_id", "guardrail_version", "source"] {
                if reading.word(key).is_some() {
                    let message = format!("\"{key}\" means nothing to the prompt-attack check");
                    self.refuse(reading.at(key), message, "remove it");
                }
            }
            let threshold = self.threshold(reading).unwrap_or(SEVERE);
            return Some(BedrockCheck::PromptAttack { threshold });
        }
        let Some(id) = reading.word("guardrail_id") else {
            self.missing(reading, "guardrail_id", "the guardrail's id or ARN");
            return None;
        };
        let version = reading.word("guardrail_version").unwrap_or("DRAFT");
        let digits = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        if version != "DRAFT" && !digits {
            self.refuse(
                reading.at("guardrail_version"),
                "not a version",
                "write a number, or \"DRAFT\"",
            );
        }
        let source = match reading.word("source") {
            Some("INPUT") => BedrockSource::Input,
            Some("BOTH") => BedrockSource::Both,
            _ => BedrockSource::Output,
        };
        self.warn_of_source(reading, source);
        Some(BedrockCheck::Guardrail {
            id: id.to_owned(),
            version: version.to_owned(),
            source,
        })
    }

    fn warn_of_source(&mut self, reading: &Reading, source: BedrockSource) {
        let (message, hint) = match source {
            BedrockSource::Input => return,
            BedrockSource::Output => (
                "the prompt-attack filter of Bedrock is documented for input only; as OUTPUT it may not look at all",
                "set \"source\" to \"INPUT\" or \"BOTH\" if the guardrail has that filter",
            ),
            BedrockSource::Both => (
                "every text is sent to Bedrock twice, as OUTPUT and as INPUT",
                "the prompt-attack filter is documented for input only; \"INPUT\" alone is enough for it",
            ),
        };
        self.warn(reading.at("source"), Problem::new(message, hint));
    }
}
