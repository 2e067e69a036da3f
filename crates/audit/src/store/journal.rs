//! The journal of one chain: where the records of a call are committed while many calls are under way. The call appends
//! them here itself, with one write, and need not wait for the writer, which puts them into the database some
//! milliseconds later, many at once.
//!
//! Two files take turns: one takes entries until those of the other are in the database. The process holds a lock on the
//! first. A journal whose lock is free belongs to a process that was killed; who opens the store next puts what is missing
//! into the database.

mod abandoned;
mod entries;

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::StoreError;
use crate::id::Ulid;
use crate::private::private_journal;
use crate::record::body::Body;

pub(super) use abandoned::{AbandonedJournal, JournalRecords, abandoned};
pub(crate) use entries::JournalKey;
use entries::{Cycle, Encoder};

/// A file that is longer than this takes no more entries once the other one is free.
const FULL: u64 = 1 << 20;
/// What may wait for the writer, in bytes. More is not taken.
const MAX_WAITING: usize = 8 << 20;

/// The journal of this process.
#[derive(Debug)]
pub(crate) struct Journal {
    paths: [PathBuf; 2],
    state: Mutex<State>,
    /// Notified when entries have come into the database.
    is_written: Condvar,
}

#[derive(Debug)]
struct State {
    files: [File; 2],
    /// The file that takes entries.
    current: usize,
    /// Where its next entry goes.
    end: u64,
    cycle: Cycle,
    /// Entries so far; those of them that are in the database; those that are not in the current file.
    appended: u64,
    written: u64,
    before_current: u64,
    /// What the writer has not taken yet.
    waiting: Waiting,
    /// The writer knows that something waits.
    is_announced: bool,
    /// Nothing is taken any more: the chain is ending, or a file could not be put back to where its entries end.
    is_closed: bool,
    encoder: Encoder,
    buffer: Vec<u8>,
}

/// Records on their way to the writer. One buffer for all of them: memory that one thread allocates and another one frees
/// makes the two wait for each other.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Waiting {
    fn push(&mut self, body: &Body) {
        self.bytes.extend_from_slice(body.as_bytes());
        self.ends.push(self.bytes.len());
    }

    /// Moves the records to the end of `bodies`.
    fn drain_into(&mut self, bodies: &mut Vec<Body>) {
        let mut start = 0;
        for end in self.ends.drain(..) {
            bodies.push(Body::copied_from(&self.bytes[start..end]));
            start = end;
        }
        self.bytes.clear();
    }
}

impl Journal {
    /// A journal for a chain whose first record has the place `opened`. Call it under the store's lock: a journal without
    /// its own lock is taken for abandoned.
    pub(super) fn create(
        database: &Path,
        (chain, key): (Ulid, JournalKey),
        opened: u64,
    ) -> Result<Self, StoreError> {
        let paths = paths(database, chain);
        let open = |path: &PathBuf| private_journal().open(path).map_err(StoreError::file(path));
        let files = [open(&paths[0])?, open(&paths[1])?];
        files[0].lock().map_err(StoreError::file(&paths[0]))?;
        let state = State {
            files,
            current: 0,
            end: 0,
            cycle: Cycle {
                number: 1,
                floor: opened,
            },
            appended: 0,
            written: 0,
            before_current: 0,
            waiting: Waiting::default(),
            is_announced: false,
            is_closed: false,
            encoder: Encoder::new(key),
            buffer: Vec::new(),
        };
        Ok(Self {
            paths,
            state: Mutex::new(state),
            is_written: Condvar::new(),
        })
    }

    /// Appends the records of a call: they outlive the process from now on. False if they were not taken. `announce` tells
    /// the writer that records wait for it, and says whether it could be told; it is asked once for all records until the
    /// writer takes them.
    pub(super) fn append(&self, bodies: &[Body], announce: impl FnOnce() -> bool) -> bool {
        let mut state = self.state();
        if state.is_closed || state.waiting.bytes.len() > MAX_WAITING {
            return false;
        }
        if !state.is_announced {
            state.is_announced = announce();
        }
        if !state.is_announced {
            return false;
        }
        if let Err(error) = state.write(bodies) {
            tracing::warn!(%error, "cannot write the journal of the activity store");
            return false;
        }
        state.appended += bodies.len() as u64;
        for body in bodies {
            state.waiting.push(body);
        }
        true
    }

