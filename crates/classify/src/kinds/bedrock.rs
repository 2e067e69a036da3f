//! Amazon Bedrock Guardrails, in two ways: `ApplyGuardrail`, where a guardrail of the account decides, and
//! `InvokeGuardrailChecks`, which needs none and gives a score. A guardrail may intervene to mask personal data; that is
//! a flag and no injection, and masked text is never used. See
//! `docs/decisions/bedrock-guardrails.md`.

use countersign_dial::sigv4::{Signer, Unsigned, encode_segment};
use hyper::header::HeaderMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::classifier::Limits;
use crate::error::{Error, SetupError};
use crate::http::Client;
use crate::settings::{self, AwsAuth, BedrockCheck, BedrockSource};
use crate::verdict::{Action, Question, Verdict};

const LIMITS: Limits = Limits {
    chunk_chars: 10_000,
    // One action is all a guardrail says, whatever the number of texts.
    batch_chunks: 1,
    batch_chars: 10_000,
};
const CATEGORIES: [&str; 3] = ["JAILBREAK", "PROMPT_INJECTION", "PROMPT_LEAKAGE"];

#[derive(Debug)]
pub(super) struct Bedrock {
    name: String,
    identity: String,
    client: Client,
    /// Signs requests. Nothing if they carry an API key.
    signer: Option<Signer>,
    check: BedrockCheck,
    path: String,
}

impl Bedrock {
    pub(super) fn new(name: &str, settings: &settings::Bedrock) -> Result<Self, SetupError> {
        let (bearer, signer) = match &settings.auth {
            AwsAuth::Bearer(key) => {
                let value = format!("Bearer {}", key.expose());
                (Some(("authorization", value)), None)
            }
            AwsAuth::Keys {
                access_key_id,
                secret_access_key,
                session_token,
            } => {
                let signer = Signer {
                    access_key_id: access_key_id.clone(),
                    secret_access_key: secret_access_key.expose().to_owned(),
                    session_token: session_token
                        .as_ref()
                        .map(|token| token.expose().to_owned()),
                    region: settings.region.clone(),
                    service: "bedrock",
                };
                (None, Some(signer))
            }
        };
        let client = Client::new(&settings.endpoint, bearer)?;
        let path = match &settings.check {
            BedrockCheck::Guardrail { id, version, .. } => {
                format!(
                    "/guardrail/{}/version/{}/apply",
                    encode_segment(id),
                    encode_segment(version)
                )
            }
            BedrockCheck::PromptAttack { .. } => "/guardrail-checks/invoke".to_owned(),
        };
        Ok(Self {
            name: name.to_owned(),
            identity: format!("bedrock {} {path} {:?}", settings.endpoint, settings.check),
            path: client.path(&path),
            client,
            signer,
            check: settings.check.clone(),
        })
    }

    async fn ask(&self, question: &Question) -> Result<Vec<Verdict>, Error> {
        let mut verdicts = Vec::with_capacity(question.chunks.len());
        for chunk in &question.chunks {
            verdicts.push(self.check(&chunk.text).await?);
        }
        Ok(verdicts)
    }

    async fn check(&self, text: &str) -> Result<Verdict, Error> {
        match &self.check {
            BedrockCheck::PromptAttack { threshold } => self.attack(text, *threshold).await,
            BedrockCheck::Guardrail { source, .. } => match source {
                BedrockSource::Output => self.apply(text, "OUTPUT").await,
                BedrockSource::Input => self.apply(text, "INPUT").await,
                BedrockSource::Both => {
                    let output = self.apply(text, "OUTPUT").await?;
                    let input = self.apply(text, "INPUT").await?;
                    Ok(if input.action > output.action {
                        input
                    } else {
                        output
                    })
                }
            },
        }
    }

    async fn apply(&self, text: &str, source: &str) -> Result<Verdict, Error> {
        let body = json!({ "source": source, "content": [{ "text": { "text": text } }] });
        let applied: ApplyGuardrailResponse = self.post(&body).await?;
        applied.verdict()
    }

