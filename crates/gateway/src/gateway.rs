//! A running gateway: everything it is made of is started here in order, and stopped in the
//! reverse order, so that no call is lost and no child outlives it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_audit::{Options, Retention, Store, StoreError};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::budget::Budget;
use crate::catalogue;
use crate::config::{ActivityConfig, Config};
use crate::downstream::{self, Guard};
use crate::drain::Phase;
use crate::key::{self, Key, KeyError};
use crate::route::Endpoint;
use crate::shared::Shared;
use crate::snapshot::{Server, Snapshot};
use crate::upstream::Upstream;
use crate::upstream::eras::Known;
use crate::upstream::supervisor::{Supervisor, supervise};

/// How long calls may go on once the gateway stops.
const DRAIN: Duration = Duration::from_secs(10);
/// How long they may take to be told to end.
pub(crate) const CANCEL: Duration = Duration::from_secs(3);
const DAY: Duration = Duration::from_hours(24);

/// Why a gateway did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The key could not be read or made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The activity store could not be opened.
    #[error("cannot open the activity store in {}", data_dir.display())]
    Store {
        /// Where it is.
        data_dir: PathBuf,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The address could not be listened on.
    #[error("cannot listen on {listen}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A server's address cannot be used.
    #[error("cannot use the address of the server {server}")]
    Address {
        /// The server's name.
        server: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Something the configuration asks for does not exist yet.
    #[error("{0} is not supported yet")]
    Unsupported(String),
}

/// A gateway that serves.
#[derive(Debug)]
pub struct Gateway {
    shared: Arc<Shared>,
    address: SocketAddr,
    key: Key,
    stop: watch::Sender<bool>,
    /// One per server; each ends when its child has.
    supervisors: Vec<JoinHandle<()>>,
    acceptor: JoinHandle<()>,
}

impl Gateway {
    /// Starts everything the configuration asks for. Must be called within a tokio runtime.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        check(&config)?;
        let key = match &config.api_key {
            Some(value) => Key {
                value: value.clone(),
                is_new: false,
            },
            None => key::obtain(&config.data_dir)?,
        };
        let store = open_store(&config)?;
        let listen = config.listen;
        let bound = TcpListener::bind(listen).await;
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = bound.map_err(|source| StartError::Listen { listen, source })?;
        tokio::spawn(store.deliver());
        let guard = Guard::new(&config, key.value.expose());
        let budget = Budget::new(config.max_inflight_bytes);
        let config = Arc::new(config);
        let shared = Shared::new(Arc::clone(&config), store, budget, Arc::default(), guard);
        let shared = Arc::new(shared);
        let stop = watch::Sender::new(false);
        let prepared = prepare(&shared, &config)?;
        let supervisors = start_servers(&shared, prepared, &stop).await;
        let acceptor = tokio::spawn(downstream::serve(Arc::clone(&shared), listener));
        Ok(Self {
            shared,
            address,
            key,
            stop,
            supervisors,
            acceptor,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What clients authenticate with.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Waits until every server has been heard, or has had its time.
    pub async fn settled(&self) {
        self.shared.settled(&Endpoint::Direct).await;
    }

    /// How often each operational event has happened, by name.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        self.shared.events.counts()
    }

    /// Stops in good order: takes nothing new, lets calls finish, ends children, closes the store. Calls under way
    /// are told to end once `hurry` resolves, or after ten seconds.
    pub async fn stop(self, hurry: impl Future<Output = ()>) {
        wind_down(&self.shared, &self.stop, self.supervisors, hurry).await;
        self.acceptor.abort();
        self.shared.store.close().await;
    }
}

/// Takes nothing new, lets calls finish, then tells them to end, and ends the servers.
pub(crate) async fn wind_down(
    shared: &Shared,
    stop: &watch::Sender<bool>,
    supervisors: Vec<JoinHandle<()>>,
    hurry: impl Future<Output = ()>,
) {
    let drain = &shared.drain;
    drain.enter(Phase::Draining);
    let finished = tokio::select! {
        finished = drain.idle(DRAIN) => finished,
        () = hurry => false,
    };
    if !finished {
        drain.enter(Phase::Cancelling);
        drain.idle(CANCEL).await;
    }
    stop.send_replace(true);
    for supervisor in supervisors {
        drop(supervisor.await);
    }
}

/// What is configured must exist, before anything is started.
pub(crate) fn check(config: &Config) -> Result<(), StartError> {
    if config.storage_url.expose() != "sqlite:" {
        return Err(StartError::Unsupported(
            "a storage url other than sqlite:".to_owned(),
        ));
    }
    Ok(())
}

pub(crate) fn open_store(config: &Config) -> Result<Store, StartError> {
    Store::open(&store_options(config)).map_err(|source| StartError::Store {
        data_dir: config.data_dir.clone(),
        source,
    })
}

/// How the activity store of a configuration is opened.
pub fn store_options(config: &Config) -> Options {
    let ActivityConfig {
        retention_days,
        retention_floor_days,
        max_records,
        max_size_mb,
        durability,
        ..
    } = config.activity;
    let mut options = Options::new(&config.data_dir);
    options.durability = durability;
    options.retention = Retention {
        max_age: (retention_days > 0).then(|| DAY * retention_days),
        max_records: (max_records > 0).then_some(max_records),
        max_bytes: (max_size_mb > 0).then_some(max_size_mb << 20),
        floor: DAY * retention_floor_days,
    };
    let key = config.activity.signing_key.as_ref();
    options.signing_key = key.map(|key| key.expose().to_owned());
    options
}

/// Every enabled server and who will look after it.
pub(crate) fn prepare(
    shared: &Shared,
    config: &Config,
) -> Result<Vec<(Upstream, Supervisor)>, StartError> {
    let known = Known::read(&config.data_dir);
    let enabled = config.servers.iter().filter(|server| server.enabled);
    let prepared = enabled.map(|server| {
        let failed = |source| StartError::Address {
            server: server.name.clone(),
            source: Box::new(source),
        };
        supervise(shared, config, server, &known).map_err(failed)
    });
    prepared.collect()
}

/// Starts every server, with what the store remembers of its tools.
pub(crate) async fn start_servers(
    shared: &Arc<Shared>,
    prepared: Vec<(Upstream, Supervisor)>,
    stop: &watch::Sender<bool>,
) -> Vec<JoinHandle<()>> {
    let mut servers = Vec::new();
    let mut supervisors = Vec::new();
    for (upstream, supervisor) in prepared {
        shared.metrics.register(upstream.name());
        let (blocking, name) = (Arc::clone(shared), Arc::clone(upstream.name()));
        let tools = tokio::task::spawn_blocking(move || catalogue::remembered(&blocking, &name));
        let tools = tools.await.ok().and_then(Result::ok).unwrap_or_default();
        servers.push(Server::new(Arc::new(upstream), tools));
        supervisors.push(tokio::spawn(supervisor.run(stop.subscribe())));
    }
    let upstreams: Vec<_> = servers
        .iter()
        .map(|server| Arc::clone(&server.upstream))
        .collect();
    shared.change(|snapshot| Snapshot::new(Arc::clone(&snapshot.config), servers));
    for upstream in upstreams {
        tokio::spawn(catalogue::follow(Arc::clone(shared), upstream));
    }
    supervisors
}
