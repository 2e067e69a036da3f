//! Amazon Bedrock Guardrails: where, as whom, and what is asked.

use countersign_inspect::word_enum;

use super::Secret;

/// Amazon Bedrock Guardrails.
#[derive(Clone, Debug, PartialEq)]
pub struct Bedrock {
    /// The address of `bedrock-runtime` in the region.
    pub endpoint: String,
    /// The region.
    pub region: String,
    /// The credentials that requests carry.
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

word_enum! {
    /// As what a text is presented to a guardrail.
    #[derive(Default)]
    pub enum BedrockSource {
        /// A model's answer.
        #[default]
        Output = "OUTPUT",
        /// A user's prompt.
        Input = "INPUT",
        /// One after the other; the worse verdict counts.
        Both = "BOTH",
    }
}
