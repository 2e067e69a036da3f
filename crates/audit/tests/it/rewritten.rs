//! History rewritten by an attacker who can write the data directory and has not got the signing key: records edited, every
//! hash computed anew, what was signed removed.

use std::collections::HashMap;
use std::path::PathBuf;

use countersign_audit::{BreakKind, PublicKey, Store, ToolDeclaration, TrustedKeys, Verification};
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use crate::support::{DataDir, blocked, fill, wait_for_index};

/// Starts that each write some records and stop in good order. A checkpoint comes every ten records.
fn chains(count: usize) -> DataDir {
    let data_dir = DataDir::new();
    for _ in 0..count {
        let store = start(&data_dir);
        write_some(&store);
    }
    data_dir
}

fn start(data_dir: &DataDir) -> Store {
    let mut options = data_dir.options();
    options.checkpoint_records = 10;
    Store::open(&options).expect("opens")
}

fn write_some(store: &Store) {
    for _ in 0..6 {
        fill(store, 3);
        store
            .commit_blocking((), blocked(store, "stub", "bad"))
            .into_value();
    }
}

fn hex(hash: &[u8]) -> String {
    let hash: [u8; 32] = hash.try_into().expect("a hash");
    countersign_audit::Digest::from_bytes(hash).to_string()
}

/// Edits bodies, then computes every hash anew, those that first records name included.
fn rewrite(connection: &Connection, edit: impl Fn(u64, &str) -> String) {
    let mut statement = connection
        .prepare("SELECT seq, chain, body, hash FROM activity ORDER BY seq")
        .expect("prepared");
    let rows: Vec<(u64, i64, Vec<u8>, Vec<u8>)> = statement
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .expect("queried")
        .collect::<Result<_, _>>()
        .expect("rows");
    let mut heads: HashMap<i64, Vec<u8>> = HashMap::new();
    let mut renamed: Vec<(String, String)> = Vec::new();
    for (seq, chain, body, old) in rows {
        let mut body = edit(seq, std::str::from_utf8(&body).expect("UTF-8"));
        if body.contains("\"opening\":") {
            for (from, to) in &renamed {
                body = body.replace(from, to);
            }
        }
        let prev = heads.get(&chain).cloned().unwrap_or(vec![0; 32]);
        let hash = Sha256::digest([prev.as_slice(), body.as_bytes()].concat()).to_vec();
        renamed.push((hex(&old), hex(&hash)));
        connection
            .execute(
                "UPDATE activity SET body = ?1, hash = ?2 WHERE seq = ?3",
                params![body.as_bytes(), hash, seq],
            )
            .expect("rewritten");
        heads.insert(chain, hash);
    }
}

/// The second record of the store as the attacker wants it.
fn whitewashed(seq: u64, body: &str) -> String {
    if seq == 2 {
        body.replace("\"request_bytes\":120", "\"request_bytes\":121")
    } else {
        body.to_owned()
    }
}

fn remove(data_dir: &DataDir, names: &[&str]) {
    for name in names {
        std::fs::remove_file(data_dir.path().join(name)).ok();
    }
}

const LOG: &str = "checkpoints.log";
const INDEX: [&str; 3] = [
    "activity-index.db",
    "activity-index.db-wal",
    "activity-index.db-shm",
];

fn own_key(data_dir: &DataDir) -> TrustedKeys {
    let text =
        std::fs::read_to_string(data_dir.path().join("signing_keys.pub")).expect("public key");
    TrustedKeys::new([PublicKey::from_text(&text).expect("a key")])
}

/// Removes the log of signed batches, which signs for records as well.
fn delete_tree(connection: &Connection) {
    connection
        .execute_batch(
            "DELETE FROM leaf; DELETE FROM tile; DELETE FROM tree_head; DELETE FROM tree_queue",
        )
        .expect("deleted");
}

fn kind(verification: &Verification) -> Option<BreakKind> {
    verification.first_break.as_ref().map(|found| found.kind)
}

