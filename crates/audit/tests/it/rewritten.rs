//! History rewritten by an attacker who can write the data directory and has not got the signing key: records edited, every
//! hash computed anew, what was signed removed.

use std::collections::HashMap;
use std::path::PathBuf;

use countersign_audit::{BreakKind, Declared, PublicKey, Store, TrustedKeys, Verification};
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use crate::support::{Home, blocked, fill, wait_for_index};

/// Starts that each write some records and stop in good order. A checkpoint comes every ten records.
fn chains(count: usize) -> Home {
    let home = Home::new();
    for _ in 0..count {
        let store = start(&home);
        write_some(&store);
    }
    home
}

fn start(home: &Home) -> Store {
    let mut options = home.options();
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

fn remove(home: &Home, names: &[&str]) {
    for name in names {
        std::fs::remove_file(home.path().join(name)).ok();
    }
}

const LOG: &str = "checkpoints.log";
const INDEX: [&str; 3] = [
    "activity-index.db",
    "activity-index.db-wal",
    "activity-index.db-shm",
];

fn own_key(home: &Home) -> TrustedKeys {
    let text = std::fs::read_to_string(home.path().join("signing_keys.pub")).expect("public key");
    TrustedKeys::new([PublicKey::from_text(&text).expect("a key")])
}

fn kind(verification: &Verification) -> Option<BreakKind> {
    verification.first_break.as_ref().map(|found| found.kind)
}

#[test]
fn a_history_rewritten_without_the_signing_key_is_not_intact() {
    for count in [1, 3] {
        let home = chains(count);
        let key = own_key(&home);
        assert!(home.verify().is_intact());
        let connection = home.sqlite();
        rewrite(&connection, whitewashed);
        connection
            .execute_batch("DELETE FROM checkpoint")
            .expect("deleted");
        remove(&home, &INDEX);
        remove(&home, &[LOG]);
        assert_eq!(kind(&home.verify()), Some(BreakKind::Unsigned), "{count}");
        let with_key = home.reader().verify(&key).expect("verify runs");
        assert_eq!(kind(&with_key), Some(BreakKind::Unsigned), "{count}");
        // The next start signs for what it finds, and does not make it intact.
        drop(start(&home));
        assert_eq!(kind(&home.verify()), Some(BreakKind::Unsigned), "{count}");
    }
}

#[test]
fn a_signed_beginning_alone_does_not_cover_a_rewritten_rest() {
    let home = chains(1);
    let connection = home.sqlite();
    rewrite(&connection, whitewashed);
    connection
        .execute_batch("DELETE FROM checkpoint WHERE n > 0")
        .expect("deleted");
    remove(&home, &INDEX);
    remove(&home, &[LOG]);
    // It ended in good order, and that is always signed.
    assert_eq!(kind(&home.verify()), Some(BreakKind::MissingCheckpoint));
    let stop = "DELETE FROM activity WHERE seq = (SELECT max(seq) FROM activity)";
    connection.execute_batch(stop).expect("deleted");
    // It looks as if the process had died, with more left unsigned than a process ever leaves.
    assert_eq!(kind(&home.verify()), Some(BreakKind::MissingCheckpoint));
    remove(&home, &INDEX);
    drop(start(&home));
    assert_eq!(kind(&home.verify()), Some(BreakKind::MissingCheckpoint));
}

#[test]
fn checkpoints_of_a_key_that_is_not_given_do_not_count() {
    let home = chains(1);
    let mut options = home.options();
    options.signing_key = Some("5a".repeat(32));
    let theirs = Home::new();
    options.data_dir = theirs.path().to_owned();
    options.database = Some(home.path().join("activity.db"));
    let (ours, store) = (own_key(&home), Store::open(&options).expect("opens"));
    fill(&store, 3);
    drop(store);
    let found = home.reader().verify(&ours).expect("verify runs");
    assert_eq!(kind(&found), Some(BreakKind::ForgedCheckpoint));
}

/// The store as a process leaves it that dies `left` records after its last checkpoint.
fn cut_off(home: &Home, left: u64) {
    let connection = home.sqlite();
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
    remove(home, &INDEX);
    remove(home, &[LOG]);
}

#[test]
fn an_end_cut_off_with_its_checkpoints_shows_only_beside_a_copy_of_the_log() {
    let home = chains(1);
    let copy = Home::new();
    let anchor = copy.path().join("kept.log");
    std::fs::copy(home.path().join(LOG), &anchor).expect("copied");
    cut_off(&home, 1);
    let alone = home.verify();
    assert!(alone.is_intact(), "{alone:?}");
    assert_eq!(alone.after_last_checkpoint, 1);
    let verify = |anchor: PathBuf| {
        home.reader()
            .verify_with_anchors(&own_key(&home), &[anchor])
    };
    let beside = verify(anchor).expect("verify runs");
    assert_eq!(kind(&beside), Some(BreakKind::MissingTail));
    verify(copy.path().join("absent.log")).expect_err("a copy that is not there proves nothing");
}

#[test]
fn what_a_dead_process_left_unsigned_is_said_and_signed_by_the_next_start() {
    let home = chains(1);
    cut_off(&home, 1);
    drop(start(&home));
    let after = home.verify();
    assert!(after.is_intact(), "{after:?}");
    assert_eq!(
        (after.after_last_checkpoint, after.signed_by_later_start),
        (0, 1)
    );
    // From now on a change of that record shows.
    let connection = home.sqlite();
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
    remove(&home, &INDEX);
    assert_eq!(
        kind(&home.verify()),
        Some(BreakKind::DiffersFromCheckpoint),
        "the first record of the next chain is signed"
    );
}

#[test]
fn a_chain_removed_as_a_whole_is_missed_by_a_later_start() {
    let home = Home::new();
    let (first, second) = (start(&home), start(&home));
    write_some(&second);
    drop(second);
    write_some(&first);
    drop(first);
    drop(start(&home));
    let before = home.verify();
    assert!(before.is_intact(), "{before:?}");
    let connection = home.sqlite();
    connection
        .execute_batch("DELETE FROM activity WHERE chain = 2; DELETE FROM checkpoint WHERE chain = 2; DELETE FROM chain WHERE id = 2")
        .expect("deleted");
    remove(&home, &INDEX);
    remove(&home, &[LOG]);
    assert_eq!(kind(&home.verify()), Some(BreakKind::MissingPredecessor));
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
        let home = Home::new();
        let store = start(&home);
        write_some(&store);
        wait_for_index(&store);
        drop(store);
        let index = Connection::open(home.path().join(INDEX[0])).expect("the index");
        assert!(home.verify().is_intact());
        assert!(index.execute(change, []).expect(change) > 0, "{change}");
        assert_eq!(
            kind(&home.verify()),
            Some(BreakKind::WrongRollup),
            "{change}"
        );
    }
}

#[test]
fn an_edited_declaration_in_the_catalogue_is_noticed() {
    let home = Home::new();
    let store = start(&home);
    let raw = br#"{"name":"add"}"#;
    let digest = hex(&Sha256::digest(raw));
    let declared = Declared {
        tool: "add",
        digest: &digest,
        raw,
    };
    let stored = store.reader().put_tools("crm", &[declared]);
    stored.expect("put");
    drop(store);
    assert!(home.verify().is_intact());
    home.sqlite()
        .execute("UPDATE catalogue SET raw = x'7b7d'", [])
        .expect("edited");
    let found = home.first_break().expect("a break");
    assert_eq!(found.kind, BreakKind::WrongCatalogue);
    assert!(found.to_string().ends_with("(tool crm:add)"), "{found}");
}
