//! The shared backend: PostgreSQL 15 or later. Several gateways write to one database, each a chain of its own.
//!
//! `open` starts a chain, a writer and a maintenance thread; `Database` lends connections to read with. Records are kept
//! in one partition a day. Every answer is the one that SQLite would give.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;

use super::backend::{Backend, OpenStore, start_thread};
use super::data_dir::open_signer;
use super::error::NoReceipt;
use super::journal::Waiting;
use super::shared::Shared;
use super::tree::{HeadSigner, consistency_proof};
use super::writer::Writer;
use super::{
    CapturedTool, Generation, GrantLease, GrantOwner, KeyDigest, Options, Page, Revocation,
    StoreError, StoredGrant, StoredRecord, Tail, ToolDeclaration, Verification,
};
use crate::chain::TrustedKeys;
use crate::digest::Digest;
use crate::hours::HourCounts;
use crate::id::Ulid;
use crate::proof::Receipt;
use crate::query::{Filter, Query};
use crate::summary::{GroupBy, Summary};
use crate::time::Timestamp;

mod address;
mod append;
mod batch;
mod catalogue;
mod clock;
mod connection;
mod days;
mod error;
mod grants;
mod heads;
mod horizon;
mod late_indexes;
mod maintenance;
mod plan;
mod read;
mod retain;
mod revocations;
mod rollup;
mod schema;
mod summarise;
mod target;
mod tls;
mod tree;
mod value;
mod verify;

pub use address::check_postgres_url;
pub use error::PostgresError;
pub(super) use target::Target;

use address::Address;
use append::Appender;
use connection::Connection;
use maintenance::Maintenance;
use retain::RetentionTask;
use tree::{PostgresTree, TreeTask};

/// Idle reader connections kept open.
const KEPT_READERS: usize = 4;
/// How long reading may take: a summary or a count reads many rows before it answers.
const READ_DEADLINE: Duration = Duration::from_mins(1);
/// The statements of a filter say which index leads; see `plan`. With incremental sorts PostgreSQL reads all records of a server
/// by (server, seq) and sorts them, instead of the first page by (server, tool, seq): 100 ms instead of 0.1 at 300,000 records.
const READER_SETTINGS: &str = "SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;
    SET enable_incremental_sort = off;
    SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0";

/// Opens the store, makes or migrates its tables, and starts a chain.
pub(super) fn open(options: &Options, url: &str) -> Result<OpenStore, StoreError> {
    outside_runtime(|| open_here(options, url))
}

fn open_here(options: &Options, url: &str) -> Result<OpenStore, StoreError> {
    let address: Address = url.parse().map_err(StoreError::postgres)?;
    let signer = open_signer(options)?;
    prepare(&address)?;
    late_indexes::build_in_background(&address)?;
    let shared = Arc::new(Shared::new());
    let appender = Appender::open(
        address.clone(),
        Arc::clone(&signer),
        options,
        Arc::clone(&shared),
    )?;
    let (queue, receiver) = mpsc::channel(options.queue.max(1));
    let writer = Writer {
        appender,
        queue: receiver,
        shared: Arc::clone(&shared),
        durability: options.durability,
        unwritten: Vec::new(),
        spare: Waiting::default(),
    };
    let maintenance = Maintenance::new(
        address.clone(),
        READ_DEADLINE,
        (
            RetentionTask::new(options, Arc::clone(&signer)),
            TreeTask::new(options, HeadSigner::new(options, signer)?),
        ),
        Arc::clone(&shared),
        queue.downgrade(),
    );
    let writer = start_thread("activity-writer", move || writer.run())?;
    let maintenance = start_thread("activity-index", move || maintenance.run())?;
    shared
        .maintenance
        .get_or_init(|| maintenance.thread().clone());
    Ok(OpenStore {
        queue,
        shared,
        backend: Arc::new(Database::new(address, options)),
        threads: vec![writer, maintenance],
        patience: Some(options.store_timeout),
    })
}

/// Opens an existing store for reading only: no chain is started.
pub(super) fn open_reader(options: &Options, url: &str) -> Result<Arc<dyn Backend>, StoreError> {
    let address: Address = url.parse().map_err(StoreError::postgres)?;
    let database = Database::new(address, options);
    database.with_connection(|connection| connection.first("SELECT FROM meta", &[]).map(drop))?;
    Ok(Arc::new(database))
}

/// Makes or migrates the tables, as their owner. Says whether anything changed.
pub fn migrate_postgres(url: &str) -> Result<bool, StoreError> {
    let address = url.parse().map_err(StoreError::postgres)?;
    outside_runtime(|| {
        let has_changed = prepare(&address)?;
        let built = late_indexes::build(&address);
        built.map_err(StoreError::postgres)?;
        Ok(has_changed)
    })
}

/// Runs `work` where a connection may run its own runtime: a thread of another runtime refuses that.
fn outside_runtime<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if tokio::runtime::Handle::try_current().is_err() {
        return work();
    }
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

