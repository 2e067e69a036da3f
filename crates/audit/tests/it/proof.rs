//! Proof to readers who do not have the store: receipts, and published log heads that show a rolled-back store.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_audit::{
    BreakKind, Filter, LogHead, NoReceipt, Note, Options, Reader, Receipt, ReceiptError, Signer,
    Store, StoreError, StoredRecord, TrustedKeys, Ulid, VerifierKey,
};

use crate::support::{DataDir, blocked, fill, options};

/// A store that signs a batch every `every` records.
pub(crate) fn options_with_batches(options: Options, every: u64) -> Options {
    Options {
        checkpoint_records: every,
        ..options
    }
}

fn write_and_stop(data_dir: &DataDir, every: u64, count: usize) {
    let store = Store::open(&options_with_batches(data_dir.options(), every)).expect("opens");
    fill(&store, count);
    store
        .commit_blocking((), blocked(&store, "stub", "bad"))
        .into_value();
}

pub(crate) fn all_records(reader: &Reader) -> Vec<StoredRecord> {
    let mut records = Vec::new();
    let mut place = 0;
    loop {
        let tail = reader
            .records_after(place, &Filter::default(), 1000)
            .expect("reads");
        records.extend(tail.records);
        place = tail.next;
        if !tail.more {
            return records;
        }
    }
}

fn trusted(dir: &Path) -> TrustedKeys {
    TrustedKeys::of_data_dir(dir).expect("public keys")
}

/// The newest signed head of a store without a writer, as an operator would have published it.
fn newest_head(data_dir: &DataDir) -> String {
    let sql = "SELECT note FROM tree_head ORDER BY size DESC LIMIT 1";
    let note = data_dir.sqlite().query_row(sql, [], |row| row.get(0));
    note.expect("a head")
}

fn anchor(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("heads");
    fs::write(&path, text).expect("written");
    (dir, path)
}

fn break_with_anchor(data_dir: &DataDir, text: &str) -> Option<BreakKind> {
    let (_kept, path) = anchor(text);
    let reader = data_dir.reader();
    let verified = reader.verify_with_anchors(&trusted(data_dir.path()), &[path]);
    verified
        .expect("verify runs")
        .first_break
        .map(|broken| broken.kind)
}

#[test]
fn every_record_has_a_receipt_that_verifies_without_the_store() {
    let data_dir = DataDir::new();
    for _ in 0..3 {
        write_and_stop(&data_dir, 7, 40);
    }
    let reader = data_dir.reader();
    let keys = trusted(data_dir.path());
    let records = all_records(&reader);
    assert_eq!(records.len(), 3 * (40 + 2 + 2));
    for record in &records {
        let text = reader
            .receipt(record.record.id())
            .expect("a receipt")
            .to_string();
        let receipt = Receipt::parse(&text).expect("it reads back");
        let verified = receipt.verify(&keys, &[]).expect("it verifies");
        assert_eq!(verified.record, record.record);
        assert_eq!(
            (verified.chain_id, verified.n, verified.hash),
            (record.chain_id, record.n, record.hash)
        );
        let stranger = Signer::from_text(&"99".repeat(32)).expect("a key");
        let stranger = TrustedKeys::new([stranger.public()]);
        assert!(matches!(
            receipt.verify(&stranger, &[]),
            Err(ReceiptError::Head(_))
        ));
    }
    let unknown = reader.receipt(Ulid::from_bytes([1; 16]));
    assert!(matches!(
        unknown,
        Err(StoreError::NoReceipt(NoReceipt::Unknown))
    ));
}

#[test]
fn a_receipt_names_its_log_and_a_key_of_another_log_is_refused() {
    let data_dir = DataDir::new();
    let options = Options {
        signing_key: Some("0c".repeat(32)),
        log_origin: Some("example.com/countersign".to_owned()),
        ..data_dir.options()
    };
    drop(Store::open(&options).expect("opens"));
    let reader = data_dir.reader();
    let id = all_records(&reader)[0].record.id();
    let receipt = reader.receipt(id).expect("a receipt");
    let key = Signer::from_text(&"0c".repeat(32)).expect("a key").public();
    let nothing = TrustedKeys::default();
    let named = |name: &str| [VerifierKey::new(name, key)];
    let verified = receipt.verify(&nothing, &named("example.com/countersign"));
    assert_eq!(
        verified.expect("it verifies").head.origin,
        "example.com/countersign"
    );
    let other = receipt.verify(&nothing, &named("example.com/other"));
    assert_eq!(other.err(), Some(ReceiptError::OtherLog));
}

