//! What the tests share: compiling, judging twice, a small stack with a watchdog, and the test data.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use countersign_schema::{Fuel, Limits, Schema, Verdict};
use countersign_tape::Tape;

use crate::reading::is_settled_by_reading;

/// The stack that every attack must do with: the default of a spawned thread.
const STACK: usize = 2 * 1024 * 1024;

/// Far beyond what any test needs. Only a hang reaches it.
const PATIENCE: Duration = Duration::from_mins(5);

/// Tape limits so high that only the limits of the schema crate are tested.
pub(crate) const TAPE: countersign_tape::Limits = countersign_tape::Limits {
    max_bytes: usize::MAX,
    max_depth: 1_000_000,
};

/// Says something even when the test passes: the harness captures `println`, not this.
pub(crate) fn say(line: impl Display) {
    writeln!(std::io::stderr(), "{line}").expect("stderr is open");
}

/// A folder of the test data.
pub(crate) fn data(folder: &str) -> PathBuf {
    let root = std::env::var_os("COUNTERSIGN_TEST_DATA").expect("COUNTERSIGN_TEST_DATA is set");
    let folder_path = Path::new(&root).join(folder);
    assert!(
        folder_path.is_dir(),
        "COUNTERSIGN_TEST_DATA has no folder {folder}"
    );
    folder_path
}

pub(crate) fn parse(text: &str) -> Tape<'_> {
    Tape::parse(text.as_bytes(), &TAPE).expect("the instance is JSON")
}

pub(crate) fn compile(text: &str) -> Schema {
    match countersign_schema::compile(text.as_bytes(), &Limits::default()) {
        Ok(schema) => schema,
        Err(error) => panic!("{text}: {error}"),
    }
}

/// The verdict with default fuel, which both faces must share.
pub(crate) fn judge(schema: &Schema, instance: &str) -> Verdict {
    let tape = parse(instance);
    let quick = schema.is_valid(&tape, &mut Fuel::for_instance(&tape, 1.0));
    let explained = schema.validate(&tape, &mut Fuel::for_instance(&tape, 1.0));
    assert_eq!(
        quick,
        explained.verdict(),
        "is_valid and validate disagree on {instance:.200}"
    );
    is_settled_by_reading(schema, instance, &tape, quick);
    quick
}

/// Asserts which instances a schema takes.
#[track_caller]
pub(crate) fn holds(schema: &str, valid: &[&str], invalid: &[&str]) {
    let compiled = compile(schema);
    for (instances, expected) in [(valid, Verdict::Valid), (invalid, Verdict::Invalid)] {
        for instance in instances {
            assert_eq!(
                judge(&compiled, instance),
                expected,
                "schema {schema}, instance {instance}"
            );
        }
    }
}

/// Runs work on a small stack. An overflow aborts the test run; a hang fails this test.
pub(crate) fn on_small_stack<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK)
        .spawn(move || {
            let result = work();
            sender.send(result).expect("the test waits");
        })
        .expect("a thread starts");
    match receiver.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{name}: no answer in {PATIENCE:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match worker.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("a worker that ends has sent"),
        },
    }
}
