//! Prompt Shields: where the resource is, and which of two keys it is asked with.

use countersign_classify::{Kind, PromptShields, ShieldsAuth};

use super::Reading;

impl Reading<'_, '_, '_> {
    pub(super) fn prompt_shields(&mut self) -> Option<Kind> {
        let endpoint = self.endpoint(true);
        let has_key = self.member("api_key").is_some();
        if has_key && self.member("bearer_token").is_some() {
            let message = "\"api_key\" and \"bearer_token\" are both given";
            self.refuse("bearer_token", message, "keep one");
        }
        let auth = match self.key("bearer_token") {
            Some(token) => Some(ShieldsAuth::Bearer(token)),
            None if !has_key => self.missing("api_key", "\"${env:AZURE_CONTENT_SAFETY_KEY}\""),
            None => self.key("api_key").map(ShieldsAuth::Key),
        };
        Some(Kind::PromptShields(PromptShields {
            endpoint: endpoint?,
            auth: auth?,
        }))
    }
}
