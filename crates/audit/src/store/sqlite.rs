//! The embedded backend: `SQLite` in write-ahead mode. `open` starts a chain, a writer and an indexer; `Database`
//! lends connections to read with.
//!
//! Readers have their own connections and never wait for the writer. Several processes may share the files.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::mpsc;

use super::backend::{Backend, OpenStore, start_thread};
use super::data_dir::signer;
use super::error::NoReceipt;
use super::journal::{Journal, JournalKey, Waiting};
use super::shared::Shared;
use super::tree::{HeadSigner, consistency_proof};
use super::writer::Writer;
use super::{
    CapturedTool, Durability, Generation, GrantLease, GrantOwner, KeyDigest, Options, Page,
    Revocation, StoreError, StoredGrant, StoredRecord, Tail, ToolDeclaration, Verification,
};
use crate::chain::TrustedKeys;
use crate::digest::Digest;
use crate::hours::HourCounts;
use crate::id::Ulid;
use crate::proof::Receipt;
use crate::query::{Filter, Query};
use crate::summary::{GroupBy, Summary};
use crate::time::Timestamp;

mod append;
mod catalogue;
mod files;
mod grants;
mod heads;
mod index;
mod index_check;
mod indexer;
mod keys;
mod lookup;
mod maintenance;
mod packed;
mod plan;
mod read;
mod replay;
mod retain;
mod revocations;
mod schema;
mod show;
mod source;
mod summarise;
mod transaction;
mod tree;
mod verify;

pub(super) use source::Source;

use append::Appender;
use files::Files;
use indexer::{BATCH, Indexer};
use maintenance::{Maintenance, Tasks};
use replay::replay;
use retain::RetentionTask;
use tree::{SqliteTree, TreeTask};

/// Idle reader connections kept open.
const KEPT_READERS: usize = 4;

/// What the threads of a store share besides [`Shared`].
#[derive(Debug)]
struct Upkeep {
    shared: Arc<Shared>,
    /// The write-ahead log is too long; the writer should pause for a checkpoint.
    wal_is_large: AtomicBool,
    /// The last record indexed.
    indexed: AtomicU64,
}

impl Upkeep {
    fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            wal_is_large: AtomicBool::new(false),
            indexed: AtomicU64::new(0),
        }
    }

    /// Wakes the indexer once a whole batch waits for it.
    fn wake_if_batch_is_full(&self, seq: u64) {
        if seq >= self.indexed.load(Ordering::Relaxed) + BATCH as u64 {
            self.shared.wake_maintenance();
        }
    }
}

/// Opens or creates the store and starts its chain.
pub(super) fn open(options: &Options) -> Result<OpenStore, StoreError> {
    let files = Files::new(options);
    files.create_dir()?;
    let guard = files.lock()?;
    let signer = signer(options)?;
    let mut connection = files.open_main(true)?;
    schema::migrate(&mut connection)?;
    let shared = Arc::new(Shared::new());
    let upkeep = Arc::new(Upkeep::new(Arc::clone(&shared)));
    replay(&files, &connection, options)?;
    let appender = Appender::open(
        connection,
        Arc::clone(&signer),
        options,
        Arc::clone(&upkeep),
    )?;
    let chain = appender.chain_id();
    if options.durability == Durability::Commit
        && let Some(key) = JournalKey::new(chain, &signer)
    {
        let journal = Journal::create(&files.main, (chain, key), appender.opened())?;
        shared.journal.get_or_init(|| journal);
    }
    let indexer = open_indexer(&files)?;
    drop(guard);
    let (queue, receiver) = mpsc::channel(options.queue.max(1));
    let writer = Writer {
        appender,
        queue: receiver,
        shared: Arc::clone(&shared),
        durability: options.durability,
        unwritten: Vec::new(),
        spare: Waiting::default(),
    };
    let heads = HeadSigner::new(options, Arc::clone(&signer))?;
    let tasks = Tasks {
        indexer,
        tree: TreeTask::open(&files, options, heads)?,
        retain: RetentionTask::new(options, signer),
    };
    let maintenance = Maintenance::new(tasks, files.clone(), upkeep, queue.downgrade());
    let writer = start_thread("activity-writer", move || writer.run())?;
    let maintenance = start_thread("activity-index", move || maintenance.run())?;
    shared
        .maintenance
        .get_or_init(|| maintenance.thread().clone());
    let database = Arc::new(Database {
        written_here: Some(Arc::clone(&shared)),
        ..Database::new(files, options)
    });
    Ok(OpenStore {
        queue,
        shared,
        backend: database,
        threads: vec![writer, maintenance],
        // The writer of an embedded store answers within `busy_timeout`.
        patience: None,
    })
}

