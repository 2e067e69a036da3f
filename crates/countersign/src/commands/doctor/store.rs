//! The activity store: that it opens, can be written, holds together, and is not ahead of the clock.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use countersign_audit::{Query, Reader, StoreError, Stored, Timestamp, TrustedKeys};
use countersign_config::Config;
use countersign_gateway::store_options;

use super::check::Check;
use crate::report::with_cause;

/// A larger store takes longer to verify than a person waits for the doctor.
const QUICK: u64 = 100_000;
/// How long to wait for another process that holds the store.
const BUSY: Duration = Duration::from_secs(1);
/// Records of two machines may differ by this much.
const SKEW_MILLIS: u64 = 60_000;
/// No record was ever written before this program was.
const BEGINNING: u64 = 1_735_689_600_000;

pub(super) fn checks(config: &Config) -> Vec<Check> {
    let path = config.data_dir.join("activity.db");
    let shown = path.display();
    if !path.exists() {
        return vec![
            Check::ok("store", format!("{shown} is made at the first start")),
            clock(None),
        ];
    }
    let mut options = store_options(config);
    options.busy_timeout = BUSY;
    let reader = match Reader::open(&options) {
        Ok(reader) => reader,
        Err(error) => return vec![broken(&path, &error), clock(None)],
    };
    let (newest, future) = match newest(&reader) {
        Ok(found) => found,
        Err(why) => return vec![unreadable(&path, &why), clock(None)],
    };
    if let Err(error) = OpenOptions::new().append(true).open(&path) {
        let hint = format!("run: chown $(id -u) {shown}*");
        return vec![
            Check::error("store", format!("{shown} cannot be written: {error}"), hint),
            clock(None),
        ];
    }
    let seq = newest.as_ref().map_or(0, |newest| newest.seq);
    let future = future.map(|future| future.record.id().timestamp());
    vec![chain(config, &reader, &path, seq), clock(future)]
}

/// The record that was written last, and one that was written in the future.
fn newest(reader: &Reader) -> Result<(Option<Stored>, Option<Stored>), String> {
    let now = Timestamp::now();
    let first = |pairs: &[(&str, &str)]| {
        let query = Query::from_pairs(pairs.iter().copied(), now);
        let query = query.map_err(|error| error.to_string())?;
        let page = reader.list(&query).map_err(|error| with_cause(&error))?;
        Ok::<_, String>(page.activities.into_iter().next())
    };
    let soon = Timestamp::from_millis(now.as_millis() + SKEW_MILLIS).to_string();
    let newest = first(&[("limit", "1")])?;
    Ok((newest, first(&[("limit", "1"), ("since", &soon)])?))
}

fn chain(config: &Config, reader: &Reader, path: &Path, seq: u64) -> Check {
    let shown = path.display();
    if seq > QUICK {
        return Check::ok(
            "store",
            format!("{shown} opens; `countersign activity verify` checks its {seq} records"),
        );
    }
    let trusted = match TrustedKeys::of_data_dir(&config.data_dir) {
        Ok(trusted) => trusted,
        Err(error) => {
            let message = format!("its signing keys cannot be read: {error}");
            return Check::error("store", message, "look at the keys in the data directory");
        }
    };
    match reader.verify(&trusted) {
        Ok(verified) => match &verified.first_break {
            None => Check::ok(
                "store",
                format!("{shown}: {} records, the chain holds", verified.records),
            ),
            Some(first) => Check::error(
                "store",
                format!("the chain does not hold: {first}"),
                format!(
                    "keep {shown} as evidence: `countersign activity verify` says more; start a new one with --data-dir"
                ),
            ),
        },
        Err(error) => unreadable(path, &with_cause(&error)),
    }
}

fn broken(path: &Path, error: &StoreError) -> Check {
    if error.is_busy() {
        let path = path.display();
        let message = format!("{path} is locked by another program");
        let hint = format!("wait for whoever holds it, or find them with: fuser -v {path}");
        return Check::error("store", message, hint);
    }
    unreadable(path, &with_cause(error))
}

fn unreadable(path: &Path, why: &str) -> Check {
    let folder = path.parent().unwrap_or(Path::new("."));
    let numbered = (1..).map(|number| folder.join(format!("broken-{number}")));
    let aside = numbered.into_iter().find(|aside| !aside.exists());
    let (folder, aside) = (folder.display(), aside.unwrap_or_default());
    let hint = format!(
        "move it away, a new one is made at the next start: mkdir {aside} && mv {folder}/activity* {aside}",
        aside = aside.display()
    );
    let message = format!("{} cannot be read: {why}", path.display());
    Check::error("store", message, hint)
}

/// A clock that was set back lets records go early and sorts them wrongly.
fn clock(future: Option<Timestamp>) -> Check {
    let now = Timestamp::now();
    let hint = "set the clock, for example: timedatectl set-ntp true; if it is right, wait until it has caught up";
    if now.as_millis() < BEGINNING {
        return Check::error("clock", format!("it says {now}"), hint);
    }
    let ahead = future.map_or(0, |future| {
        future.as_millis().saturating_sub(now.as_millis())
    });
    if ahead > 0 {
        let minutes = ahead / 60_000;
        let message = format!(
            "a record was written {minutes} minutes in the future: the clock was ahead, or has been set back"
        );
        return Check::error("clock", message, hint);
    }
    Check::ok("clock", now.to_string())
}
