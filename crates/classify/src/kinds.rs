//! The kinds of classifiers, one file each: how a provider is asked and how its answer is read.

/// The parts of a [`Classifier`] that are the same for every kind: it has the fields `name` and `identity`, a constant
/// `LIMITS` and a method `ask`.
macro_rules! classifier {
    ($kind:ty $(, knows_origin: $knows_origin:literal)?) => {
        impl crate::classifier::Classifier for $kind {
            fn name(&self) -> &str {
                &self.name
            }

            fn identity(&self) -> &str {
                &self.identity
            }

            fn limits(&self) -> Limits {
                LIMITS
            }

            $(fn knows_origin(&self) -> bool {
                $knows_origin
            })?

            fn screen<'a>(&'a self, question: &'a Question) -> crate::classifier::VerdictFuture<'a> {
                Box::pin(self.ask(question))
            }
        }
    };
}

mod bedrock;
#[cfg(feature = "local-model")]
mod local;
mod nemo;
mod prompt_shields;
mod webhook;

use std::sync::Arc;

use crate::classifier::Classifier;
use crate::error::SetupError;
use crate::settings::{Kind, Settings};

/// The classifier that settings describe.
pub(crate) fn build(settings: &Settings) -> Result<Arc<dyn Classifier>, SetupError> {
    let name = settings.name.as_str();
    Ok(match &settings.kind {
        Kind::PromptShields(shields) => {
            Arc::new(prompt_shields::PromptShields::new(name, shields)?)
        }
        Kind::Bedrock(bedrock) => Arc::new(bedrock::Bedrock::new(name, bedrock)?),
        Kind::Nemo(nemo) => Arc::new(nemo::Nemo::new(name, nemo)?),
        Kind::Webhook(webhook) => Arc::new(webhook::Webhook::new(name, webhook)?),
        #[cfg(feature = "local-model")]
        Kind::Local(local) => Arc::new(local::Local::new(name, local)?),
        #[cfg(not(feature = "local-model"))]
        Kind::Local(_) => return Err(SetupError::NoLocalModel),
    })
}
