//! A store that cannot be read, written or believed.

use std::io::Write;

use countersign_audit::{Kind, Options, Outcome, Record, Store, Timestamp, Ulid};
use serde_json::json;

use super::{demo, error, green, home, only_error, shell};
use crate::support::finish;

#[test]
fn a_store_that_cannot_be_read() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    // The file is damaged instead of unreadable, because root, who may run this test, can read every file.
    home.write(".countersign/activity.db", &"not a database ".repeat(100));
    let mend = |why: &str| {
        let (message, hint) = error(&home, "doctor", "store");
        assert!(message.contains(why), "{message}");
        let typed = hint.split_once("start: ").expect("a command").1;
        shell(&home, typed);
        let ran = home.run("doctor");
        assert_eq!(ran.code, Some(0), "{ran}");
        assert!(ran.stdout.contains("ok       store"), "{ran}");
    };
    mend("file is not a database");
    std::fs::create_dir(home.path().join(".countersign/activity.db")).expect("a folder");
    mend("cannot be read");
}

#[test]
fn a_chain_that_does_not_hold() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let store = Store::open(&Options::new(home.path().join(".countersign"))).expect("a store");
    for _ in 0..3 {
        let call = Record::new(store.next_id(), Kind::ToolCall, Outcome::Success);
        drop(store.commit_blocking((), [call]));
    }
    drop(store);
    let database = rusqlite::Connection::open(home.path().join(".countersign/activity.db"))
        .expect("a database");
    database
        .execute("DELETE FROM activity WHERE seq = 2", [])
        .expect("changed");
    drop(database);
    let (message, hint) = error(&home, "doctor", "store");
    assert!(message.contains("the chain does not hold"), "{message}");
    assert!(
        hint.contains("activity verify") && hint.contains("--data-dir"),
        "{hint}"
    );
    green(&home, "doctor --data-dir other");
}

#[test]
fn a_clock_that_was_set_back() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let store = Store::open(&Options::new(home.path().join(".countersign"))).expect("a store");
    let later = Timestamp::now().as_millis() + 3_600_000;
    let id = Ulid::from_bytes(((u128::from(later)) << 80).to_be_bytes());
    drop(store.commit_blocking((), [Record::new(id, Kind::ToolCall, Outcome::Success)]));
    drop(store);
    let (message, hint) = error(&home, "doctor", "clock");
    assert!(message.contains("minutes in the future"), "{message}");
    assert!(hint.starts_with("set the clock"), "{hint}");
    let why = "not followed: a test cannot set the clock of the machine it runs on\n";
    drop(std::io::stderr().write_all(why.as_bytes()));
}

#[test]
fn a_full_disk() {
    let home = home(&json!({"mcpServers": {"demo": demo()}}));
    let (message, hint) = error(&home, "doctor --min-free 999999999999", "disk");
    assert!(
        message.ends_with("and 999999999999 are wanted"),
        "{message}"
    );
    assert!(hint.starts_with("free some space"), "{hint}");
    // No file may grow: what a full disk says, said to this process alone.
    let binary = env!("CARGO_BIN_EXE_countersign");
    let mut shell = home.shell("trap '' XFSZ; ulimit -f 0; exec \"$0\" doctor");
    let ran = finish(shell.arg(binary), b"");
    assert_eq!(ran.code, Some(1), "{ran}");
    let (message, hint) = only_error(&ran, "disk");
    assert!(message.contains("no room to write in"), "{message}");
    assert!(hint.contains("ulimit -f"), "{hint}");
    green(&home, "doctor");
}
