//! What a classifier is and where.

use std::collections::BTreeMap;
use std::path::PathBuf;

use countersign_inspect::word_enum;

use super::Secret;
use super::bedrock::Bedrock;

/// What a classifier is and where.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Azure Prompt Shields.
    PromptShields(PromptShields),
    /// Amazon Bedrock Guardrails.
    Bedrock(Bedrock),
    /// A NeMo Guardrails server.
    Nemo(Nemo),
    /// Anything that speaks the webhook's JSON.
    Webhook(Webhook),
    /// A model in this process.
    Local(Local),
}

impl Kind {
    /// Every word, as a configuration writes it.
    pub const WORDS: &'static [&'static str] =
        &["prompt_shields", "bedrock", "nemo", "webhook", "local"];

    /// The word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::PromptShields(_) => "prompt_shields",
            Self::Bedrock(_) => "bedrock",
            Self::Nemo(_) => "nemo",
            Self::Webhook(_) => "webhook",
            Self::Local(_) => "local",
        }
    }

    /// Where text is sent, unless it stays in this process.
    pub fn endpoint(&self) -> Option<&str> {
        match self {
            Self::PromptShields(shields) => Some(&shields.endpoint),
            Self::Bedrock(bedrock) => Some(&bedrock.endpoint),
            Self::Nemo(nemo) => Some(&nemo.endpoint),
            Self::Webhook(webhook) => Some(&webhook.endpoint),
            Self::Local(_) => None,
        }
    }
}

/// Azure Prompt Shields.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptShields {
    /// The resource's address.
    pub endpoint: String,
    /// The credentials that requests carry.
    pub auth: ShieldsAuth,
}

/// How Azure knows us.
#[derive(Clone, Debug, PartialEq)]
pub enum ShieldsAuth {
    /// The resource's key.
    Key(Secret),
    /// A token of Entra.
    Bearer(Secret),
}

/// A NeMo Guardrails server.
#[derive(Clone, Debug, PartialEq)]
pub struct Nemo {
    /// Its address.
    pub endpoint: String,
    /// Which of its configurations; its default one if nothing is said.
    pub config_id: Option<String>,
    /// The model's name in the request; a configuration without models does not care.
    pub model: String,
    /// Which rails.
    pub rail: NemoRail,
    /// Headers of every request.
    pub headers: BTreeMap<String, Secret>,
}

word_enum! {
    /// Which rails look at a text. There is no rail for tool results over HTTP: a message with the role of a tool passes
    /// unscreened, so the text is presented as one of these.
    #[derive(Default)]
    pub enum NemoRail {
        /// Input rails, on a user's message.
        #[default]
        Input = "input",
        /// Output rails, on a model's message.
        Output = "output",
    }
}

/// Anything that speaks the webhook's JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Webhook {
    /// Its address.
    pub endpoint: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, Secret>,
}

/// A model in this process.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// The folder with `model_quantized.onnx` (or `model.onnx`) and `tokenizer.json`.
    pub path: PathBuf,
    /// The score from which a text is an injection; the model's own if nothing is said.
    pub threshold: Option<f32>,
    /// What logits are divided by; the model's own if nothing is said.
    pub temperature: Option<f32>,
}
