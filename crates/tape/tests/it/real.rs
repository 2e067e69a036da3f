//! Real files: every JSON text of the test data, judged as the oracle judges it.

use std::path::{Path, PathBuf};

use countersign_tape::{Limits, ScanLimits, Tape, compact, scan};
use serde_json::Value;

use crate::tape::agrees;

fn json_files(directory: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).expect("a readable directory");
    for path in entries.map(|entry| entry.expect("a readable entry").path()) {
        if path.is_dir() {
            json_files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn real_texts_read_as_the_oracle_reads_them_on_test_data() {
    let root = std::env::var_os("COUNTERSIGN_TEST_DATA").expect("COUNTERSIGN_TEST_DATA is set");
    let mut files = Vec::new();
    json_files(Path::new(&root), &mut files);
    assert!(!files.is_empty());
    for path in files {
        let bytes = std::fs::read(&path).expect("a readable file");
        let limits = Limits {
            max_bytes: usize::MAX,
            max_depth: 1000,
        };
        let value = serde_json::from_slice::<Value>(&bytes);
        let tape = Tape::parse(&bytes, &limits);
        match (&value, &tape) {
            (Ok(value), Ok(tape)) => {
                assert!(agrees(tape, 0, value), "{}", path.display());
                let envelope = scan(&bytes, &ScanLimits::default()).expect("the same text");
                assert_eq!(envelope.depth(), tape.depth(), "{}", path.display());
                let line = compact(&bytes);
                let short = Tape::parse(&line, &limits).expect("the same value");
                assert!(agrees(&short, 0, value), "{}", path.display());
            }
            // Values it cannot hold, such as 1e999, are still JSON.
            (Err(error), Ok(_)) => assert!(!error.is_eof(), "{}: {error}", path.display()),
            (Ok(_), Err(error)) => panic!("{}: {error}", path.display()),
            (Err(_), Err(_)) => {}
        }
    }
}
