//! A webhook: an address and its headers.

use countersign_classify::{Kind, Webhook};

use super::Reading;

impl Reading<'_, '_, '_> {
    pub(super) fn webhook(&mut self) -> Option<Kind> {
        let endpoint = self.endpoint(false);
        let headers = self.headers();
        Some(Kind::Webhook(Webhook {
            endpoint: endpoint?,
            headers,
        }))
    }
}