    async fn attack(&self, text: &str, threshold: f32) -> Result<Verdict, Error> {
        let categories = CATEGORIES.map(|category| json!({ "category": category }));
        let body = json!({
            "messages": [{ "role": "user", "content": [{ "text": text }] }],
            "checks": { "promptAttack": { "categories": categories } },
        });
        let checked: GuardrailChecksResponse = self.post(&body).await?;
        checked.verdict(threshold)
    }

    async fn post<T: DeserializeOwned>(&self, body: &Value) -> Result<T, Error> {
        let body = body.to_string().into_bytes();
        let headers = self.headers(&body)?;
        self.client.post(&self.path, headers, body).await
    }

    /// The headers that sign a body.
    fn headers(&self, body: &[u8]) -> Result<HeaderMap, Error> {
        let Some(signer) = &self.signer else {
            return Ok(HeaderMap::new());
        };
        let signed = signer.sign(&Unsigned {
            method: "POST",
            path: &self.path,
            host: self.client.authority(),
            headers: &[("content-type", "application/json")],
            body,
        });
        signed.map_err(|_| Error::Internal)
    }
}

classifier!(Bedrock);

/// What `ApplyGuardrail` answers.
#[derive(Deserialize)]
struct ApplyGuardrailResponse {
    action: String,
    #[serde(default)]
    assessments: Vec<Value>,
}

impl ApplyGuardrailResponse {
    fn verdict(&self) -> Result<Verdict, Error> {
        let entries = self.entries();
        let acted = || entries.iter().filter(|found| found.action != "NONE");
        match self.action.as_str() {
            "NONE" => {
                // A filter that only detects says so and does nothing.
                let detected = entries.iter().find(|found| found.detected);
                Ok(detected.map_or_else(Verdict::default, |found| {
                    Verdict::new(Action::Flag).labelled(found.label)
                }))
            }
            "GUARDRAIL_INTERVENED" => {
                let masks = |found: &&PolicyEntry<'_>| found.action == "ANONYMIZED";
                if acted().next().is_some() && acted().all(|found| masks(&found)) {
                    return Ok(Verdict::new(Action::Flag).labelled("masking"));
                }
                let cause = acted().find(|found| !masks(found));
                let label = cause.map_or("intervened", |found| found.label);
                Ok(Verdict::new(Action::Block).labelled(label))
            }
            _ => Err(Error::Malformed),
        }
    }

    /// Every entry of every policy. Policies differ in how they name their lists; each entry has an `action`.
    fn entries(&self) -> Vec<PolicyEntry<'_>> {
        let policies = self.assessments.iter().filter_map(Value::as_object);
        let policies = policies.flat_map(|policies| policies.values());
        let lists = policies
            .filter_map(Value::as_object)
            .flat_map(|policy| policy.values());
        let entries = lists.filter_map(Value::as_array).flatten();
        entries.filter_map(PolicyEntry::read).collect()
    }
}

struct PolicyEntry<'a> {
    action: &'a str,
    detected: bool,
    /// Its type, or what kind of entry it is. Never its `match`, which is text of the result.
    label: &'a str,
}

impl<'a> PolicyEntry<'a> {
    fn read(entry: &'a Value) -> Option<Self> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        Some(Self {
            action: text("action")?,
            detected: entry.get("detected") == Some(&Value::Bool(true)),
            label: text("type").unwrap_or("policy"),
        })
    }
}

/// What `InvokeGuardrailChecks` answers.
#[derive(Deserialize)]
struct GuardrailChecksResponse {
    results: Results,
}

#[derive(Deserialize)]
struct Results {
    #[serde(rename = "promptAttack")]
    attack: Scores,
}

#[derive(Deserialize)]
struct Scores {
    results: Vec<Score>,
}

#[derive(Deserialize)]
struct Score {
    category: String,
    #[serde(rename = "severityScore")]
    score: f32,
}

