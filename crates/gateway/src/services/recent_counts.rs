//! Counts of the store that many open consoles ask for at once. They are read once and shared for a moment, so that consoles
//! that look again after each event cost no more than one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use countersign_audit::{HourCounts, Summary};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long counts are shared. A page looks again a second after an event, so that it never misses the event.
const SHARED: Duration = Duration::from_millis(900);

/// The counts of each range that was asked for, and when they were read.
#[derive(Debug, Default)]
pub(crate) struct RecentCounts(Mutex<BTreeMap<&'static str, TimedCounts>>);

/// Counts, and when they were read.
type TimedCounts = (Instant, Arc<Counts>);

/// The counts of one range: of each hour, and of each server.
pub(crate) type Counts = (Vec<HourCounts>, Summary);

impl RecentCounts {
    /// The counts of a range; `read` reads them if those there are too old. Others who ask meanwhile wait for the same.
    pub(crate) async fn get<E>(
        &self,
        range: &'static str,
        read: impl Future<Output = Result<Counts, E>>,
    ) -> Result<Arc<Counts>, E> {
        let mut ranges = self.0.lock().await;
        if let Some((at, counts)) = ranges.get(range)
            && at.elapsed() < SHARED
        {
            return Ok(Arc::clone(counts));
        }
        let at = Instant::now();
        let counts = Arc::new(read.await?);
        ranges.insert(range, (at, Arc::clone(&counts)));
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use countersign_audit::Timestamp;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn counts_are_read_once_for_all_who_ask_together() {
        let counts = RecentCounts::default();
        let none = async || {
            let summary = Summary {
                since: Timestamp::default(),
                until: Timestamp::default(),
                total: 0,
                types: BTreeMap::new(),
                statuses: BTreeMap::new(),
                rows: Vec::new(),
            };
            Ok::<_, ()>((Vec::new(), summary))
        };
        let first = counts.get("24h", none()).await.expect("counts");
        let not_read = async { Err("read again") };
        let second = counts.get("24h", not_read).await.expect("the same");
        assert!(Arc::ptr_eq(&first, &second));
        let other = async { Err("read for this range") };
        assert_eq!(counts.get("7d", other).await, Err("read for this range"));
        tokio::time::advance(SHARED).await;
        let again = async { Err("read again") };
        assert_eq!(counts.get("24h", again).await, Err("read again"));
        let third = counts.get("24h", none()).await.expect("counts");
        assert!(!Arc::ptr_eq(&first, &third));
    }
}
