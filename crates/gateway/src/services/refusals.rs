//! Requests that were refused at the door, counted by reason. A record is written once per reason and minute: strangers must
//! not be able to fill the store.

use std::sync::Arc;

use countersign_audit::{Kind, Outcome, Record, Source, Timestamp};

use super::Services;
use super::minute_count::MinuteCount;
use crate::state::guard::{AccessRefusal, REFUSAL_REASONS};

/// How many requests were refused, by reason.
#[derive(Debug, Default)]
pub(crate) struct Refusals([MinuteCount; REFUSAL_REASONS.len()]);

impl Refusals {
    /// Counts a refusal. Gives how many are to be recorded now; nothing if there was a record in this minute.
    fn count(&self, refused: AccessRefusal, now: Timestamp) -> Option<u64> {
        let reason = refused.reason();
        let at = REFUSAL_REASONS.iter().position(|known| *known == reason)?;
        self.0.get(at)?.count(now)
    }

    /// Each reason, and how many requests were refused for it.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0.iter();
        let totals = counts.map(MinuteCount::total);
        REFUSAL_REASONS.into_iter().zip(totals)
    }
}

impl Services {
    /// Counts a request that was refused at the door, and records it, unless one of its reason was recorded in this minute.
    /// The client is answered without waiting for the store.
    pub(crate) fn count_refusal(self: &Arc<Self>, refused: AccessRefusal) {
        let Some(count) = self.refusals.count(refused, Timestamp::now()) else {
            return;
        };
        let sentence = refused.sentence();
        let noun = if count == 1 { "request" } else { "requests" };
        let reason = format!("refused {count} {noun} {sentence}");
        if refused.is_suspicious() {
            tracing::warn!("{reason}");
        }
        let id = self.store.next_id();
        let mut record = Record::new(id, Kind::AccessRefusal, Outcome::Rejected);
        record.source = Source::Internal;
        record.reason = Some(reason);
        let services = Arc::clone(self);
        tokio::spawn(async move {
            let records = vec![record];
            services.metrics.observe(&records);
            let _recorded = services.store.commit((), records).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_recorded_once_a_minute_with_all_that_came_since() {
        let refusals = Refusals::default();
        let at = |seconds: u64| Timestamp::from_millis(1_000 * seconds);
        assert_eq!(refusals.count(AccessRefusal::Key, at(60)), Some(1));
        for _ in 0..5 {
            assert_eq!(refusals.count(AccessRefusal::Key, at(119)), None);
        }
        assert_eq!(refusals.count(AccessRefusal::Expired, at(119)), Some(1));
        assert_eq!(refusals.count(AccessRefusal::Key, at(120)), Some(6));
        let counted: Vec<u64> = refusals.totals().map(|(_, total)| total).collect();
        assert_eq!(counted.iter().sum::<u64>(), 8);
    }
}