impl GuardrailChecksResponse {
    fn verdict(&self, threshold: f32) -> Result<Verdict, Error> {
        let scores = &self.results.attack.results;
        for category in CATEGORIES {
            let of = scores.iter().filter(|score| score.category == category);
            if of.count() != 1 {
                return Err(Error::Incomplete);
            }
        }
        let worst = scores.iter().max_by(|a, b| a.score.total_cmp(&b.score));
        let worst = worst.ok_or(Error::Incomplete)?;
        if !(0.0..=1.0).contains(&worst.score) {
            return Err(Error::Malformed);
        }
        let action = if worst.score >= threshold {
            Action::Block
        } else {
            Action::Allow
        };
        Ok(Verdict::new(action)
            .labelled(&worst.category)
            .scored(worst.score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(json: Value) -> Result<Verdict, Error> {
        serde_json::from_value::<ApplyGuardrailResponse>(json)
            .unwrap()
            .verdict()
    }

    #[test]
    fn an_intervention_blocks_unless_it_only_masks() {
        let attack = json!({"contentPolicy": {"filters": [
            {"type": "PROMPT_ATTACK", "confidence": "HIGH", "action": "BLOCKED"}]}});
        let masked = json!({"sensitiveInformationPolicy": {
            "piiEntities": [{"type": "EMAIL", "match": "a@b.example", "action": "ANONYMIZED"}],
            "regexes": [{"name": "card", "action": "NONE"}]}});
        let verdict = applied(json!({"action": "GUARDRAIL_INTERVENED", "assessments": [attack]}));
        assert_eq!(
            verdict,
            Ok(Verdict::new(Action::Block).labelled("PROMPT_ATTACK"))
        );
        let verdict = applied(json!({"action": "GUARDRAIL_INTERVENED", "assessments": [masked]}));
        assert_eq!(verdict, Ok(Verdict::new(Action::Flag).labelled("masking")));
        let both = json!({"action": "GUARDRAIL_INTERVENED", "assessments": [masked, attack]});
        assert_eq!(applied(both).unwrap().action, Action::Block);
        let unexplained = json!({"action": "GUARDRAIL_INTERVENED", "assessments": []});
        assert_eq!(applied(unexplained).unwrap().action, Action::Block);
    }

    #[test]
    fn no_intervention_allows_unless_something_was_detected() {
        assert_eq!(applied(json!({"action": "NONE"})), Ok(Verdict::default()));
        let detected = json!({"contentPolicy": {"filters": [
            {"type": "PROMPT_ATTACK", "action": "NONE", "detected": true}]}});
        let verdict = applied(json!({"action": "NONE", "assessments": [detected]}));
        assert_eq!(
            verdict,
            Ok(Verdict::new(Action::Flag).labelled("PROMPT_ATTACK"))
        );
        assert_eq!(
            applied(json!({"action": "SOMETHING"})),
            Err(Error::Malformed)
        );
    }

    #[test]
    fn a_score_is_needed_for_every_category() {
        let checked = |scores: &[(&str, f32)]| {
            let scores = scores.iter().map(|(category, score)| Score {
                category: (*category).to_owned(),
                score: *score,
            });
            let attack = Scores {
                results: scores.collect(),
            };
            GuardrailChecksResponse {
                results: Results { attack },
            }
            .verdict(0.6)
        };
        let all = [
            ("JAILBREAK", 0.2),
            ("PROMPT_INJECTION", 0.8),
            ("PROMPT_LEAKAGE", 0.0),
        ];
        let verdict = Verdict::new(Action::Block)
            .labelled("PROMPT_INJECTION")
            .scored(0.8);
        assert_eq!(checked(&all), Ok(verdict));
        assert_eq!(checked(&all[..2]), Err(Error::Incomplete));
        let low = [
            ("JAILBREAK", 0.2),
            ("PROMPT_INJECTION", 0.4),
            ("PROMPT_LEAKAGE", 0.0),
        ];
        assert_eq!(checked(&low).unwrap().action, Action::Allow);
        let wrong = [
            ("JAILBREAK", 7.0),
            ("PROMPT_INJECTION", 0.4),
            ("PROMPT_LEAKAGE", 0.0),
        ];
        assert_eq!(checked(&wrong), Err(Error::Malformed));
    }
}
