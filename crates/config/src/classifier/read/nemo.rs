//! NeMo Guardrails: where the server is, and which of its rails are asked.

use countersign_classify::{Kind, Nemo, NemoRail};

use super::Reading;
use crate::reader::Reader;

impl Reader<'_, '_> {
    pub(super) fn nemo(&mut self, reading: &mut Reading) -> Option<Kind> {
        let endpoint = self.endpoint(reading, false);
        let headers = self.headers(reading);
        let rail = if reading.has_word("rail", "output") {
            NemoRail::Output
        } else {
            NemoRail::Input
        };
        Some(Kind::Nemo(Nemo {
            endpoint: endpoint?,
            config_id: reading.word("config_id").map(str::to_owned),
            model: reading.word("model").unwrap_or("none").to_owned(),
            rail,
            headers,
        }))
    }
}
