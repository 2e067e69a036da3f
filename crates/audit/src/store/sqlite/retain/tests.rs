use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::chain::TrustedKeys;
use crate::query::{Filter, Query};
use crate::record::{Decision, Kind, Outcome, Record};
use crate::store::sqlite::{Files, open_indexer};
use crate::store::{Reader, Store, ToolDeclaration, Verification};

const HOUR: Duration = Duration::from_hours(1);

struct DataDir {
    dir: TempDir,
}

impl DataDir {
    /// `chains` process starts of `each` records, the oldest `hours` old.
    fn new(chains: u64, each: u64, hours: u64) -> Self {
        let data_dir = Self {
            dir: tempfile::tempdir().expect("temp dir"),
        };
        let now = Timestamp::now();
        let total = chains * each;
        for chain in 0..chains {
            let store = Store::open(&data_dir.options(Retention::FOR_EVER)).expect("opens");
            let records = (0..each).map(|i| {
                let mut record = if i % 10 == 0 {
                    Record::decided(store.next_id(), Decision::Flagged)
                } else {
                    Record::new(store.next_id(), Kind::ToolCall, Outcome::Success)
                };
                let age = HOUR
                    .mul_f64(f64::from(
                        u32::try_from(hours * (total - chain * each - i)).expect("small"),
                    ))
                    .div_f64(f64::from(u32::try_from(total).expect("small")));
                record.timestamp = now.before(age);
                record
            });
            store
                .commit_blocking((), records.collect::<Vec<_>>())
                .into_value();
        }
        data_dir
    }

    fn options(&self, retention: Retention) -> Options {
        let mut options = Options::new(self.dir.path());
        options.retention = retention;
        options.checkpoint_records = 100;
        options
    }

    /// Applies the limits once; gives how many records went.
    fn apply(&self, retention: Retention) -> u64 {
        let options = self.options(retention);
        let mut indexer = open_indexer(&Files::new(&options)).expect("indexer");
        while indexer.batch().expect("indexed").0 > 0 {}
        let shared = Shared::new();
        let signer = Arc::new(Signer::load_or_create(self.dir.path()).expect("key"));
        RetentionTask::new(&options, signer)
            .run(&indexer, &shared)
            .expect("retention runs");
        shared.counters.read().removed
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.options(Retention::FOR_EVER)).expect("reader")
    }

    fn verify(&self) -> Verification {
        self.reader()
            .verify(&TrustedKeys::of_data_dir(self.dir.path()).expect("keys"))
            .expect("verify runs")
    }
}

#[test]
fn by_count_the_newest_stay_and_the_rest_verifies() {
    let data_dir = DataDir::new(3, 1500, 1);
    let before = data_dir.verify();
    assert_eq!((before.records, before.chains), (4506, 3));
    let removed = data_dir.apply(Retention {
        max_records: Some(2000),
        ..Retention::FOR_EVER
    });
    assert_eq!(removed, 2506);
    let after = data_dir.verify();
    assert!(after.is_intact(), "{after:?}");
    assert_eq!((after.records, after.chains), (2000, 3));
    let page = data_dir
        .reader()
        .list(&Query {
            limit: 1000,
            total: true,
            ..Query::default()
        })
        .expect("list");
    assert_eq!((page.activities.len(), page.total), (1000, Some(2000)));
    assert_eq!(
        data_dir.apply(Retention {
            max_records: Some(2000),
            ..Retention::FOR_EVER
        }),
        0
    );
}

#[test]
fn by_age_whole_stretches_go() {
    let data_dir = DataDir::new(2, 2000, 100);
    let removed = data_dir.apply(Retention {
        max_age: Some(HOUR * 50),
        ..Retention::FOR_EVER
    });
    // system_start and system_stop are young but stand in the way of nothing: they go with the prefix they belong to.
    assert!(removed <= 2010, "{removed}");
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
}

#[test]
fn by_size_until_it_fits() {
    let data_dir = DataDir::new(1, 20_000, 1);
    let used = |data_dir: &DataDir| {
        let files = Files::new(&data_dir.options(Retention::FOR_EVER));
        let indexer = open_indexer(&files).expect("indexer");
        used_bytes(indexer.main()).expect("used") + used_bytes(indexer.index()).expect("used")
    };
    data_dir.apply(Retention::FOR_EVER);
    let limit = used(&data_dir) / 2;
    assert!(
        data_dir.apply(Retention {
            max_bytes: Some(limit),
            ..Retention::FOR_EVER
        }) > 5000
    );
    assert!(
        used(&data_dir) < limit + limit / 5,
        "{} {limit}",
        used(&data_dir)
    );
    assert!(data_dir.verify().is_intact());
}

#[test]
fn nothing_younger_than_the_floor_goes() {
    let data_dir = DataDir::new(1, 1000, 10);
    let limits = Retention {
        max_records: Some(1),
        floor: HOUR * 24,
        ..Retention::FOR_EVER
    };
    assert_eq!(data_dir.apply(limits), 0);
    let limits = Retention {
        max_records: Some(1),
        floor: HOUR * 5,
        ..Retention::FOR_EVER
    };
    let removed = data_dir.apply(limits);
    assert!(
        removed == 0,
        "system_start is young and comes first: {removed}"
    );
}

