//! Bedrock: the region, the keys and where they come from, and what is asked.

use countersign_classify::{AwsAuth, Bedrock, BedrockCheck, BedrockSource, Kind, Secret as Key};

use super::Reading;

/// The score from which the prompt-attack check counts, unless something else is said.
const SEVERE: f32 = 0.6;

impl Reading<'_, '_, '_> {
    pub(super) fn bedrock(&mut self) -> Option<Kind> {
        let variable = |name| self.reader.environment.get(name);
        let region = self.word("region").or_else(|| variable("AWS_REGION"));
        let region = region.or_else(|| variable("AWS_DEFAULT_REGION"));
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let region = match region {
            Some(region) if !region.is_empty() && region.bytes().all(plain) => region,
            Some(_) => {
                self.refuse("region", "not a region", "write one like \"eu-west-1\"");
                return None;
            }
            None => return self.missing("region", "\"eu-west-1\", or set AWS_REGION"),
        };
        let endpoint = match self.member("endpoint") {
            Some(_) => self.endpoint(true)?,
            None => format!("https://bedrock-runtime.{region}.amazonaws.com"),
        };
        let auth = self.aws_auth();
        let check = self.bedrock_check();
        Some(Kind::Bedrock(Bedrock {
            endpoint,
            region,
            auth: auth?,
            check: check?,
        }))
    }

    fn aws_auth(&mut self) -> Option<AwsAuth> {
        if self.member("api_key").is_some() {
            return self.key("api_key").map(AwsAuth::Bearer);
        }
        if let Some(id) = self.member("access_key_id") {
            let id = self.reader.secret(id)?;
            let key = "secret_access_key";
            if self.member(key).is_none() {
                return self.missing(key, "\"${env:AWS_SECRET_ACCESS_KEY}\"");
            }
            return Some(AwsAuth::Keys {
                access_key_id: id.expose().to_owned(),
                secret_access_key: self.key(key)?,
                session_token: self.key("session_token"),
            });
        }
        let variable = |name: &str| self.reader.environment.get(name);
        if let Some(key) = variable("AWS_BEARER_TOKEN_BEDROCK") {
            return Some(AwsAuth::Bearer(Key::new(key)));
        }
        let (id, key) = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
        if let (Some(id), Some(key)) = (variable(id), variable(key)) {
            return Some(AwsAuth::Keys {
                access_key_id: id,
                secret_access_key: Key::new(key),
                session_token: variable("AWS_SESSION_TOKEN").map(Key::new),
            });
        }
        let hint = "give \"api_key\", or \"access_key_id\" and \"secret_access_key\", or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
        self.reader.refuse(self.node, "no key for Bedrock", hint);
        None
    }

    fn bedrock_check(&mut self) -> Option<BedrockCheck> {
        if self.word("check").as_deref() == Some("prompt_attack") {
            for key in ["guardrail_id", "guardrail_version", "source"] {
                if self.member(key).is_some() {
                    let message = format!("\"{key}\" means nothing to the prompt-attack check");
                    self.refuse(key, message, "remove it");
                }
            }
            let threshold = self.threshold().unwrap_or(SEVERE);
            return Some(BedrockCheck::PromptAttack { threshold });
        }
        let Some(id) = self.word("guardrail_id") else {
            return self.missing("guardrail_id", "the guardrail's id or ARN");
        };
        let version = self.word("guardrail_version");
        let version = version.unwrap_or_else(|| "DRAFT".to_owned());
        let digits = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
        if version != "DRAFT" && !digits {
            let hint = "write a number, or \"DRAFT\"";
            self.refuse("guardrail_version", "not a version", hint);
        }
        let source = self.parsed("source").unwrap_or(BedrockSource::Output);
        self.warn_of_source(source);
        Some(BedrockCheck::Guardrail {
            id,
            version,
            source,
        })
    }

    fn warn_of_source(&mut self, source: BedrockSource) {
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
        self.warn("source", message, hint);
    }
}
