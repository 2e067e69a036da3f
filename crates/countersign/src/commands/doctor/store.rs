//! The activity store: that it opens, can be written, holds together, and is not ahead of the clock.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use countersign_audit::{Query, Reader, StoreError, StoredRecord, Timestamp, TrustedKeys};
use countersign_config::{Config, Database};
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
    let path = match config.storage.database() {
        Database::Sqlite(None) => config.data_dir.join("activity.db"),
        Database::Sqlite(Some(path)) => path.into(),
        Database::Postgres(_) => return shared_checks(config),
    };
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
    vec![
        chain(config, &reader, &path.display().to_string(), seq),
        clock(future),
    ]
}

/// A store that several gateways share.
fn shared_checks(config: &Config) -> Vec<Check> {
    let place = config.storage.shown_url();
    if config.activity.signing_key.is_none() {
        let hint = "run: openssl rand -hex 32, put it into a variable, and write \"${env:NAME}\"";
        let message =
            "activity.signing_key is not set: gateways that share a database need the same one";
        return vec![Check::error("store", message.to_owned(), hint), clock(None)];
    }
    let mut options = store_options(config);
    options.busy_timeout = BUSY;
    let unusable = |why: String| {
        let hint = "look at storage.url, at the server's log and at docs/guides/postgres.md; an empty database gets its tables from the first gateway that its owner starts, or by `countersign store migrate`";
        Check::error("store", format!("{place} cannot be used: {why}"), hint)
    };
    let reader = match Reader::open(&options) {
        Ok(reader) => reader,
        Err(error) => return vec![unusable(with_cause(&error)), clock(None)],
    };
    let (newest, future) = match newest(&reader) {
        Ok(found) => found,
        Err(why) => return vec![unusable(why), clock(None)],
    };
    let future = future.map(|future| future.record.id().timestamp());
    let since = newest.map_or("no records yet".to_owned(), |newest| {
        format!("the newest record is from {}", newest.record.timestamp)
    });
    let message =
        format!("{place} opens; {since}; `countersign activity verify` checks its chains");
    vec![Check::ok("store", message), clock(future)]
}

/// The record that was written last, and one that was written in the future.
fn newest(reader: &Reader) -> Result<(Option<StoredRecord>, Option<StoredRecord>), String> {
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

fn chain(config: &Config, reader: &Reader, shown: &str, seq: u64) -> Check {
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
        Err(error) => unreadable(Path::new(shown), &with_cause(&error)),
    }
}

fn broken(path: &Path, error: &StoreError) -> Check {
    if error.is_busy() {
        let path = path.display();
        let message = format!("{path} is locked by another program");
        let hint = format!("wait until that program is done, or find it with: fuser -v {path}");
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