/// Opens an existing store for reading only: no chain is started. If the index is missing or behind, it is brought up to date.
pub(super) fn open_reader(options: &Options) -> Result<Arc<dyn Backend>, StoreError> {
    let files = Files::new(options);
    let guard = files.lock()?;
    files.close_dir()?;
    let mut connection = files.open_main(false)?;
    schema::migrate(&mut connection)?;
    if let Err(error) = replay(&files, &connection, options) {
        tracing::warn!(%error, "the store lacks what a gateway that was killed has committed last");
    }
    drop(connection);
    let mut indexer = open_indexer(&files)?;
    drop(guard);
    while indexer.batch()?.0 == BATCH {}
    Ok(Arc::new(Database::new(files, options)))
}

/// Call it under the store's lock. An index that cannot be used is thrown away and built anew: nothing in it is lost.
fn open_indexer(files: &Files) -> Result<Indexer, StoreError> {
    let open = || -> Result<Indexer, StoreError> {
        let (main, index) = (files.open_main(false)?, files.open_index()?);
        index::ensure(&index, &main)?;
        Ok(Indexer::new(main, index))
    };
    match open() {
        Err(error) if !error.is_busy() && !error.is_full() => {
            tracing::warn!(%error, "the activity index cannot be used; building it anew");
            files.remove_index();
            open()
        }
        result => result,
    }
}

/// The files of a store, and connections that read them and write the catalogue.
#[derive(Debug)]
struct Database {
    files: Files,
    /// What the catalogue keeps of each server, in bytes.
    catalogue_share: u64,
    idle: Mutex<Vec<Connection>>,
    /// The threads of this process that write the store, if it does.
    written_here: Option<Arc<Shared>>,
}

impl Database {
    fn new(files: Files, options: &Options) -> Self {
        Self {
            files,
            catalogue_share: options.catalogue_bytes_per_server,
            idle: Mutex::new(Vec::new()),
            written_here: None,
        }
    }

    /// Lends a connection to `work`, which reads everything that was committed before.
    fn read_records<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        if let Some(shared) = &self.written_here {
            shared.await_journal();
        }
        self.read(work)
    }

    /// Lends a connection to `work`, which only reads.
    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.with_connection(|connection| work(connection).map_err(StoreError::Read))
    }

    /// Lends a connection to `work`.
    fn with_connection<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.files.open_both()?,
        };
        let result = work(&connection);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT_READERS {
            idle.push(connection);
        }
        result
    }
}

