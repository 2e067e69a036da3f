//! A classifier of one's own, asked over HTTP with a few lines of JSON: chunks with ids in, one verdict for each id out.
//! A verdict too few, too many or about something else is an error, not an answer.

use serde::{Deserialize, Serialize};

use crate::classifier::Limits;
use crate::error::{Error, SetupError};
use crate::http::Client;
use crate::settings;
use crate::verdict::{Action, Label, Question, Verdict};

const LIMITS: Limits = Limits {
    chunk_chars: 8_000,
    batch_chunks: 16,
    batch_chars: 64_000,
};

#[derive(Debug)]
pub(super) struct Webhook {
    name: String,
    identity: String,
    client: Client,
}

impl Webhook {
    pub(super) fn new(name: &str, settings: &settings::Webhook) -> Result<Self, SetupError> {
        let headers = settings.headers.iter();
        let headers = headers.map(|(name, value)| (name.as_str(), value.expose().to_owned()));
        Ok(Self {
            name: name.to_owned(),
            identity: format!("webhook {}", settings.endpoint),
            client: Client::new(&settings.endpoint, headers)?,
        })
    }

    async fn ask(&self, question: &Question) -> Result<Vec<Verdict>, Error> {
        let chunks = question.chunks.iter();
        let body = Body {
            request_id: &question.origin.request_id,
            server: &question.origin.server,
            tool: &question.origin.tool,
            chunks: chunks
                .map(|chunk| WebhookChunk {
                    id: chunk.id,
                    text: &chunk.text,
                })
                .collect(),
        };
        let reply: Reply = self.client.ask("", &body).await?;
        in_order(reply.verdicts, question)
    }
}

/// The verdicts in the order of the chunks: one for each and no other.
fn in_order(mut received: Vec<ChunkVerdict>, question: &Question) -> Result<Vec<Verdict>, Error> {
    let mut verdicts = Vec::with_capacity(question.chunks.len());
    for chunk in &question.chunks {
        let at = received.iter().position(|verdict| verdict.id == chunk.id);
        let verdict = received.swap_remove(at.ok_or(Error::Incomplete)?);
        verdicts.push(verdict.try_into()?);
    }
    if received.is_empty() {
        Ok(verdicts)
    } else {
        Err(Error::Incomplete)
    }
}

classifier!(Webhook, knows_origin: true);

#[derive(Serialize)]
struct Body<'a> {
    request_id: &'a str,
    server: &'a str,
    tool: &'a str,
    chunks: Vec<WebhookChunk<'a>>,
}

#[derive(Serialize)]
struct WebhookChunk<'a> {
    id: usize,
    text: &'a str,
}

#[derive(Deserialize)]
struct Reply {
    verdicts: Vec<ChunkVerdict>,
}

#[derive(Deserialize)]
struct ChunkVerdict {
    id: usize,
    action: Action,
    score: Option<f32>,
    label: Option<String>,
}

impl TryFrom<ChunkVerdict> for Verdict {
    type Error = Error;

    fn try_from(verdict: ChunkVerdict) -> Result<Self, Error> {
        let ChunkVerdict { action, score, .. } = verdict;
        if score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            return Err(Error::Malformed);
        }
        Ok(Self {
            action,
            score,
            label: verdict.label.as_deref().and_then(Label::new),
        })
    }
}
