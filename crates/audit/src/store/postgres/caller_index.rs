//! The index of callers, for days that were made before there was one. It is built while records are written and read: a
//! question about a caller only takes longer on a day that does not have it yet. Only the owner of the tables can build it.

use std::time::Duration;

use super::address::Address;
use super::connection::Connection;
use super::error::PostgresError;
use crate::store::StoreError;
use crate::store::backend::start_thread;

/// How long the index of one day may take.
const DEADLINE: Duration = Duration::from_hours(1);
/// Held by the one process that builds.
const ELECTION: &str = "SELECT pg_try_advisory_lock(4842107250913203)";
/// The newest day of this user's without the index. One that broke off is there and not valid.
const MISSING: &str = "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'countersign.activity'::regclass AND pg_has_role(c.relowner, 'USAGE') AND NOT EXISTS (
        SELECT FROM pg_index x JOIN pg_class n ON n.oid = x.indexrelid
        WHERE x.indrelid = c.oid AND x.indisvalid AND n.relname = c.relname || '_caller')
    ORDER BY c.relname DESC LIMIT 1";

/// Builds what is missing, in a thread of its own that no one waits for.
pub(super) fn build_in_background(address: &Address) -> Result<(), StoreError> {
    let address = address.clone();
    let thread = start_thread("activity-callers", move || {
        if let Err(error) = build(&address) {
            tracing::warn!(%error, "cannot build the index of callers; the next start tries again");
        }
    });
    thread.map(drop)
}

/// Builds what is missing. Returns at once if another process does it.
pub(super) fn build(address: &Address) -> Result<(), PostgresError> {
    let mut connection = Connection::open(address, "SET lock_timeout = 0", DEADLINE)?;
    let mut last = None;
    while let Some(day) = missing(&mut connection)? {
        if last.is_none() && !is_elected(&mut connection)? {
            return Ok(());
        }
        // Retention may have removed the day meanwhile; what cannot be built is not tried for ever.
        if last.as_ref() == Some(&day) {
            break;
        }
        connection.run(&format!("DROP INDEX CONCURRENTLY IF EXISTS {day}_caller"))?;
        connection.run(&format!(
            "CREATE INDEX CONCURRENTLY {day}_caller ON {day} ((caller_of(body) COLLATE \"C\"), seq) WHERE caller_of(body) <> ''"
        ))?;
        last = Some(day);
    }
    Ok(())
}

fn is_elected(connection: &mut Connection) -> Result<bool, PostgresError> {
    let row = connection.first(ELECTION, &[])?;
    Ok(row.is_some_and(|row| row.get(0)))
}

fn missing(connection: &mut Connection) -> Result<Option<String>, PostgresError> {
    let row = connection.first(MISSING, &[])?;
    let name: Option<String> = row.map(|row| row.get(0));
    // The name stands in a statement as it is.
    let is_day = |name: &String| {
        let digits = name.strip_prefix("activity_");
        digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    Ok(name.filter(is_day))
}
