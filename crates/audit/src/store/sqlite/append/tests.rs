use super::*;
use crate::chain::TrustedKeys;
use crate::store::Reader;
use crate::store::shared::Shared;
use crate::store::sqlite::files::Files;
use crate::store::sqlite::schema;

fn upkeep() -> Arc<Upkeep> {
    Arc::new(Upkeep::new(Arc::new(Shared::new())))
}

fn body(ids: &Ids) -> Body {
    let mut record = Record::new(ids.next(), Kind::ToolCall, Outcome::Success);
    record.reason = Some("x".repeat(1500));
    Body::encode(&mut record).expect("encodes")
}

#[test]
fn a_full_disk_fails_the_group_and_the_chain_goes_on_when_there_is_room() {
    let dir = tempfile::tempdir().expect("temp dir");
    let options = Options::new(dir.path());
    let files = Files::new(&options);
    let mut connection = files.open_main(true).expect("opens");
    schema::migrate(&mut connection).expect("migrates");
    let signer = Arc::new(Signer::load_or_create(dir.path()).expect("key"));
    TrustedKeys::remember(dir.path(), signer.public()).expect("remembered");
    let mut appender = Appender::open(connection, signer, &options, upkeep()).expect("chain opens");
    let ids = Ids::new();
    let pages: i64 = appender
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .expect("pages");
    let limit = |appender: &Appender, pages: i64| {
        let set =
            appender
                .connection
                .pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0));
        assert_eq!(set.ok(), Some(pages));
    };
    limit(&appender, pages + 2);
    let group: Vec<Body> = (0..20).map(|_| body(&ids)).collect();
    appender.append(&group[..1], 0).expect("still fits");
    let error = appender.append(&group, 0).expect_err("full");
    assert!(error.is_full() && !error.is_busy(), "{error:?}");
    assert!(appender.append(&group, 0).is_err(), "still full");
    limit(&appender, 1 << 20);
    let done = appender.append(&group, 40).expect("room again");
    assert_eq!(done.last_seq, 22, "nothing of the failed groups is there");
    appender.stop(40).expect("stops");
    let verification = Reader::open(&options)
        .expect("reader")
        .verify(&TrustedKeys::of_data_dir(dir.path()).expect("keys"))
        .expect("verify");
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.lost), (23, 40));
}

#[test]
fn a_checkpoint_comes_by_count_and_by_time() {
    let dir = tempfile::tempdir().expect("temp dir");
    let mut options = Options::new(dir.path());
    options.checkpoint_records = 5;
    options.checkpoint_period = Duration::ZERO;
    let mut connection = Files::new(&options).open_main(true).expect("opens");
    schema::migrate(&mut connection).expect("migrates");
    let signer = Arc::new(Signer::load_or_create(dir.path()).expect("key"));
    let mut appender = Appender::open(connection, signer, &options, upkeep()).expect("chain opens");
    let ids = Ids::new();
    let bodies: Vec<Body> = (0..5).map(|_| body(&ids)).collect();
    assert!(
        !appender
            .tick(0, false)
            .expect("nothing since the first one")
    );
    assert!(
        !appender
            .append(&bodies[..4], 0)
            .expect("appended")
            .checkpoint
    );
    assert!(
        appender
            .append(&bodies[..1], 0)
            .expect("appended")
            .checkpoint
    );
    appender.append(&bodies[..1], 0).expect("appended");
    assert!(appender.tick(0, false).expect("by time"));
    assert!(!appender.tick(0, false).expect("nothing new"));
    assert!(appender.tick(0, true).expect("to find out"));
    let log = std::fs::read_to_string(dir.path().join("checkpoints.log")).expect("log");
    let numbers: Vec<u64> = log
        .lines()
        .map(|line| {
            serde_json::from_str::<Checkpoint>(line)
                .expect("checkpoint")
                .head
                .n
        })
        .collect();
    assert_eq!(numbers, [0, 5, 6, 6]);
}
