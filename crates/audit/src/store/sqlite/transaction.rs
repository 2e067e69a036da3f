//! `Transaction`: one that takes the write lock at once, and is undone unless it is committed.
//!
//! Its two statements are prepared once for a connection, not once for every transaction: under light load every call has a
//! transaction of its own.

use std::ops::Deref;

use rusqlite::Connection;

use crate::store::StoreError;

/// A transaction under way.
pub(super) struct Transaction<'c> {
    connection: &'c Connection,
    is_open: bool,
}

/// Begins one. The connection must not be in one already.
pub(super) fn immediate(connection: &Connection) -> Result<Transaction<'_>, StoreError> {
    run(connection, "BEGIN IMMEDIATE").map_err(StoreError::Write)?;
    Ok(Transaction {
        connection,
        is_open: true,
    })
}

impl Transaction<'_> {
    /// Makes it last. If that fails, it is undone.
    pub(super) fn commit(mut self) -> rusqlite::Result<()> {
        run(self.connection, "COMMIT")?;
        self.is_open = false;
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // Some errors have undone it already.
        if self.is_open
            && !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction cannot be undone");
        }
    }
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_committed_is_undone() {
        let connection = Connection::open_in_memory().expect("open");
        connection
            .execute_batch("CREATE TABLE t(x INTEGER UNIQUE)")
            .expect("a table");
        let count = || connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0));
        for (commits, expected) in [(false, 0), (true, 1)] {
            let transaction = immediate(&connection).expect("begins");
            transaction
                .execute("INSERT INTO t VALUES (1)", [])
                .expect("inserted");
            if commits {
                transaction.commit().expect("committed");
            } else {
                drop(transaction);
            }
            assert_eq!(count(), Ok(expected));
        }
        let transaction = immediate(&connection).expect("begins");
        transaction
            .execute("INSERT OR ROLLBACK INTO t VALUES (1)", [])
            .expect_err("there already");
        drop(transaction);
        assert_eq!(count(), Ok(1));
        immediate(&connection).expect("nothing is left open");
    }
}