impl Backend for Database {
    fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.read_records(|connection| read::list(connection, query))
    }

    fn show(&self, id: Ulid) -> Result<Option<StoredRecord>, StoreError> {
        self.read_records(|connection| show::show(connection, id))
    }

    fn receipt(&self, id: Ulid) -> Result<Result<Receipt, NoReceipt>, StoreError> {
        self.read_records(|connection| tree::receipt(connection, id))
    }

    fn consistency_proof(&self, old: u64, size: u64) -> Result<Vec<Digest>, StoreError> {
        self.read(|connection| consistency_proof(&mut SqliteTree(connection), old, size))
    }

    fn add_cosignature(&self, size: u64, line: &str) -> Result<(), StoreError> {
        let sql = "UPDATE tree_head SET note = note || ?2 WHERE size = ?1 AND instr(note, ?2) = 0";
        self.with_connection(|connection| {
            let added = connection.execute(sql, rusqlite::params![size, line]);
            added.map(drop).map_err(StoreError::Write)
        })
    }

    fn after(&self, seq: u64, filter: &Filter, limit: usize) -> Result<Tail, StoreError> {
        self.read(|connection| read::after(connection, seq, filter, limit))
    }

    fn newest(&self) -> Result<u64, StoreError> {
        self.read_records(indexer::last)
    }

    fn bounds(&self, filter: &Filter) -> Result<(u64, u64), StoreError> {
        self.read_records(|connection| read::bounds(connection, filter))
    }

    fn summary(
        &self,
        by: GroupBy,
        period: Duration,
        now: Timestamp,
    ) -> Result<Summary, StoreError> {
        self.read_records(|connection| summarise::summary(connection, by, period, now))
    }

    fn hours(&self, period: Duration, now: Timestamp) -> Result<Vec<HourCounts>, StoreError> {
        self.read_records(|connection| summarise::hours(connection, period, now))
    }

    fn verify(
        &self,
        trusted: &TrustedKeys,
        anchors: &[PathBuf],
    ) -> Result<Verification, StoreError> {
        let files = &self.files;
        if let Some(shared) = &self.written_here {
            shared.await_journal();
        }
        self.with_connection(|connection| verify::verify(connection, files, trusted, anchors))
    }

    fn put_tools(
        &self,
        server: &str,
        tools: &[ToolDeclaration<'_>],
    ) -> Result<Vec<Generation>, StoreError> {
        let share = self.catalogue_share;
        self.with_connection(|connection| catalogue::put(connection, server, tools, share))
    }

    fn tool(
        &self,
        server: &str,
        tool: &str,
        generation: Option<u64>,
    ) -> Result<Option<CapturedTool>, StoreError> {
        self.read(|connection| catalogue::get(connection, server, tool, generation))
    }

    fn tools(&self, server: &str) -> Result<Vec<CapturedTool>, StoreError> {
        self.read(|connection| catalogue::list(connection, server))
    }

    fn remove_tools(&self, server: &str) -> Result<u64, StoreError> {
        self.with_connection(|connection| catalogue::remove(connection, server))
    }

    fn grant(&self, owner: GrantOwner<'_>) -> Result<Option<StoredGrant>, StoreError> {
        self.read(|connection| grants::get(connection, owner))
    }

    fn put_grant(
        &self,
        owner: GrantOwner<'_>,
        issuer: &str,
        sealed: &[u8],
    ) -> Result<u64, StoreError> {
        self.with_connection(|connection| grants::put(connection, owner, issuer, sealed))
    }

    fn grant_generations(&self, owners: &[GrantOwner<'_>]) -> Result<Vec<Option<u64>>, StoreError> {
        self.read(|connection| grants::generations(connection, owners))
    }

    fn lease_grant(
        &self,
        owner: GrantOwner<'_>,
        lease: GrantLease<'_>,
    ) -> Result<bool, StoreError> {
        self.with_connection(|connection| grants::lease(connection, owner, lease))
    }

    fn release_grant(
        &self,
        owner: GrantOwner<'_>,
        lease: GrantLease<'_>,
    ) -> Result<bool, StoreError> {
        self.with_connection(|connection| grants::release(connection, owner, lease))
    }

    fn swap_grant(
        &self,
        owner: GrantOwner<'_>,
        generation: u64,
        sealed: &[u8],
    ) -> Result<bool, StoreError> {
        self.with_connection(|connection| grants::swap(connection, owner, generation, sealed))
    }

    fn remove_grant(&self, owner: GrantOwner<'_>) -> Result<bool, StoreError> {
        self.with_connection(|connection| grants::remove(connection, owner))
    }

    fn revoke(&self, revocation: Revocation<'_>) -> Result<bool, StoreError> {
        self.with_connection(|connection| revocations::add(connection, revocation))
    }

    fn revoked(&self, keys: &[KeyDigest]) -> Result<Vec<KeyDigest>, StoreError> {
        self.read(|connection| revocations::find(connection, keys))
    }
}
