//! A store from before starts named the heads they found.

use super::*;
use crate::chain::{Checkpoint, CheckpointKind, Signer};
use crate::digest::{NO_HASH, chain_hash};
use crate::record::{Kind, Outcome, Record};
use crate::store::{Options, Reader, Store};

fn options(dir: &std::path::Path) -> Options {
    let mut options = Options::new(dir);
    options.retention = crate::store::Retention::FOR_EVER;
    options
}

fn verified(options: &Options) -> Verification {
    let reader = Reader::open(options).expect("reader");
    let trusted = TrustedKeys::of_data_dir(&options.data_dir).expect("keys");
    reader.verify(&trusted).expect("verify runs")
}

/// Makes the only chain of a store what an older version would have written, the signature of its beginning included.
fn make_older(options: &Options) {
    let connection = Files::new(options).open_main(false).expect("opens");
    let sql = "SELECT seq, n, body FROM activity ORDER BY seq";
    let rows: Vec<(u64, u64, Vec<u8>)> = connection
        .prepare(sql)
        .expect("prepared")
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .expect("queried")
        .collect::<Result<_, _>>()
        .expect("rows");
    let chain_id: String = connection
        .query_row("SELECT chain_id FROM chain", [], |row| row.get(0))
        .expect("a chain");
    let chain_id = chain_id.parse().expect("a chain id");
    connection
        .execute_batch(
            "DELETE FROM checkpoint; UPDATE chain SET opened = NULL;
             DELETE FROM leaf; DELETE FROM tree_head; DELETE FROM tree_queue",
        )
        .expect("deleted");
    let signer = Signer::load_or_create(&options.data_dir).expect("the key");
    let mut hash = NO_HASH;
    for (seq, n, body) in rows {
        let body = String::from_utf8(body).expect("UTF-8");
        let body = body.replace(",\"heads\":[],\"checkpoint_records\":1000", "");
        hash = chain_hash(&hash, body.as_bytes());
        let sql = "UPDATE activity SET body = ?1, hash = ?2 WHERE seq = ?3";
        connection
            .execute(sql, (body.as_bytes(), hash.as_bytes(), seq))
            .expect("rewritten");
        if n == 0 {
            let head = Head { chain_id, n, hash };
            let checkpoint = Checkpoint::sign(&signer, CheckpointKind::Head, head, 0);
            let sql = "INSERT INTO checkpoint VALUES (1, 0, ?1, ?2, 0, ?3, ?4)";
            let at = checkpoint.at.as_millis();
            connection
                .execute(
                    sql,
                    (hash.as_bytes(), at, checkpoint.key, checkpoint.signature),
                )
                .expect("signed");
        }
    }
    // It died before it stopped.
    connection
        .execute_batch("DELETE FROM activity WHERE seq = (SELECT max(seq) FROM activity)")
        .expect("deleted");
    std::fs::remove_file(options.data_dir.join("checkpoints.log")).expect("removed");
    Files::new(options).remove_index();
}

#[test]
fn an_older_store_is_signed_for_from_the_first_start_on() {
    let dir = tempfile::tempdir().expect("temp dir");
    let options = options(dir.path());
    let store = Store::open(&options).expect("opens");
    let records = (0..4).map(|_| Record::new(store.next_id(), Kind::ToolCall, Outcome::Success));
    let records: Vec<_> = records.collect();
    store.commit_blocking((), records).into_value();
    drop(store);
    make_older(&options);
    let before = verified(&options);
    assert!(before.is_intact(), "{before:?}");
    assert_eq!((before.after_last_checkpoint, before.older_chains), (4, 1));
    assert_eq!(before.older_signed_since, None);

    drop(Store::open(&options).expect("opens"));
    let after = verified(&options);
    assert!(after.is_intact(), "{after:?}");
    assert_eq!(
        (after.after_last_checkpoint, after.signed_by_later_start),
        (0, 4)
    );
    assert_eq!(after.older_chains, 1);
    let since = after.older_signed_since.expect("a date");
    assert!(since <= Timestamp::now());

    // Once signed for, it cannot be cut off any more.
    let connection = Files::new(&options).open_main(false).expect("opens");
    connection
        .execute_batch("DELETE FROM activity WHERE chain = 1 AND n = 4")
        .expect("deleted");
    let cut = verified(&options).first_break.expect("a break");
    assert_eq!(cut.kind, BreakKind::MissingPredecessor);
}