#[test]
fn a_history_rewritten_without_the_signing_key_is_not_intact() {
    for count in [1, 3] {
        let data_dir = chains(count);
        let key = own_key(&data_dir);
        assert!(data_dir.verify().is_intact());
        let connection = data_dir.sqlite();
        rewrite(&connection, whitewashed);
        connection
            .execute_batch("DELETE FROM checkpoint")
            .expect("deleted");
        delete_tree(&connection);
        remove(&data_dir, &INDEX);
        remove(&data_dir, &[LOG]);
        assert_eq!(
            kind(&data_dir.verify()),
            Some(BreakKind::Unsigned),
            "{count}"
        );
        let with_key = data_dir.reader().verify(&key).expect("verify runs");
        assert_eq!(kind(&with_key), Some(BreakKind::Unsigned), "{count}");
        // The next start signs for what it finds, and does not make it intact.
        drop(start(&data_dir));
        assert_eq!(
            kind(&data_dir.verify()),
            Some(BreakKind::Unsigned),
            "{count}"
        );
    }
}

#[test]
fn a_signed_beginning_alone_does_not_cover_a_rewritten_rest() {
    let data_dir = chains(1);
    let connection = data_dir.sqlite();
    rewrite(&connection, whitewashed);
    connection
        .execute_batch("DELETE FROM checkpoint WHERE n > 0")
        .expect("deleted");
    delete_tree(&connection);
    remove(&data_dir, &INDEX);
    remove(&data_dir, &[LOG]);
    // It ended in good order, and that is always signed.
    assert_eq!(kind(&data_dir.verify()), Some(BreakKind::MissingCheckpoint));
    let stop = "DELETE FROM activity WHERE seq = (SELECT max(seq) FROM activity)";
    connection.execute_batch(stop).expect("deleted");
    // It looks as if the process had died, with more left unsigned than a process ever leaves.
    assert_eq!(kind(&data_dir.verify()), Some(BreakKind::MissingCheckpoint));
    remove(&data_dir, &INDEX);
    drop(start(&data_dir));
    assert_eq!(kind(&data_dir.verify()), Some(BreakKind::MissingCheckpoint));
}

#[test]
fn checkpoints_of_a_key_that_is_not_given_do_not_count() {
    let data_dir = chains(1);
    let mut options = data_dir.options();
    options.signing_key = Some("5a".repeat(32));
    let theirs = DataDir::new();
    options.data_dir = theirs.path().to_owned();
    options.database = Some(data_dir.path().join("activity.db"));
    let (ours, store) = (own_key(&data_dir), Store::open(&options).expect("opens"));
    fill(&store, 3);
    drop(store);
    let found = data_dir.reader().verify(&ours).expect("verify runs");
    assert_eq!(kind(&found), Some(BreakKind::ForgedCheckpoint));
}

/// The store as a process leaves it that dies `left` records after its last checkpoint.
fn cut_off(data_dir: &DataDir, left: u64) {
    let connection = data_dir.sqlite();
    let signed: u64 = connection
        .query_row(
            "SELECT max(n) FROM checkpoint WHERE n + 5 < (SELECT max(n) FROM checkpoint)",
            [],
            |row| row.get(0),
        )
        .expect("a checkpoint");
    connection
        .execute("DELETE FROM checkpoint WHERE n > ?1", [signed])
        .expect("deleted");
    connection
        .execute("DELETE FROM activity WHERE n > ?1", [signed + left])
        .expect("deleted");
    delete_tree(&connection);
    remove(data_dir, &INDEX);
    remove(data_dir, &[LOG]);
}

#[test]
fn an_end_cut_off_with_its_checkpoints_shows_only_beside_a_copy_of_the_log() {
    let data_dir = chains(1);
    let copy = DataDir::new();
    let anchor = copy.path().join("kept.log");
    std::fs::copy(data_dir.path().join(LOG), &anchor).expect("copied");
    cut_off(&data_dir, 1);
    let alone = data_dir.verify();
    assert!(alone.is_intact(), "{alone:?}");
    assert_eq!(alone.after_last_checkpoint, 1);
    let verify = |anchor: PathBuf| {
        data_dir
            .reader()
            .verify_with_anchors(&own_key(&data_dir), &[anchor])
    };
    let beside = verify(anchor).expect("verify runs");
    assert_eq!(kind(&beside), Some(BreakKind::MissingTail));
    verify(copy.path().join("absent.log")).expect_err("a copy that is not there proves nothing");
}