/// Flips bits of every byte: of the record, the proof, the checkpoint and what holds them together.
#[test]
fn every_changed_byte_of_a_receipt_is_found() {
    let data_dir = DataDir::new();
    write_and_stop(&data_dir, 5, 30);
    let reader = data_dir.reader();
    let keys = trusted(data_dir.path());
    let records = all_records(&reader);
    let text = reader
        .receipt(records[17].record.id())
        .expect("a receipt")
        .to_string();
    assert!(text.len() < 4096, "{} bytes", text.len());
    let holds = |text: &str| {
        let receipt = Receipt::parse(text).ok();
        receipt.is_some_and(|receipt| receipt.verify(&keys, &[]).is_ok())
    };
    assert!(holds(&text));
    for at in 0..text.len() {
        // The second changes the case of letters, the third may leave base64 with other unused bits.
        for bit in [0x01, 0x20, 0x02] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= bit;
            let changed = String::from_utf8_lossy(&bytes);
            assert!(!holds(&changed), "byte {at} ^ {bit:#x} of\n{text}");
        }
        let shorter = format!(
            "{}{}",
            &text[..text.floor_char_boundary(at)],
            &text[text.ceil_char_boundary(at + 1)..]
        );
        assert!(!holds(&shorter), "without byte {at} of\n{text}");
    }
    for more in ["\n", " ", "x", "\u{2014} other AAAAAAAAAAAA"] {
        assert!(!holds(&format!("{text}{more}")), "{more:?}");
    }
}

/// What stands inside `extra` is base64, so its bytes are changed once more before they are encoded.
#[test]
fn every_changed_byte_of_record_and_leaf_is_found() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let data_dir = DataDir::new();
    write_and_stop(&data_dir, 5, 30);
    let reader = data_dir.reader();
    let keys = trusted(data_dir.path());
    let id = all_records(&reader)[12].record.id();
    let text = reader.receipt(id).expect("a receipt").to_string();
    let (before, rest) = text.split_once("extra ").expect("extra data");
    let (encoded, after) = rest.split_once('\n').expect("a line");
    let extra = STANDARD.decode(encoded).expect("base64");
    for at in 0..extra.len() {
        for bit in [0x01, 0x20] {
            let mut changed = extra.clone();
            changed[at] ^= bit;
            let encoded = STANDARD.encode(&changed);
            let forged = Receipt::parse(&format!("{before}extra {encoded}\n{after}"));
            let holds = forged.is_ok_and(|receipt| receipt.verify(&keys, &[]).is_ok());
            let shown = String::from_utf8_lossy(&extra);
            assert!(!holds, "byte {at} ^ {bit:#x} of {shown}");
        }
    }
}

fn copy_dir(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

fn restore(backup: &Path, data_dir: &DataDir) {
    for entry in fs::read_dir(data_dir.path()).expect("listed") {
        fs::remove_file(entry.expect("an entry").path()).expect("removed");
    }
    copy_dir(backup, data_dir.path());
}

#[test]
fn a_store_rolled_back_to_a_backup_is_found_with_the_published_head_and_not_without() {
    let data_dir = DataDir::new();
    write_and_stop(&data_dir, 10, 25);
    let backup = tempfile::tempdir().expect("temp dir");
    copy_dir(data_dir.path(), backup.path());
    let before = newest_head(&data_dir);
    write_and_stop(&data_dir, 10, 25);
    let published = newest_head(&data_dir);
    for head in [&before, &published] {
        assert_eq!(break_with_anchor(&data_dir, head), None);
    }
    restore(backup.path(), &data_dir);
    assert!(
        data_dir.verify().is_intact(),
        "nothing shows it from inside"
    );
    assert_eq!(break_with_anchor(&data_dir, &before), None);
    assert_eq!(
        break_with_anchor(&data_dir, &published),
        Some(BreakKind::RolledBack)
    );
    // The gateway goes on in the older copy, past the size that was published.
    write_and_stop(&data_dir, 10, 60);
    assert!(data_dir.verify().is_intact());
    assert_eq!(
        break_with_anchor(&data_dir, &published),
        Some(BreakKind::DiffersFromAnchor)
    );
    let all = format!("{before}\n{published}\n{}", newest_head(&data_dir));
    assert_eq!(
        break_with_anchor(&data_dir, &all),
        Some(BreakKind::DiffersFromAnchor)
    );
}

#[test]
fn a_forged_or_foreign_anchor_is_reported() {
    let data_dir = DataDir::new();
    write_and_stop(&data_dir, 10, 25);
    let head = newest_head(&data_dir);
    let note = Note::parse(&head).expect("a note");
    let size = LogHead::from_text(&note.text).expect("a head").size;
    let grown = head.replacen(&format!("\n{size}\n"), &format!("\n{}\n", size + 1), 1);
    assert_eq!(
        break_with_anchor(&data_dir, &grown),
        Some(BreakKind::ForgedCheckpoint)
    );
    assert_eq!(
        break_with_anchor(&data_dir, "not a note\n\n\u{2014} x y\n"),
        Some(BreakKind::MalformedLog)
    );
    let (other, key) = (DataDir::new(), "signing_key");
    fs::copy(data_dir.path().join(key), other.path().join(key)).expect("copied");
    write_and_stop(&other, 10, 25);
    assert_eq!(
        break_with_anchor(&data_dir, &newest_head(&other)),
        Some(BreakKind::DiffersFromAnchor)
    );
}

#[test]
fn every_change_of_the_tree_is_found() {
    let data_dir = DataDir::new();
    let store = Store::open(&options_with_batches(data_dir.options(), 1)).expect("opens");
    for _ in 0..600 {
        fill(&store, 1);
    }
    drop(store);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.log_size, 602);
    let reader = data_dir.reader();
    for record in all_records(&reader).iter().step_by(37) {
        let receipt = reader.receipt(record.record.id()).expect("a receipt");
        receipt
            .verify(&trusted(data_dir.path()), &[])
            .expect("it verifies");
    }
    drop(reader);
    let backup = tempfile::tempdir().expect("temp dir");
    copy_dir(data_dir.path(), backup.path());
    for change in [
        "UPDATE leaf SET body = replace(body, '\"n\":300', '\"n\":301') WHERE n = 300",
        "UPDATE leaf SET hash = zeroblob(32) WHERE idx = 20",
        "UPDATE leaf SET hash = zeroblob(32) WHERE idx = 550",
        "DELETE FROM leaf WHERE idx = 601",
        "DELETE FROM leaf WHERE idx = 580",
        "DELETE FROM leaf",
        "UPDATE tile SET root = zeroblob(32) WHERE idx = 1",
        "UPDATE tile SET hashes = zeroblob(8192) WHERE idx = 1",
        "UPDATE tile SET hashes = substr(hashes, 1, 100) WHERE idx = 0",
        "DELETE FROM tile WHERE idx = 0",
        "UPDATE tree_head SET note = replace(note, 'countersign/', 'Countersign/')",
        "UPDATE tree_head SET size = size + 1",
    ] {
        data_dir.sqlite().execute_batch(change).expect(change);
        assert!(!data_dir.verify().is_intact(), "{change}");
        restore(backup.path(), &data_dir);
    }
    assert!(data_dir.verify().is_intact());
}

