//! Indexes that came after the first format, for days that were made before. They are built while records are written and
//! read: a question that needs one only takes longer on a day that does not have it yet. Only the owner of the tables can
//! build them.

use std::time::Duration;

use super::address::Address;
use super::connection::Connection;
use super::error::PostgresError;
use crate::store::StoreError;
use crate::store::backend::start_thread;

/// How long one index of one day may take.
const DEADLINE: Duration = Duration::from_hours(1);
/// Held by the one process that builds.
const ELECTION: &str = "SELECT pg_try_advisory_lock(4842107250913203)";

/// What `make_day` gives to new days, with the same names and definitions.
const INDEXES: [LateIndex; 4] = [
    LateIndex {
        suffix: "_caller",
        definition: "((caller_of(body) COLLATE \"C\"), seq) WHERE caller_of(body) <> ''",
    },
    LateIndex {
        suffix: "_status_server",
        definition: "(status, server, seq) WHERE status <> 0",
    },
    LateIndex {
        suffix: "_status_tool",
        definition: "(status, tool, seq) WHERE status <> 0",
    },
    LateIndex {
        suffix: "_status_server_tool",
        definition: "(status, server, tool, seq) WHERE status <> 0",
    },
];

/// An index of each day, named after the day.
struct LateIndex {
    suffix: &'static str,
    definition: &'static str,
}

/// Builds what is missing, in a thread of its own. The store opens without waiting for it.
pub(super) fn build_in_background(address: &Address) -> Result<(), StoreError> {
    let address = address.clone();
    let thread = start_thread("activity-indexes", move || {
        if let Err(error) = build(&address) {
            tracing::warn!(%error, "cannot build an index of earlier days; the next start tries again");
        }
    });
    thread.map(drop)
}

/// Builds what is missing. Returns at once if another process does it.
pub(super) fn build(address: &Address) -> Result<(), PostgresError> {
    let mut connection = Connection::open(address, "SET lock_timeout = 0", DEADLINE)?;
    let mut is_elected = false;
    for index in &INDEXES {
        let mut last = None;
        while let Some(day) = index.missing_day(&mut connection)? {
            is_elected = is_elected || elect(&mut connection)?;
            if !is_elected {
                return Ok(());
            }
            // Retention may have removed the day meanwhile; what cannot be built is not tried for ever.
            if last.as_ref() == Some(&day) {
                break;
            }
            index.build(&mut connection, &day)?;
            last = Some(day);
        }
    }
    Ok(())
}

fn elect(connection: &mut Connection) -> Result<bool, PostgresError> {
    let row = connection.first(ELECTION, &[])?;
    Ok(row.is_some_and(|row| row.get(0)))
}

impl LateIndex {
    /// The newest day of this user's without the index. One that broke off is there and not valid.
    fn missing_day(&self, connection: &mut Connection) -> Result<Option<String>, PostgresError> {
        let sql = "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'countersign.activity'::regclass AND pg_has_role(c.relowner, 'USAGE') AND NOT EXISTS (
                SELECT FROM pg_index x JOIN pg_class n ON n.oid = x.indexrelid
                WHERE x.indrelid = c.oid AND x.indisvalid AND n.relname = c.relname || $1::text)
            ORDER BY c.relname DESC LIMIT 1";
        let row = connection.first(sql, &[&self.suffix])?;
        let name: Option<String> = row.map(|row| row.get(0));
        // The name stands in a statement as it is.
        let is_day = |name: &String| {
            let digits = name.strip_prefix("activity_");
            digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        };
        Ok(name.filter(is_day))
    }

    fn build(&self, connection: &mut Connection, day: &str) -> Result<(), PostgresError> {
        let Self { suffix, definition } = self;
        connection.run(&format!("DROP INDEX CONCURRENTLY IF EXISTS {day}{suffix}"))?;
        connection.run(&format!(
            "CREATE INDEX CONCURRENTLY {day}{suffix} ON {day} {definition}"
        ))
    }
}
