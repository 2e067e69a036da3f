//! Requests under way over stdio, by the id that the boundary gave them.

use std::collections::BTreeMap;

use super::request::Request;

/// A server that never answers must not cost memory without end: beyond this the oldest request is forgotten, and an
/// answer to it is dropped.
const MOST: usize = 65_536;

#[derive(Default)]
pub(super) struct Requests {
    next: u64,
    waiting: BTreeMap<u64, Request>,
}

impl Requests {
    /// Keeps a request and gives it an id.
    pub(super) fn insert(&mut self, request: Request) -> u64 {
        self.next += 1;
        self.waiting.insert(self.next, request);
        if self.waiting.len() > MOST {
            self.waiting.pop_first();
        }
        self.next
    }

    /// The request with this id token. It is answered once only.
    pub(super) fn take(&mut self, id: &[u8]) -> Option<Request> {
        let text = std::str::from_utf8(id).ok()?;
        let id: u64 = text.parse().ok()?;
        // `01` and `+1` would parse too; they are not what was sent.
        (id.to_string() == text).then(|| self.waiting.remove(&id))?
    }

    /// The ids given to the requests with this client id. If there is one, it is no longer waited for.
    pub(super) fn cancel(&mut self, client_id: &[u8]) -> Vec<u64> {
        let same = |(_, request): &(&u64, &Request)| request.client_id == client_id;
        let own: Vec<u64> = self
            .waiting
            .iter()
            .filter(same)
            .map(|(id, _)| *id)
            .collect();
        if let [only] = own[..] {
            self.waiting.remove(&only);
        }
        own
    }
}
