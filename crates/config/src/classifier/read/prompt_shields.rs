//! Prompt Shields: where the resource is, and which of two keys it is asked with.

use countersign_classify::{Kind, PromptShields, ShieldsAuth};

use super::Reading;
use crate::reader::Reader;

impl Reader<'_, '_> {
    pub(super) fn prompt_shields(&mut self, reading: &mut Reading) -> Option<Kind> {
        let endpoint = self.endpoint(reading, true);
        if reading.word("api_key").is_some() && reading.word("bearer_token").is_some() {
            let message = "\"api_key\" and \"bearer_token\" are both given";
            self.refuse(reading.at("bearer_token"), message, "keep one");
        }
        let auth = match self.key(reading, "bearer_token") {
            Some(token) => Some(ShieldsAuth::Bearer(token)),
            None if reading.word("api_key").is_none() => {
                self.missing(reading, "api_key", "\"${env:AZURE_CONTENT_SAFETY_KEY}\"");
                None
            }
            None => self.key(reading, "api_key").map(ShieldsAuth::Key),
        };
        Some(Kind::PromptShields(PromptShields {
            endpoint: endpoint?,
            auth: auth?,
        }))
    }
}