fn prepare(address: &Address) -> Result<bool, StoreError> {
    let connection = Connection::open(address, "SET synchronous_commit = on", READ_DEADLINE);
    let mut connection = connection.map_err(StoreError::postgres)?;
    let has_changed = schema::migrate(&mut connection)?;
    let grant = schema::grant(&mut connection);
    grant.map_err(StoreError::postgres)?;
    let raise = schema::raise_base(&mut connection);
    raise.map_err(StoreError::postgres)?;
    Ok(has_changed)
}

/// A store, and connections that read it and write the catalogue.
#[derive(Debug)]
struct Database {
    address: Address,
    data_dir: PathBuf,
    /// What the catalogue keeps of each server, in bytes.
    catalogue_share: u64,
    idle: Mutex<Vec<Connection>>,
}

impl Database {
    fn new(address: Address, options: &Options) -> Self {
        Self {
            address,
            data_dir: options.data_dir.clone(),
            catalogue_share: options.catalogue_bytes_per_server,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Lends a connection to `work`. If an idle one turns out to be dead, `work` is done again on a new one.
    fn with_connection<T: Send>(
        &self,
        work: impl FnMut(&mut Connection) -> Result<T, PostgresError> + Send,
    ) -> Result<T, StoreError> {
        outside_runtime(|| self.with_connection_here(work))
    }

    fn with_connection_here<T>(
        &self,
        mut work: impl FnMut(&mut Connection) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let idle = self.lock().pop();
        if let Some(mut connection) = idle.filter(|connection| !connection.is_closed()) {
            match work(&mut connection) {
                Err(_) if connection.is_closed() => {}
                result => return self.put_back(connection, result),
            }
        }
        let mut connection = self.connect()?;
        let result = work(&mut connection);
        self.put_back(connection, result)
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let connection = Connection::open(&self.address, READER_SETTINGS, READ_DEADLINE);
        connection.map_err(StoreError::postgres)
    }

    fn put_back<T>(
        &self,
        connection: Connection,
        result: Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        // After a failure it may be in the middle of something.
        if result.is_ok() && !connection.is_closed() {
            let mut idle = self.lock();
            if idle.len() < KEPT_READERS {
                idle.push(connection);
            }
        }
        result.map_err(StoreError::postgres)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Database {
    fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.with_connection(|connection| read::list(connection, query))
    }

    fn show(&self, id: Ulid) -> Result<Option<StoredRecord>, StoreError> {
        self.with_connection(|connection| read::show(connection, id))
    }

    fn receipt(&self, id: Ulid) -> Result<Result<Receipt, NoReceipt>, StoreError> {
        self.with_connection(|connection| tree::receipt(connection, id))
    }

    fn consistency_proof(&self, old: u64, size: u64) -> Result<Vec<Digest>, StoreError> {
        self.with_connection(|connection| {
            consistency_proof(&mut PostgresTree(connection), old, size)
        })
    }

    fn add_cosignature(&self, size: u64, line: &str) -> Result<(), StoreError> {
        let sql = "UPDATE tree_head SET note = note || $2 WHERE size = $1 AND strpos(note, $2) = 0";
        let size = value::signed(size);
        self.with_connection(|connection| connection.execute(sql, &[&size, &line]).map(drop))
    }

    fn after(&self, seq: u64, filter: &Filter, limit: usize) -> Result<Tail, StoreError> {
        self.with_connection(|connection| read::after(connection, seq, filter, limit))
    }

    fn newest(&self) -> Result<u64, StoreError> {
        self.with_connection(read::newest)
    }

    fn bounds(&self, filter: &Filter) -> Result<(u64, u64), StoreError> {
        self.with_connection(|connection| read::bounds(connection, filter))
    }

    fn summary(
        &self,
        by: GroupBy,
        period: Duration,
        now: Timestamp,
    ) -> Result<Summary, StoreError> {
        self.with_connection(|connection| summarise::summary(connection, by, period, now))
    }

    fn hours(&self, period: Duration, now: Timestamp) -> Result<Vec<HourCounts>, StoreError> {
        self.with_connection(|connection| summarise::hours(connection, period, now))
    }

    fn verify(
        &self,
        trusted: &TrustedKeys,
        anchors: &[PathBuf],
    ) -> Result<Verification, StoreError> {
        // A connection of its own: it reads everything.
        outside_runtime(|| {
            let mut connection = self.connect()?;
            verify::verify(&mut connection, &self.data_dir, trusted, anchors)
        })
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
        self.with_connection(|connection| catalogue::get(connection, server, tool, generation))
    }

    fn tools(&self, server: &str) -> Result<Vec<CapturedTool>, StoreError> {
        self.with_connection(|connection| catalogue::list(connection, server))
    }

    fn remove_tools(&self, server: &str) -> Result<u64, StoreError> {
        self.with_connection(|connection| catalogue::remove(connection, server))
    }

    fn grant(&self, owner: GrantOwner<'_>) -> Result<Option<StoredGrant>, StoreError> {
        self.with_connection(|connection| grants::get(connection, owner))
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
        self.with_connection(|connection| grants::generations(connection, owners))
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
        self.with_connection(|connection| revocations::find(connection, keys))
    }
}
