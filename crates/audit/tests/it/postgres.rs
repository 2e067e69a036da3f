//! The store on a real PostgreSQL. Every test has a cluster of its own.

mod answers;
mod chain;
mod copies;
mod encryption;
mod followers;
mod full_disk;
mod grants;
mod outages;
mod proof;
mod revocations;
mod roles;
mod upkeep;

use countersign_audit::{Options, Reader, Store, Verification};
use countersign_fixture::postgres::Cluster;

use crate::support::{DataDir, verify};

/// A key for all writers of a test, so that each trusts the checkpoints of the others.
pub(crate) const SIGNING_KEY: &str =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A cluster, and a data directory for the key and `checkpoints.log`.
pub(crate) struct SharedLog {
    pub(crate) cluster: Cluster,
    pub(crate) home: DataDir,
}

impl SharedLog {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(settings: &[&str]) -> Self {
        Self {
            cluster: Cluster::start_with(settings),
            home: DataDir::new(),
        }
    }

    pub(crate) fn options(&self) -> Options {
        let mut options = self.home.options();
        options.postgres_url = Some(self.cluster.url());
        options.signing_key = Some(SIGNING_KEY.to_owned());
        options
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.options()).expect("store opens")
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.options()).expect("reader opens")
    }

    pub(crate) fn verify(&self) -> Verification {
        verify(&self.reader(), self.home.path())
    }

    pub(crate) fn count(&self, what: &str) -> u64 {
        let count = self.cluster.sql(&format!("SELECT {what}"));
        count.parse().expect("a number")
    }

    /// Records stored, and how many distinct places in chains they have.
    pub(crate) fn records(&self) -> (u64, u64) {
        (
            self.count("count(*) FROM countersign.activity"),
            self.count("count(DISTINCT (chain, n)) FROM countersign.activity"),
        )
    }
}

/// Waits until something holds, which must happen within a minute.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "never: {what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
