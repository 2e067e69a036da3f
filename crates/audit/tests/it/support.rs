//! A store in a directory of its own, and records to put into it.

use std::path::Path;

use countersign_audit::{
    Break, Decision, Finding, Kind, Mode, Options, Outcome, Reader, Record, Retention, Severity,
    Stage, Store, TrustedKeys, Verification,
};
use tempfile::TempDir;

/// A temporary data directory.
pub(crate) struct DataDir {
    dir: TempDir,
}

impl DataDir {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().expect("temp dir"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn options(&self) -> Options {
        options(self.path())
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.options()).expect("store opens")
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.options()).expect("reader opens")
    }

    pub(crate) fn sqlite(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path().join("activity.db")).expect("raw connection")
    }

    pub(crate) fn verify(&self) -> Verification {
        verify(&self.reader(), self.path())
    }

    pub(crate) fn first_break(&self) -> Option<Break> {
        self.verify().first_break
    }
}

pub(crate) fn options(dir: &Path) -> Options {
    let mut options = Options::new(dir);
    options.retention = Retention::FOR_EVER;
    options
}

pub(crate) fn verify(reader: &Reader, dir: &Path) -> Verification {
    let trusted = TrustedKeys::of_data_dir(dir).expect("public keys");
    reader.verify(&trusted).expect("verify runs")
}

/// A successful call.
pub(crate) fn call(store: &Store, server: &str, tool: &str) -> Record {
    let mut record = Record::new(store.next_id(), Kind::ToolCall, Outcome::Success);
    record.server = Some(server.into());
    record.tool = Some(tool.into());
    record.client = Some("agent 1.0".into());
    record.request_id = Some(format!("req-{}", record.id()));
    record.request_bytes = Some(120);
    record.response_bytes = Some(900);
    record
}

/// A call and the decision that blocked its result.
pub(crate) fn blocked(store: &Store, server: &str, tool: &str) -> [Record; 2] {
    let mut call = call(store, server, tool);
    call.validated = true;
    let mut decision = Record::decided(store.next_id(), Decision::Blocked);
    decision.server.clone_from(&call.server);
    decision.tool.clone_from(&call.tool);
    decision.parent_id = Some(call.id());
    decision.request_id.clone_from(&call.request_id);
    decision.mode = Some(Mode::Strict);
    decision.reason =
        Some("output schema validation failed: type at /id: expected integer, got string".into());
    decision.findings = vec![finding(Stage::Contract, "schema.type")];
    [call, decision]
}

pub(crate) fn finding(stage: Stage, rule: &str) -> Finding {
    Finding {
        stage,
        rule: rule.to_owned().into(),
        severity: Severity::Violation,
        instance_pointer: Some("/id".into()),
        schema_pointer: Some("/properties/id/type".into()),
        expected: Some("integer".into()),
        actual: Some("string".into()),
        detail: None,
        hit: None,
    }
}

pub(crate) fn fill(store: &Store, count: usize) {
    for chunk in 0..count.div_ceil(100) {
        let size = (count - chunk * 100).min(100);
        let records: Vec<Record> = (0..size)
            .map(|i| call(store, "files", &format!("tool{}", i % 7)))
            .collect();
        let evidence = store.commit_blocking((), records).evidence();
        assert_eq!(evidence, countersign_audit::Evidence::Committed);
    }
}

/// Until everything committed so far is indexed.
pub(crate) fn wait_for_index(store: &Store) {
    while store.stats().indexed < *store.latest().borrow() {
        std::thread::yield_now();
    }
}