    /// Whether it holds entries that are not in the database yet. Then more of them cost little: a few calls fewer for a
    /// moment should not wake the writer, which would wake each of them.
    pub(super) fn is_in_use(&self) -> bool {
        let state = self.state();
        state.written < state.appended
    }

    /// Moves what waits for the writer to the end of `bodies`. `spare` is memory for what will wait next.
    pub(super) fn take(&self, bodies: &mut Vec<Body>, spare: &mut Waiting) {
        let mut state = self.state();
        state.is_announced = false;
        std::mem::swap(&mut state.waiting, spare);
        drop(state);
        spare.drain_into(bodies);
    }

    /// Takes no more records.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
    }

    /// Notes that the next `count` entries are in the database, which this process has written up to `last_seq`.
    pub(super) fn note_written(&self, count: usize, last_seq: u64) {
        let mut state = self.state();
        state.written += count as u64;
        state.turn_over(last_seq);
        drop(state);
        self.is_written.notify_all();
    }

    /// Waits until what was appended before is in the database, for some time at most. `hurry` wakes the writer.
    pub(super) fn await_written(&self, hurry: impl FnOnce(), limit: Duration) {
        let state = self.state();
        let target = state.appended;
        if state.written >= target {
            return;
        }
        hurry();
        let is_missing = |state: &mut State| state.written < target;
        drop(self.is_written.wait_timeout_while(state, limit, is_missing));
    }

    /// Gives back the space of files whose entries are all in the database, while no calls come.
    pub(super) fn tidy(&self) {
        let mut state = self.state();
        if state.written == state.appended && state.end == 0 {
            let emptied = state.empty();
            state.is_closed |= emptied.is_err();
        }
    }

    /// Removes the files if everything in them is in the database.
    pub(super) fn remove(&self) {
        let state = self.state();
        if state.written == state.appended {
            remove(&self.paths);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(&mut self, bodies: &[Body]) -> io::Result<()> {
        self.buffer.clear();
        for body in bodies {
            let written = self.encoder.write(self.cycle, body, &mut self.buffer);
            written.ok_or(io::ErrorKind::FileTooLarge)?;
        }
        let file = &mut self.files[self.current];
        let written = file.write_all(&self.buffer);
        if written.is_ok() {
            self.end += self.buffer.len() as u64;
        } else {
            // The next entry takes the place of what is there of this one.
            self.is_closed = file.seek(SeekFrom::Start(self.end)).is_err();
        }
        written
    }

    /// Begins at the start of a file again if what is there is no longer needed.
    fn turn_over(&mut self, last_seq: u64) {
        let is_free = self.written == self.appended;
        let has_turn = self.end >= FULL && self.written >= self.before_current;
        if !is_free && !has_turn {
            return;
        }
        if !is_free {
            self.current = 1 - self.current;
        }
        self.is_closed |= self.files[self.current].rewind().is_err();
        self.before_current = self.appended;
        self.end = 0;
        self.cycle = Cycle {
            number: self.cycle.number + 1,
            floor: last_seq,
        };
    }

    fn empty(&self) -> io::Result<()> {
        for file in &self.files {
            if file.metadata()?.len() > 0 {
                file.set_len(0)?;
            }
        }
        Ok(())
    }
}

/// The two files of a chain, beside the database.
fn paths(database: &Path, chain: Ulid) -> [PathBuf; 2] {
    ["0", "1"].map(|number| {
        let stem = database.file_stem().unwrap_or_default();
        let mut name = stem.to_owned();
        name.push(format!("-journal-{chain}-{number}"));
        database.with_file_name(name)
    })
}

fn remove(paths: &[PathBuf; 2]) {
    // The one with the lock last: until then nobody else looks at the other.
    for path in paths.iter().rev() {
        if let Err(error) = std::fs::remove_file(path) {
            tracing::warn!(%error, path = %path.display(), "cannot remove a journal");
        }
    }
}

#[cfg(test)]
mod tests;
