//! Who may do what: the owner migrates, a writer adds, a reader reads.

use countersign_audit::{Evidence, Reader, Store, migrate_postgres};

use super::SharedLog;
use crate::support::{call, fill, verify};

fn with_roles() -> SharedLog {
    let shared = SharedLog::new();
    shared.cluster.sql(
        "CREATE ROLE countersign_writer; CREATE ROLE countersign_reader;
         CREATE ROLE gateway LOGIN IN ROLE countersign_writer; CREATE ROLE auditor LOGIN IN ROLE countersign_reader",
    );
    shared
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_writer_adds_and_a_reader_reads_and_neither_changes_anything_with_postgres() {
    let shared = with_roles();
    let url = |user| Some(shared.cluster.url_of(user, shared.cluster.port()));
    let mut options = shared.options();
    options.postgres_url = url("gateway");
    let error = Store::open(&options).expect_err("there are no tables yet");
    let text = std::error::Error::source(&error)
        .expect("a cause")
        .to_string();
    assert!(text.contains("countersign store migrate"), "{text}");
    assert!(migrate_postgres(&shared.cluster.url()).expect("the owner migrates"));
    assert!(!migrate_postgres(&shared.cluster.url()).expect("nothing is left to do"));
    let store = Store::open(&options).expect("opens");
    fill(&store, 30);
    drop(store);
    options.postgres_url = url("auditor");
    let reader = Reader::open(&options).expect("opens");
    assert_eq!(verify(&reader, shared.home.path()).records, 32);
    assert!(Store::open(&options).is_err(), "a reader does not write");
    for statement in [
        "UPDATE activity SET server = 'x'",
        "DELETE FROM activity",
        "DELETE FROM checkpoint",
        "TRUNCATE activity",
        "UPDATE meta SET seq_base = 0",
        "DROP TABLE activity",
        "SELECT drop_day((extract(epoch FROM now()) / 86400)::int)",
        "SELECT drop_day((extract(epoch FROM now()) / 86400)::int - 1)",
    ] {
        let mut psql = shared.cluster.command("psql");
        psql.args([
            "-qAtX",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-U",
            "gateway",
            "-d",
            "log",
            "-p",
        ]);
        psql.arg(shared.cluster.port().to_string());
        let output = psql
            .args(["-c", &format!("SET search_path = countersign; {statement}")])
            .output();
        let errors = String::from_utf8_lossy(&output.expect("psql").stderr).into_owned();
        assert!(
            ["permission denied", "must be owner", "younger than"]
                .iter()
                .any(|why| errors.contains(why)),
            "{statement}: {errors}"
        );
    }
    assert!(shared.verify().is_intact());
}

#[test]
#[ignore = "needs PostgreSQL"]
fn many_processes_may_start_at_once_on_an_empty_database_with_postgres() {
    let shared = SharedLog::new();
    let options = shared.options();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let store = Store::open(&options).expect("opens");
                let committed = store.commit_blocking((), [call(&store, "a", "b")]);
                assert_eq!(committed.evidence(), Evidence::Committed);
            });
        }
    });
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.chains, verification.records), (6, 18));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_database_for_newer_programs_is_refused_with_postgres() {
    let shared = SharedLog::new();
    drop(shared.open());
    shared
        .cluster
        .sql("UPDATE countersign.meta SET version = 9, oldest_writer = 1");
    drop(Store::open(&shared.options()).expect("a newer format that older writers may use"));
    shared
        .cluster
        .sql("UPDATE countersign.meta SET oldest_writer = 9");
    let error = Store::open(&shared.options()).expect_err("refused");
    let text = std::error::Error::source(&error)
        .expect("a cause")
        .to_string();
    assert!(text.contains("takes writers of format 9"), "{text}");
}
