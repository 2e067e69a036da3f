//! Documents that schemas refer to, kept for a while so that each list of a server does not fetch them again. What could
//! not be fetched is remembered too, for a shorter time.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_dial::lock;
use tokio::sync::watch;

const KEPT: Duration = Duration::from_hours(1);
const REFUSAL_KEPT: Duration = Duration::from_mins(1);
/// More are not kept: the oldest goes.
const MOST: usize = 256;

/// The documents, by address, or why each was not fetched.
#[derive(Debug, Default)]
pub(crate) struct FetchedDocuments {
    known: Mutex<HashMap<String, FetchedDocument>>,
    /// Tells when everything was forgotten.
    forgotten: watch::Sender<()>,
}

#[derive(Debug)]
struct FetchedDocument {
    at: Instant,
    document: Result<Bytes, String>,
}

impl FetchedDocument {
    fn is_fresh(&self) -> bool {
        let kept = if self.document.is_ok() {
            KEPT
        } else {
            REFUSAL_KEPT
        };
        self.at.elapsed() < kept
    }
}

impl FetchedDocuments {
    /// What is known about an address.
    pub(crate) fn get(&self, address: &str) -> Option<Result<Bytes, String>> {
        let all = lock(&self.known);
        let known = all.get(address).filter(|known| known.is_fresh())?;
        Some(known.document.clone())
    }

    /// Takes note of a document.
    pub(crate) fn put(&self, address: String, document: Result<Bytes, String>) {
        let mut all = lock(&self.known);
        all.retain(|_, known| known.is_fresh());
        if all.len() >= MOST {
            let oldest = all.iter().min_by_key(|(_, known)| known.at);
            if let Some(oldest) = oldest.map(|(address, _)| address.clone()) {
                all.remove(&oldest);
            }
        }
        let at = Instant::now();
        all.insert(address, FetchedDocument { at, document });
    }

    /// Forgets everything, and has every list captured again: the operator has changed what may be fetched.
    pub(crate) fn forget(&self) {
        lock(&self.known).clear();
        self.forgotten.send_replace(());
    }

    /// Tells when everything was forgotten.
    pub(crate) fn forgotten(&self) -> watch::Receiver<()> {
        self.forgotten.subscribe()
    }
}