#[test]
fn what_one_server_declares_drives_out_no_record_and_no_other_server() {
    let data_dir = DataDir::new(1, 20, 1);
    let mut options = data_dir.options(Retention::FOR_EVER);
    options.catalogue_bytes_per_server = 256 << 10;
    let reader = Reader::open(&options).expect("reader");
    let raw = vec![b'x'; 2000];
    for (server, tool) in [("honest", "add"), ("hostile", "first")] {
        let declared = ToolDeclaration {
            tool,
            digest: "d",
            raw: &raw,
        };
        reader.put_tools(server, &[declared]).expect("put");
    }
    // Other names every time, and those before them gone.
    for list in 0..40 {
        let names: Vec<String> = (0..100).map(|number| format!("t{list}_{number}")).collect();
        let tools: Vec<ToolDeclaration<'_>> = names
            .iter()
            .map(|tool| ToolDeclaration {
                tool,
                digest: "d",
                raw: &raw,
            })
            .collect();
        reader.put_tools("hostile", &tools).expect("put");
        let gone: Vec<ToolDeclaration<'_>> = names
            .iter()
            .map(|tool| ToolDeclaration {
                tool,
                digest: "gone",
                raw: b"",
            })
            .collect();
        reader.put_tools("hostile", &gone).expect("put");
    }
    let indexer = open_indexer(&Files::new(&options)).expect("indexer");
    let kept = catalogue::total_bytes(indexer.main()).expect("size");
    assert!(kept <= (256 << 10) + 4500, "{kept}");
    let listed: Vec<u64> = reader
        .tools("honest")
        .expect("tools")
        .iter()
        .map(|tool| tool.generation)
        .collect();
    assert_eq!(listed, [1]);
    // Nothing that is gone came back because its mark went first.
    let back = reader.tools("hostile").expect("tools");
    assert!(
        back.iter()
            .all(|tool| tool.raw.is_empty() || tool.tool == "first")
    );
    // The free pages that the catalogue leaves behind are not in use.
    let removed = data_dir.apply(Retention {
        max_bytes: Some(256 << 10),
        ..Retention::FOR_EVER
    });
    assert_eq!(removed, 0, "the records are within their limit");
}

#[test]
fn a_limit_that_the_floor_keeps_from_being_met_is_said() {
    let data_dir = DataDir::new(1, 2000, 1);
    let over = |max_bytes, floor| {
        let options = data_dir.options(Retention {
            max_bytes: Some(max_bytes),
            floor,
            ..Retention::FOR_EVER
        });
        let mut indexer = open_indexer(&Files::new(&options)).expect("indexer");
        while indexer.batch().expect("indexed").0 > 0 {}
        let shared = Shared::new();
        let signer = Arc::new(Signer::load_or_create(data_dir.dir.path()).expect("key"));
        RetentionTask::new(&options, signer)
            .run(&indexer, &shared)
            .expect("retention runs");
        shared.is_over_limit.load(Ordering::Relaxed)
    };
    assert!(over(64 << 10, HOUR * 24));
    assert!(!over(64 << 20, HOUR * 24));
    assert!(!over(64 << 10, Duration::ZERO), "they go");
    assert!(data_dir.verify().is_intact());
}

#[test]
fn the_newest_record_always_stays() {
    let data_dir = DataDir::new(2, 50, 1);
    data_dir.apply(Retention {
        max_records: Some(0),
        ..Retention::FOR_EVER
    });
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.chains), (1, 2));
    // A new chain still finds its predecessor.
    drop(Store::open(&data_dir.options(Retention::FOR_EVER)).expect("opens"));
    assert!(data_dir.verify().is_intact());
    let tail = data_dir
        .reader()
        .records_after(0, &Filter::default(), 10)
        .expect("tail");
    assert_eq!(tail.records.len(), 3);
}

#[test]
fn removing_by_hand_is_not_retention() {
    let data_dir = DataDir::new(1, 500, 1);
    data_dir.apply(Retention {
        max_records: Some(300),
        ..Retention::FOR_EVER
    });
    assert!(data_dir.verify().is_intact());
    let connection = Files::new(&data_dir.options(Retention::FOR_EVER))
        .open_main(false)
        .expect("opens");
    connection
        .execute(
            "DELETE FROM activity WHERE seq = (SELECT min(seq) FROM activity)",
            [],
        )
        .expect("deleted");
    assert!(!data_dir.verify().is_intact());
}

#[test]
fn an_index_whose_first_batch_is_partly_gone_answers_for_what_is_left() {
    let data_dir = DataDir::new(3, 1500, 1);
    let oldest = data_dir.reader().records_after(0, &Filter::default(), 1);
    let gone = oldest.expect("the first").records[0].record.id();
    data_dir.apply(Retention {
        max_records: Some(2000),
        ..Retention::FOR_EVER
    });
    let reader = data_dir.reader();
    let left = reader
        .records_after(0, &Filter::default(), 5000)
        .expect("all");
    for pairs in [
        &[("decision", "flagged")][..],
        &[("type", "tool_call")],
        &[("since", "30m")],
        &[("until", "10m"), ("status", "flagged")],
    ] {
        let pairs = pairs.iter().copied().chain([("limit", "1000")]);
        let mut query = Query::from_pairs(pairs, Timestamp::now()).expect("a query");
        query.total = true;
        let matching = left.records.iter().rev();
        let matching = matching.filter(|stored| query.filter.matches(&stored.record));
        let expected: Vec<u64> = matching.map(|stored| stored.seq).collect();
        let page = reader.list(&query).expect("list");
        let found: Vec<u64> = page.activities.iter().map(|stored| stored.seq).collect();
        assert_eq!(page.total, Some(expected.len() as u64));
        assert_eq!(found, expected[..expected.len().min(1000)]);
    }
    assert_eq!(reader.show(gone).expect("show"), None);
}
