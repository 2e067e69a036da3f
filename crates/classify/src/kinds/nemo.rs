//! A NeMo Guardrails server, asked at `/v1/checks`, which runs rails without generating anything. Tool results have no
//! rail over HTTP: a message with the role of a tool passes unscreened. So the text is presented as a user's message to
//! the input rails, or as a model's to the output rails. Text that a rail changed is not used; that it did is a flag.

use serde::Deserialize;
use serde_json::json;

use crate::classifier::Limits;
use crate::error::{Error, SetupError};
use crate::http::Client;
use crate::settings::{self, NemoRail};
use crate::verdict::{Action, Question, Verdict};

const LIMITS: Limits = Limits {
    chunk_chars: 4_000,
    batch_chunks: 1,
    batch_chars: 4_000,
};

#[derive(Debug)]
pub(super) struct Nemo {
    name: String,
    identity: String,
    client: Client,
    settings: settings::Nemo,
}

impl Nemo {
    pub(super) fn new(name: &str, settings: &settings::Nemo) -> Result<Self, SetupError> {
        let config = settings.config_id.as_deref().unwrap_or_default();
        let rail = settings.rail.as_str();
        let headers = settings.headers.iter();
        let headers = headers.map(|(name, value)| (name.as_str(), value.expose().to_owned()));
        Ok(Self {
            name: name.to_owned(),
            identity: format!(
                "nemo {} {config} {} {rail}",
                settings.endpoint, settings.model
            ),
            client: Client::new(&settings.endpoint, headers)?,
            settings: settings.clone(),
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
        let role = match self.settings.rail {
            NemoRail::Input => "user",
            NemoRail::Output => "assistant",
        };
        let mut guardrails = json!({ "rail_types": [self.settings.rail.as_str()] });
        if let Some(id) = &self.settings.config_id {
            guardrails["config_id"] = json!(id);
        }
        let body = json!({
            "model": self.settings.model,
            "messages": [{ "role": role, "content": text }],
            "guardrails": guardrails,
        });
        let reply: Reply = self.client.ask("/v1/checks", &body).await?;
        let action = match reply.status {
            Status::Passed => return Ok(Verdict::default()),
            Status::Modified => Action::Flag,
            Status::Blocked => Action::Block,
        };
        Ok(Verdict::new(action).labelled(&reply.rail.unwrap_or_default().replace(' ', "_")))
    }
}

classifier!(Nemo);

#[derive(Deserialize)]
struct Reply {
    status: Status,
    rail: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Passed,
    Modified,
    Blocked,
}