#[test]
fn what_a_dead_process_left_unsigned_is_said_and_signed_by_the_next_start() {
    let data_dir = chains(1);
    cut_off(&data_dir, 1);
    drop(start(&data_dir));
    let after = data_dir.verify();
    assert!(after.is_intact(), "{after:?}");
    assert_eq!(
        (after.after_last_checkpoint, after.signed_by_later_start),
        (0, 1)
    );
    // From now on a change of that record shows.
    let connection = data_dir.sqlite();
    let last = "SELECT max(seq) FROM activity WHERE chain = 1";
    let last: u64 = connection
        .query_row(last, [], |row| row.get(0))
        .expect("a record");
    rewrite(&connection, |seq, body| {
        if seq == last {
            body.replace("stub", "stab").replace("files", "filez")
        } else {
            body.to_owned()
        }
    });
    remove(&data_dir, &INDEX);
    assert_eq!(
        kind(&data_dir.verify()),
        Some(BreakKind::DiffersFromCheckpoint),
        "the first record of the next chain is signed"
    );
}

#[test]
fn a_chain_removed_as_a_whole_is_missed_by_a_later_start() {
    let data_dir = DataDir::new();
    let (first, second) = (start(&data_dir), start(&data_dir));
    write_some(&second);
    drop(second);
    write_some(&first);
    drop(first);
    drop(start(&data_dir));
    let before = data_dir.verify();
    assert!(before.is_intact(), "{before:?}");
    let connection = data_dir.sqlite();
    connection
        .execute_batch("DELETE FROM activity WHERE chain = 2; DELETE FROM checkpoint WHERE chain = 2; DELETE FROM chain WHERE id = 2")
        .expect("deleted");
    remove(&data_dir, &INDEX);
    remove(&data_dir, &[LOG]);
    assert_eq!(
        kind(&data_dir.verify()),
        Some(BreakKind::MissingPredecessor)
    );
}

#[test]
fn edited_roll_ups_are_noticed() {
    for change in [
        "UPDATE rollup SET rejected = 0 WHERE rejected > 0",
        "UPDATE rollup SET count = count + 1",
        "DELETE FROM rollup WHERE validated > 0",
        "UPDATE rollup_rule SET count = 1",
        "DELETE FROM rollup_rule",
    ] {
        let data_dir = DataDir::new();
        let store = start(&data_dir);
        write_some(&store);
        wait_for_index(&store);
        drop(store);
        let index = Connection::open(data_dir.path().join(INDEX[0])).expect("the index");
        assert!(data_dir.verify().is_intact());
        assert!(index.execute(change, []).expect(change) > 0, "{change}");
        assert_eq!(
            kind(&data_dir.verify()),
            Some(BreakKind::WrongRollup),
            "{change}"
        );
    }
}

#[test]
fn an_edited_declaration_in_the_catalogue_is_noticed() {
    let data_dir = DataDir::new();
    let store = start(&data_dir);
    let raw = br#"{"name":"add"}"#;
    let digest = hex(&Sha256::digest(raw));
    let declared = ToolDeclaration {
        tool: "add",
        digest: &digest,
        raw,
    };
    let stored = store.reader().put_tools("crm", &[declared]);
    stored.expect("put");
    drop(store);
    assert!(data_dir.verify().is_intact());
    data_dir
        .sqlite()
        .execute("UPDATE catalogue SET raw = x'7b7d'", [])
        .expect("edited");
    let found = data_dir.first_break().expect("a break");
    assert_eq!(found.kind, BreakKind::WrongCatalogue);
    assert!(found.to_string().ends_with("(tool crm:add)"), "{found}");
}
