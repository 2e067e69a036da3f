//! Azure Prompt Shields: documents in, a boolean for each out. At most five documents and 10 000 characters at a time.
//! There is no score, so nothing to tune.

use serde::{Deserialize, Serialize};

use crate::classifier::Limits;
use crate::error::{Error, SetupError};
use crate::http::Client;
use crate::settings::{self, ShieldsAuth};
use crate::verdict::{Action, Question, Verdict};

const PATH: &str = "/contentsafety/text:shieldPrompt?api-version=2024-09-01";
const LIMITS: Limits = Limits {
    chunk_chars: 2_000,
    batch_chunks: 5,
    batch_chars: 10_000,
};

#[derive(Debug)]
pub(super) struct PromptShields {
    name: String,
    identity: String,
    client: Client,
}

impl PromptShields {
    pub(super) fn new(name: &str, settings: &settings::PromptShields) -> Result<Self, SetupError> {
        let header = match &settings.auth {
            ShieldsAuth::Key(key) => ("ocp-apim-subscription-key", key.expose().to_owned()),
            ShieldsAuth::Bearer(token) => ("authorization", format!("Bearer {}", token.expose())),
        };
        Ok(Self {
            name: name.to_owned(),
            identity: format!("prompt_shields {} {PATH}", settings.endpoint),
            client: Client::new(&settings.endpoint, [header])?,
        })
    }

    async fn ask(&self, question: &Question) -> Result<Vec<Verdict>, Error> {
        let body = Body {
            // The interface wants one; a tool's result is never a user's prompt.
            user_prompt: "",
            documents: question
                .chunks
                .iter()
                .map(|chunk| chunk.text.as_str())
                .collect(),
        };
        let reply: Reply = self.client.ask(PATH, &body).await?;
        // Positions are all that ties a verdict to its document.
        if reply.documents.len() != question.chunks.len() {
            return Err(Error::Incomplete);
        }
        Ok(reply.documents.iter().map(Analysis::verdict).collect())
    }
}

classifier!(PromptShields);

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "userPrompt")]
    user_prompt: &'a str,
    documents: Vec<&'a str>,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(rename = "documentsAnalysis")]
    documents: Vec<Analysis>,
}

#[derive(Deserialize)]
struct Analysis {
    #[serde(rename = "attackDetected")]
    attack: bool,
}

impl Analysis {
    fn verdict(&self) -> Verdict {
        if self.attack {
            Verdict::new(Action::Block).labelled("attackDetected")
        } else {
            Verdict::default()
        }
    }
}