#[test]
fn a_head_is_signed_while_the_store_is_open_and_once_more_when_it_closes() {
    let data_dir = DataDir::new();
    let opened = Options {
        log_period: std::time::Duration::from_millis(1),
        ..options_with_batches(data_dir.options(), 10)
    };
    let store = Store::open(&opened).expect("opens");
    let head = store.log_head();
    fill(&store, 10);
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while head.borrow().as_ref().is_none_or(|head| head.size < 2) {
        assert!(std::time::Instant::now() < deadline, "no head was signed");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let size = head.borrow().as_ref().map(|head| head.size);
    fill(&store, 1);
    drop(store);
    let last = head.borrow().clone().expect("a head");
    assert!(Some(last.size) > size, "the stop is in the log as well");
    assert_eq!(newest_head(&data_dir), last.note);
}

#[test]
fn processes_that_share_a_directory_share_one_tree() {
    let data_dir = DataDir::new();
    let stores: Vec<Store> = (0..3)
        .map(|_| Store::open(&options_with_batches(data_dir.options(), 4)).expect("opens"))
        .collect();
    std::thread::scope(|scope| {
        for store in &stores {
            scope.spawn(move || (0..30).for_each(|_| fill(store, 1)));
        }
    });
    drop(stores);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.records, 3 * 32);
    let reader = data_dir.reader();
    for record in all_records(&reader) {
        let receipt = reader.receipt(record.record.id()).expect("a receipt");
        receipt
            .verify(&trusted(data_dir.path()), &[])
            .expect("it verifies");
    }
    assert_eq!(break_with_anchor(&data_dir, &newest_head(&data_dir)), None);
}

#[test]
fn both_keys_sign_heads_while_a_key_is_replaced() {
    let data_dir = DataDir::new();
    let [old, new] = ["0a", "0b"].map(|byte| byte.repeat(32));
    let with_key = |key: &str, previous: Option<&str>| Options {
        signing_key: Some(key.to_owned()),
        previous_signing_key: previous.map(str::to_owned),
        ..options(data_dir.path())
    };
    drop(Store::open(&with_key(&old, None)).expect("opens"));
    drop(Store::open(&with_key(&new, Some(&old))).expect("opens"));
    let reader = data_dir.reader();
    let id = all_records(&reader)[0].record.id();
    let receipt = reader.receipt(id).expect("a receipt");
    for key in [&old, &new] {
        let key = Signer::from_text(key).expect("a key").public();
        receipt
            .verify(&TrustedKeys::new([key]), &[])
            .expect("either key is enough");
    }
    assert!(data_dir.verify().is_intact());
}
