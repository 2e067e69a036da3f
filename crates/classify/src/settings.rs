//! Everything one classifier is set up with. Typed and complete; where it was written down, and whether a key came from
//! the environment, is not its business.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A key. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the key in.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// What is done about an injection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInjection {
    /// It is recorded and forwarded.
    #[default]
    Report,
    /// The result is blocked.
    Block,
}

/// What becomes of a result, or of a part of one, that could not be screened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Forwarded; only counted.
    Open,
    /// Forwarded, with a finding.
    Flag,
    /// Blocked.
    Closed,
}

impl OnInjection {
    /// Every word, as a configuration writes it.
    pub const WORDS: &'static [&'static str] = &["report", "block"];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Block => "block",
        }
    }

    /// What becomes of a result that could not be screened, if nothing else is said: whoever blocks on a verdict does
    /// not mean to forward without one.
    pub const fn on_error(self) -> OnError {
        match self {
            Self::Report => OnError::Flag,
            Self::Block => OnError::Closed,
        }
    }
}

impl OnError {
    /// Every word, as a configuration writes it.
    pub const WORDS: &'static [&'static str] = &["open", "flag", "closed"];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Flag => "flag",
            Self::Closed => "closed",
        }
    }
}

/// How a classifier is asked and what its verdicts lead to, whatever its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is done about an injection.
    pub action: OnInjection,
    /// What is done about text that could not be screened.
    pub on_error: OnError,
    /// How long one question may take.
    pub timeout: Duration,
    /// How many questions are under way at a time, of all calls together.
    pub max_concurrent: usize,
    /// How many chunks of one result are screened at most.
    pub max_chunks: usize,
    /// How long a chunk is at most; what the classifier takes if it is less, or if nothing is said.
    pub chunk_chars: Option<usize>,
    /// How many verdicts are remembered; 0 remembers none.
    pub cache_entries: usize,
    /// For how long.
    pub cache_ttl: Duration,
    /// After how many failures in a row the classifier is left alone.
    pub breaker_failures: u32,
    /// For how long.
    pub breaker_pause: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            action: OnInjection::Report,
            on_error: OnError::Flag,
            timeout: Duration::from_millis(800),
            max_concurrent: 8,
            max_chunks: 32,
            chunk_chars: None,
            cache_entries: 10_000,
            cache_ttl: Duration::from_mins(10),
            breaker_failures: 5,
            breaker_pause: Duration::from_secs(10),
        }
    }
}

/// One classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What its operator calls it.
    pub name: String,
    /// How it is asked.
    pub options: Options,
    /// What it is.
    pub kind: Kind,
}

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
    /// How we say who we are.
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

/// Amazon Bedrock Guardrails.
#[derive(Clone, Debug, PartialEq)]
pub struct Bedrock {
    /// The address of `bedrock-runtime` in the region.
    pub endpoint: String,
    /// The region.
    pub region: String,
    /// How we say who we are.
    pub auth: AwsAuth,
    /// What is asked.
    pub check: BedrockCheck,
}

/// How AWS knows us.
#[derive(Clone, Debug, PartialEq)]
pub enum AwsAuth {
    /// Requests are signed (`SigV4`).
    Keys {
        /// The key's id.
        access_key_id: String,
        /// The key.
        secret_access_key: Secret,
        /// What temporary keys come with.
        session_token: Option<Secret>,
    },
    /// An API key of Bedrock.
    Bearer(Secret),
}

/// What Bedrock is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum BedrockCheck {
    /// `ApplyGuardrail`: a guardrail of the account decides.
    Guardrail {
        /// Its id or ARN.
        id: String,
        /// Its version: a number or `DRAFT`.
        version: String,
        /// As what the text is presented.
        source: BedrockSource,
    },
    /// `InvokeGuardrailChecks`: no guardrail is needed; a prompt-attack score of at least this is an injection.
    PromptAttack {
        /// From 0 to 1.
        threshold: f32,
    },
}

/// As what a text is presented to a guardrail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BedrockSource {
    /// A model's answer.
    #[default]
    Output,
    /// A user's prompt.
    Input,
    /// One after the other; the worse verdict counts.
    Both,
}

impl BedrockSource {
    /// Every word, as a configuration writes it.
    pub const WORDS: &'static [&'static str] = &["OUTPUT", "INPUT", "BOTH"];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Output => "OUTPUT",
            Self::Input => "INPUT",
            Self::Both => "BOTH",
        }
    }
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

/// Which rails look at a text. There is no rail for tool results over HTTP: a message with the role of a tool passes
/// unscreened, so the text is presented as one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NemoRail {
    /// Input rails, on a user's message.
    #[default]
    Input,
    /// Output rails, on a model's message.
    Output,
}

impl NemoRail {
    /// Every word, as a configuration writes it.
    pub const WORDS: &'static [&'static str] = &["input", "output"];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
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
