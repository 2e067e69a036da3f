//! What an operator should know about a classifier's answer. The text is never among the fields, only its digest.

use super::{Events, count};

/// A classifier screened a result.
pub(crate) struct ResultClassified<'a> {
    pub(crate) classifier: &'a str,
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) verdict: &'static str,
    pub(crate) error: Option<&'static str>,
    pub(crate) chars: usize,
    pub(crate) sha256: Option<&'a str>,
    pub(crate) micros: u64,
}

impl ResultClassified<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.classified);
        let Self {
            classifier,
            server,
            tool,
            verdict,
            error,
            chars,
            sha256,
            micros,
        } = *self;
        if let Some(error) = error {
            count(&events.classifier_errors);
            tracing::warn!(
                classifier,
                server,
                tool,
                error,
                micros,
                "a classifier had no verdict about a result, or not about all of it"
            );
        }
        tracing::debug!(
            classifier,
            server,
            tool,
            verdict,
            chars,
            sha256,
            micros,
            "result classified"
        );
    }
}
