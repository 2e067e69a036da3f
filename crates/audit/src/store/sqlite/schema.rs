//! The tables, as numbered migrations that only go forward.
//!
//! The main database is migrated step by step and refused if it is newer than this program. The index holds nothing of its own:
//! if its format differs it is dropped and built again.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::store::StoreError;

/// `leaf.n` is the number of the last record that a batch signs for. `tile.root` is the root over its hashes, and an entry
/// of a tile of the level above. `tree.origin` names the log in its heads, unless the configuration gives another name.
/// `chain.opened` is the `seq` of the chain's first record, or nothing if that record names no heads.
///
/// Step `i` takes the main database from format `i` to `i + 1`. Never edit one that has been released.
const MAIN: [&str; 5] = ["
    CREATE TABLE chain(id INTEGER PRIMARY KEY, chain_id TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE activity(
        seq INTEGER PRIMARY KEY, chain INTEGER NOT NULL, n INTEGER NOT NULL, body BLOB NOT NULL, hash BLOB NOT NULL
    ) STRICT;
    CREATE TABLE checkpoint(
        chain INTEGER NOT NULL, n INTEGER NOT NULL, hash BLOB NOT NULL, at INTEGER NOT NULL, lost INTEGER NOT NULL,
        key TEXT NOT NULL, signature TEXT NOT NULL, PRIMARY KEY(chain, n)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE floor(
        chain INTEGER PRIMARY KEY, n INTEGER NOT NULL, hash BLOB NOT NULL, at INTEGER NOT NULL, lost INTEGER NOT NULL,
        key TEXT NOT NULL, signature TEXT NOT NULL
    ) STRICT;
    CREATE TABLE catalogue(
        server TEXT NOT NULL, tool TEXT NOT NULL, generation INTEGER NOT NULL, digest TEXT NOT NULL, raw BLOB NOT NULL,
        captured_at INTEGER NOT NULL, PRIMARY KEY(server, tool, generation)
    ) STRICT;
", "
    ALTER TABLE chain ADD COLUMN opened INTEGER;
", "
    CREATE TABLE tree_queue(id INTEGER PRIMARY KEY, chain INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TABLE tree(origin TEXT NOT NULL) STRICT;
    INSERT INTO tree(origin) VALUES ('countersign/activity/' || lower(hex(randomblob(16))));
    CREATE TABLE leaf(
        idx INTEGER PRIMARY KEY, chain INTEGER NOT NULL, n INTEGER NOT NULL, hash BLOB NOT NULL, body TEXT NOT NULL,
        UNIQUE(chain, n)
    ) STRICT;
    CREATE TABLE tile(
        level INTEGER NOT NULL, idx INTEGER NOT NULL, hashes BLOB NOT NULL, root BLOB NOT NULL, UNIQUE(level, idx)
    ) STRICT;
    CREATE TABLE tree_head(size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;
", "
    CREATE TABLE server_grant(
        server TEXT NOT NULL, caller TEXT NOT NULL, issuer TEXT NOT NULL, generation INTEGER NOT NULL, sealed BLOB NOT NULL,
        holder TEXT NOT NULL DEFAULT '', leased_until INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(server, caller)
    ) STRICT;
", "
    CREATE TABLE revocation(key BLOB PRIMARY KEY, caller TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
"];

/// Brings the main database to the newest format. Call it under the store's lock.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction =
        Transaction::new(connection, TransactionBehavior::Immediate).map_err(StoreError::Write)?;
    let found: i64 = transaction
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(StoreError::Read)?;
    let known = i64::try_from(MAIN.len()).unwrap_or(i64::MAX);
    let Some(steps) = usize::try_from(found)
        .ok()
        .and_then(|found| MAIN.get(found..))
    else {
        return Err(StoreError::Newer { found, known });
    };
    for step in steps {
        transaction.execute_batch(step).map_err(StoreError::Write)?;
    }
    transaction
        .pragma_update(None, "user_version", known)
        .map_err(StoreError::Write)?;
    transaction.commit().map_err(StoreError::Write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrates_once_and_refuses_a_newer_format() {
        let mut connection = Connection::open_in_memory().expect("open");
        migrate(&mut connection).expect("first");
        migrate(&mut connection).expect("again");
        connection
            .pragma_update(None, "user_version", 99)
            .expect("newer");
        let error = migrate(&mut connection).expect_err("refused");
        assert!(
            matches!(
                error,
                StoreError::Newer {
                    found: 99,
                    known: 5
                }
            ),
            "{error}"
        );
    }
}
