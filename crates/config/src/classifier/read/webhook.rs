//! A webhook: an address and its headers.

use countersign_classify::{Kind, Webhook};

use super::Reading;
use crate::reader::Reader;

impl Reader<'_, '_> {
    pub(super) fn webhook(&mut self, reading: &mut Reading) -> Option<Kind> {
        let endpoint = self.endpoint(reading, false);
        let headers = self.headers(reading);
        Some(Kind::Webhook(Webhook {
            endpoint: endpoint?,
            headers,
        }))
    }
}
