//! Tampering: whatever is changed, removed or moved, `verify` names the first record that does not hold.

use countersign_audit::{BreakKind, Store};
use proptest::prelude::*;

use crate::support::{DataDir, blocked, fill};

/// Three chains of a few dozen records, each with several checkpoints.
fn three_chains() -> DataDir {
    let data_dir = DataDir::new();
    for _ in 0..3 {
        let mut options = data_dir.options();
        options.checkpoint_records = 10;
        let store = Store::open(&options).expect("opens");
        for _ in 0..8 {
            fill(&store, 3);
            assert_eq!(
                store
                    .commit_blocking((), blocked(&store, "stub", "bad"))
                    .evidence(),
                countersign_audit::Evidence::Committed
            );
        }
    }
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.chains), (3 * 42, 3));
    data_dir
}

fn change(data_dir: &DataDir, sql: &str) {
    let connection = data_dir.sqlite();
    connection.execute_batch(sql).expect(sql);
}

fn broken(data_dir: &DataDir) -> (BreakKind, Option<u64>) {
    let found = data_dir.first_break().expect("a break");
    (found.kind, found.seq)
}

#[test]
fn a_changed_body_hash_or_number_is_named() {
    for (sql, kind, seq) in [
        (
            "UPDATE activity SET body = CAST(replace(body, 'files', 'filez') AS BLOB) WHERE seq = 8",
            BreakKind::Changed,
            8,
        ),
        (
            "UPDATE activity SET body = x'' WHERE seq = 50",
            BreakKind::Changed,
            50,
        ),
        (
            "UPDATE activity SET hash = zeroblob(32) WHERE seq = 20",
            BreakKind::Changed,
            20,
        ),
        (
            "UPDATE activity SET hash = x'00' WHERE seq = 20",
            BreakKind::Changed,
            20,
        ),
        (
            "UPDATE activity SET n = n + 1 WHERE seq = 33",
            BreakKind::OutOfOrder,
            33,
        ),
        (
            "UPDATE activity SET chain = 77 WHERE seq = 33",
            BreakKind::UnknownChain,
            33,
        ),
        (
            "UPDATE activity SET chain = 1 WHERE seq = 60",
            BreakKind::OutOfOrder,
            60,
        ),
        (
            "DELETE FROM activity WHERE seq = 12",
            BreakKind::OutOfOrder,
            13,
        ),
        (
            "DELETE FROM activity WHERE seq = 1",
            BreakKind::NoBeginning,
            2,
        ),
        (
            "DELETE FROM activity WHERE seq BETWEEN 1 AND 42",
            BreakKind::MissingPredecessor,
            43,
        ),
        (
            "DELETE FROM activity WHERE seq BETWEEN 40 AND 42",
            BreakKind::MissingPredecessor,
            43,
        ),
    ] {
        let data_dir = three_chains();
        change(&data_dir, sql);
        assert_eq!(broken(&data_dir), (kind, Some(seq)), "{sql}");
    }
}

#[test]
fn reordered_records_are_named() {
    let data_dir = three_chains();
    change(
        &data_dir,
        "UPDATE activity SET seq = -1 WHERE seq = 15; UPDATE activity SET seq = 15 WHERE seq = 25; UPDATE activity SET seq = 25 WHERE seq = -1;",
    );
    assert_eq!(broken(&data_dir), (BreakKind::OutOfOrder, Some(15)));
}

#[test]
fn a_missing_tail_is_noticed_up_to_the_last_checkpoint() {
    let data_dir = three_chains();
    change(&data_dir, "DELETE FROM activity WHERE seq > 100");
    let found = data_dir.first_break().expect("a break");
    assert_eq!((found.kind, found.seq), (BreakKind::MissingTail, None));
    assert!(found.n.is_some() && found.chain_id.is_some(), "{found}");
    // Even if the store's own checkpoints went with it: the log still knows.
    change(&data_dir, "DELETE FROM checkpoint WHERE chain = 3");
    assert_eq!(
        data_dir.first_break().expect("a break").kind,
        BreakKind::MissingTail
    );
    change(
        &data_dir,
        "DELETE FROM activity WHERE chain = 3; DELETE FROM chain WHERE id = 3",
    );
    assert_eq!(
        data_dir.first_break().expect("a break").kind,
        BreakKind::MissingTail
    );
}

