use std::fs;

use super::*;
use crate::chain::Signer;
use crate::id::Ids;
use crate::record::{Kind, Outcome, Record};

/// A journal in a folder of its own.
struct Rig {
    dir: tempfile::TempDir,
    chain: Ulid,
    journal: Journal,
}

impl Rig {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let chain = Ids::new().next().id;
        let journal = Journal::create(&database(&dir), (chain, key(chain, 7)), 1).expect("created");
        Self {
            dir,
            chain,
            journal,
        }
    }

    fn append(&self, bodies: &[Body]) {
        assert!(self.journal.append(bodies, || true));
    }

    /// What the next process finds after this one was killed.
    fn killed(self) -> Vec<(u64, Vec<Body>)> {
        let database = database(&self.dir);
        assert!(abandoned(&database).expect("read").is_empty(), "in use");
        drop(self.journal);
        let found = abandoned(&database).expect("read");
        let found = found.into_iter().map(|journal| {
            assert_eq!(journal.chain, self.chain);
            assert!(!journal.is_empty());
            let other = journal.records(&key(self.chain, 8));
            assert!(other.is_none(), "forged, as far as another key can tell");
            let records = journal.records(&key(self.chain, 7)).expect("records");
            journal.remove();
            (records.floor, records.bodies)
        });
        let found = found.collect();
        assert_eq!(files(&self.dir), 0, "removed");
        found
    }
}

/// The key of a chain whose checkpoints are signed by the key of this number.
fn key(chain: Ulid, number: u8) -> JournalKey {
    let signer = Signer::from_text(&format!("{number:02x}").repeat(32)).expect("a key");
    JournalKey::new(chain, &signer).expect("a key")
}

fn database(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("activity.db")
}

fn files(dir: &tempfile::TempDir) -> usize {
    fs::read_dir(dir.path()).expect("a folder").count()
}

fn body(tool: &str) -> Body {
    let mut record = Record::new(Ids::new().next(), Kind::ToolCall, Outcome::Success);
    record.tool = Some(tool.to_owned());
    Body::encode(&mut record).expect("encoded")
}

#[test]
fn the_next_process_finds_what_a_killed_one_has_appended() {
    let rig = Rig::new();
    let bodies = [body("one"), body("two"), body("three")];
    rig.append(&bodies[..2]);
    rig.append(&bodies[2..]);
    assert_eq!(rig.killed(), [(1, bodies.to_vec())]);
}

#[test]
fn what_is_in_the_database_makes_room() {
    let rig = Rig::new();
    rig.append(&[body("one")]);
    rig.journal.note_written(1, 7);
    let two = body("two");
    rig.append(std::slice::from_ref(&two));
    assert_eq!(rig.killed(), [(7, vec![two])]);
}

#[test]
fn two_files_take_turns_under_load() {
    let rig = Rig::new();
    let long = body(&"x".repeat(1000));
    let (mut waiting, mut written) = (0_u64, 0);
    // The database is always some records behind, so that no file is ever empty.
    while rig.journal.state().cycle.number < 5 {
        rig.append(&[long.clone(), long.clone()]);
        waiting += 2;
        if waiting > 20 {
            rig.journal.note_written(10, written + 10);
            waiting -= 10;
            written += 10;
        }
    }
    let is_short = |path: &PathBuf| fs::metadata(path).expect("a file").len() < FULL + (64 << 10);
    assert!(rig.journal.paths.iter().all(is_short));
    let found = rig.killed();
    let [(floor, bodies)] = found.as_slice() else {
        panic!("{} journals", found.len());
    };
    // Those that are in the database may be there, too.
    assert!(*floor <= written && bodies.len() as u64 >= waiting);
}

#[test]
fn an_entry_that_is_not_whole_ends_the_journal() {
    let bodies = [body("one"), body("two")];
    let chain = Ids::new().next().id;
    let key = || key(chain, 7);
    let cycle = Cycle {
        number: 3,
        floor: 9,
    };
    let mut encoder = Encoder::new(key());
    let mut encode = |cycle, body| {
        let mut out = Vec::new();
        encoder.write(cycle, body, &mut out).expect("written");
        out
    };
    let first = encode(cycle, &bodies[0]);
    let whole = [first.clone(), encode(cycle, &bodies[1])].concat();
    let first = first.len();
    let decoded = |bytes: &[u8]| entries::decode(bytes, &key()).len();
    assert_eq!(decoded(&whole), 2);
    for cut in 0..whole.len() {
        assert_eq!(decoded(&whole[..cut]), usize::from(cut >= first));
    }
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        assert_eq!(decoded(&changed), usize::from(place >= first), "{place}");
    }
    // What an earlier cycle has left behind.
    let later = Cycle { number: 4, ..cycle };
    let overwritten = [&encode(later, &bodies[0]), &whole[first..]].concat();
    assert_eq!(decoded(&overwritten), 1);
    // The journal of another chain.
    let other = super::tests::key(Ids::new().next().id, 7);
    assert_eq!(entries::decode(&whole, &other), []);
}

#[test]
fn a_reader_waits_until_the_database_has_what_was_appended() {
    let rig = Rig::new();
    rig.journal
        .await_written(|| panic!("there is nothing to wait for"), Duration::MAX);
    rig.append(&[body("one")]);
    std::thread::scope(|scope| {
        let hurry = || {
            scope.spawn(|| rig.journal.note_written(1, 2));
        };
        rig.journal.await_written(hurry, Duration::from_mins(1));
    });
    let state = rig.journal.state();
    assert_eq!((state.written, state.appended), (1, 1));
}
