//! NeMo Guardrails: where the server is, and which of its rails are asked.

use countersign_classify::{Kind, Nemo, NemoRail};

use super::Reading;

impl Reading<'_, '_, '_> {
    pub(super) fn nemo(&mut self) -> Option<Kind> {
        let endpoint = self.endpoint(false);
        let headers = self.headers();
        Some(Kind::Nemo(Nemo {
            endpoint: endpoint?,
            config_id: self.word("config_id"),
            model: self.word("model").unwrap_or_else(|| "none".to_owned()),
            rail: self.parsed("rail").unwrap_or(NemoRail::Input),
            headers,
        }))
    }
}