#[test]
fn a_chain_rewritten_with_fitting_hashes_differs_from_its_checkpoint() {
    use sha2::{Digest, Sha256};
    let data_dir = three_chains();
    let connection = data_dir.sqlite();
    let mut prev = [0_u8; 32].to_vec();
    for n in 0..42 {
        let body: Vec<u8> = connection
            .query_row(
                "SELECT body FROM activity WHERE chain = 1 AND n = ?1",
                [n],
                |row| row.get(0),
            )
            .expect("body");
        let text = String::from_utf8(body).expect("UTF-8");
        let body = if n == 13 {
            text.replace("\"request_bytes\":120", "\"request_bytes\":121")
        } else {
            text
        };
        prev = Sha256::digest([prev.as_slice(), body.as_bytes()].concat()).to_vec();
        connection
            .execute(
                "UPDATE activity SET body = ?1, hash = ?2 WHERE chain = 1 AND n = ?3",
                rusqlite::params![body.as_bytes(), prev, n],
            )
            .expect("rewritten");
    }
    let found = data_dir.first_break().expect("a break");
    assert_eq!(found.kind, BreakKind::DiffersFromCheckpoint, "{found}");
    assert!(found.n.is_some_and(|n| n >= 13), "{found}");
}

#[test]
fn forged_checkpoints_and_floors_are_not_believed() {
    let data_dir = three_chains();
    change(&data_dir, "UPDATE checkpoint SET lost = 5 WHERE chain = 2");
    assert_eq!(
        data_dir.first_break().expect("a break").kind,
        BreakKind::ForgedCheckpoint
    );
    let data_dir = three_chains();
    change(
        &data_dir,
        "INSERT INTO floor SELECT chain, n, hash, at, lost, key, signature FROM checkpoint WHERE chain = 1 ORDER BY n DESC LIMIT 1;
         DELETE FROM activity WHERE chain = 1;",
    );
    let kind = data_dir.first_break().expect("a break").kind;
    assert!(
        matches!(
            kind,
            BreakKind::ForgedCheckpoint | BreakKind::MissingPredecessor
        ),
        "{kind:?}"
    );
    let data_dir = three_chains();
    std::fs::write(data_dir.path().join("checkpoints.log"), "nonsense\n").expect("written");
    assert_eq!(
        data_dir.first_break().expect("a break").kind,
        BreakKind::MalformedLog
    );
}

#[test]
fn another_key_can_take_over_and_the_old_one_stays_trusted() {
    let data_dir = DataDir::new();
    drop(data_dir.open());
    let mut options = data_dir.options();
    options.signing_key = Some("5a".repeat(32));
    drop(Store::open(&options).expect("opens"));
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.chains, 2);
}

#[test]
fn a_break_reads_as_a_sentence() {
    let data_dir = three_chains();
    change(
        &data_dir,
        "UPDATE activity SET body = CAST(replace(body, 'files', 'filez') AS BLOB) WHERE seq = 3",
    );
    let text = data_dir.first_break().expect("a break").to_string();
    assert!(
        text.starts_with("the record was changed: its hash does not fit (record 01"),
        "{text}"
    );
    assert!(
        text.contains("seq 3, chain 01") && text.ends_with("number 2)"),
        "{text}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn any_flipped_bit_of_any_record_is_named(seq in 1_u64..43, at in any::<prop::sample::Index>(), bit in 0_u8..8, column in 0_usize..2) {
        let data_dir = DataDir::new();
        let store = data_dir.open();
        fill(&store, 40);
        drop(store);
        let connection = data_dir.sqlite();
        let column = ["body", "hash"][column];
        let mut bytes: Vec<u8> = connection
            .query_row(&format!("SELECT {column} FROM activity WHERE seq = ?1"), [seq], |row| row.get(0)).expect("read");
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        connection.execute(&format!("UPDATE activity SET {column} = ?1 WHERE seq = ?2"), rusqlite::params![bytes, seq]).expect("changed");
        let found = data_dir.first_break().expect("a break");
        prop_assert_eq!((found.kind, found.seq), (BreakKind::Changed, Some(seq)));
    }
}
