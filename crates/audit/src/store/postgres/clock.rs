//! How far the clock of this machine is from that of the database. The database orders the records of several gateways, but
//! their times are those of the gateways.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::connection::Connection;
use super::error::PostgresError;
use super::value::unsigned;
use crate::store::shared::Shared;
use crate::time::Timestamp;

/// How often the clocks are compared.
pub(super) const TURN: Duration = Duration::from_secs(10);
/// A larger difference is worth a warning.
const SKEW_MILLIS: u64 = 2000;
const NOW: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Compares the clocks, and warns once when they have come to differ.
pub(super) fn compare(connection: &mut Connection, shared: &Shared) -> Result<(), PostgresError> {
    let sent = Timestamp::now().as_millis();
    let row = connection.first(NOW, &[])?;
    let answered = Timestamp::now().as_millis();
    let Some(row) = row else {
        return Ok(());
    };
    let skew = skew_millis(unsigned(row.get(0)), (sent, answered));
    let before = &shared.counters.clock_skew_millis;
    if before.swap(skew, Ordering::Relaxed) <= SKEW_MILLIS && skew > SKEW_MILLIS {
        tracing::warn!(
            seconds = skew / 1000,
            "the clocks of this machine and of the database differ"
        );
    }
    Ok(())
}

/// The least difference there can be: the database read its clock at some moment between the two.
fn skew_millis(theirs: u64, (sent, answered): (u64, u64)) -> u64 {
    let ahead = theirs.saturating_sub(answered.max(sent));
    let behind = sent.min(answered).saturating_sub(theirs);
    ahead.max(behind)
}

#[cfg(test)]
mod tests {
    use super::skew_millis;

    #[test]
    fn the_time_a_question_takes_is_not_a_difference() {
        assert_eq!(skew_millis(5_000, (1_000, 9_000)), 0);
        assert_eq!(skew_millis(5_000, (1_000, 2_000)), 3_000);
        assert_eq!(skew_millis(5_000, (9_000, 9_500)), 4_000);
        // The clock of this machine was set back in between.
        assert_eq!(skew_millis(5_000, (9_000, 1_000)), 0);
    }
}
