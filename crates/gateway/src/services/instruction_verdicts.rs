//! Whether the instructions of servers may be shown, as classifiers decided. Clients ask for them with every session, and a
//! classifier is asked once for each text and configuration.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use countersign_dial::lock;

use crate::state::Settings;

/// Verdicts by server.
#[derive(Debug, Default)]
pub(crate) struct InstructionVerdicts(Mutex<HashMap<Arc<str>, Verdict>>);

#[derive(Debug)]
struct Verdict {
    text: Bytes,
    settings: Arc<Settings>,
    is_blocked: bool,
}

impl InstructionVerdicts {
    /// Whether this text is blocked under these settings; nothing if that was not decided.
    pub(crate) fn get(&self, server: &str, text: &Bytes, settings: &Arc<Settings>) -> Option<bool> {
        let all = lock(&self.0);
        let verdict = all.get(server)?;
        let is_same = verdict.text == *text && Arc::ptr_eq(&verdict.settings, settings);
        is_same.then_some(verdict.is_blocked)
    }

    /// Notes a verdict; the one before it is forgotten.
    pub(crate) fn set(
        &self,
        server: &Arc<str>,
        text: &Bytes,
        settings: &Arc<Settings>,
        is_blocked: bool,
    ) {
        let verdict = Verdict {
            text: text.clone(),
            settings: Arc::clone(settings),
            is_blocked,
        };
        lock(&self.0).insert(Arc::clone(server), verdict);
    }
}
