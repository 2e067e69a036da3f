//! A running gateway: everything it is made of is started here in order, and stopped in the
//! reverse order, so that no call is lost and no child outlives it.

mod anchors;
#[cfg(target_os = "linux")]
mod connect_filter;
mod door;
mod idle_sessions;
mod issuer_keys;
mod keys;
mod listener;
mod plan;
mod reload;
mod revocations;
mod socket;
mod tls;
mod unix_socket;
mod wrapped_server;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use countersign_audit::{Options, Retention, Store, StoreError};
use countersign_config::{ActivityConfig, Config, Database, ListenAddress, LoadedConfig};
use thiserror::Error;
use tokio::task::JoinHandle;

use crate::config_change::ReloadRequest;
use crate::http::Connections;
use crate::services::{Phase, Runtime, Services, signal_options};
use crate::state::{Endpoint, Settings};
use anchors::Anchors;
use idle_sessions::end_idle_sessions;
use keys::Keys;
use plan::Plan;
use reload::Reloader;
use socket::Socket;
use tls::Tls;

pub use keys::{Key, KeyError, stored_admin_key, stored_api_key};
pub use tls::{TlsError, check_certificate};
pub use wrapped_server::WrappedServer;

/// How long calls may go on once the gateway stops.
const DRAIN: Duration = Duration::from_secs(10);
/// How long they may take to be told to end.
const CANCEL: Duration = Duration::from_secs(3);
const DAY: Duration = Duration::from_hours(24);

/// Why a gateway did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The key could not be read or made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The activity store could not be opened.
    #[error("cannot open the activity store {place}")]
    Store {
        /// Where it is, without secrets.
        place: String,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The address could not be listened on.
    #[error("cannot listen on {listen}")]
    Listen {
        /// The address.
        listen: ListenAddress,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A server's address cannot be used.
    #[error("cannot use the address of the server {server}")]
    Address {
        /// The server's name.
        server: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A classifier cannot be set up.
    #[error("cannot set up the classifier {name}")]
    Classifier {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Signals cannot be sent where the configuration says.
    #[error("cannot use otlp.endpoint or otlp.headers")]
    Signals(#[source] countersign_telemetry::SetupError),
    /// A key would be generated, but every gateway that shares the database needs the same one.
    #[error("{0} must be set, and be the same for every gateway, where storage.url is PostgreSQL")]
    Unshared(&'static str),
    /// Something the configuration asks for does not exist yet.
    #[error("{0} is not supported yet")]
    Unsupported(String),
}

/// A gateway that serves.
#[derive(Debug)]
pub struct Gateway {
    runtime: Runtime,
    addresses: Vec<ListenAddress>,
    keys: Keys,
    acceptors: Vec<JoinHandle<()>>,
    anchors: Anchors,
}

impl Gateway {
    /// Starts everything the configuration asks for. If it is from a file, that file is followed: what changes in it
    /// holds for the next call. Must be called within a tokio runtime.
    pub async fn start(opened: impl Into<LoadedConfig>) -> Result<Self, StartError> {
        let opened = opened.into();
        let config = opened.config.clone();
        check(&config)?;
        check_shared_keys(&config)?;
        let keys = Keys::from_config(&config)?;
        let session_key = keys::session_key(&config)?;
        let store = open_store(&config)?;
        let tls = Tls::load(&config.tls)?.map(Arc::new);
        let (sockets, addresses) = open_sockets(&config, tls.as_ref()).await?;
        tokio::spawn(store.deliver());
        let anchors = Anchors::start(&config, &store, true);
        let (runtime, requests) = Runtime::new(&opened, store, session_key);
        // Before the first client comes: a key that another gateway revoked must not open this one.
        let services = &runtime.services;
        let asked = services
            .revocations
            .refresh(services.store.reader(), &config);
        asked.map_err(|source| StartError::Store {
            place: store_place(&config),
            source,
        })?;
        let guard = revocations::check(services, &config, &keys.guard(&config, None));
        let settings = Settings::new(config, Some(guard));
        Plan::make(&runtime, settings)?.carry_out(&runtime).await;
        Reloader::start(&runtime, opened, requests);
        tokio::spawn(end_idle_sessions(runtime.clone()));
        tokio::spawn(revocations::follow(runtime.clone()));
        tokio::spawn(issuer_keys::keep_fresh(runtime.clone()));
        if let Some(tls) = tls {
            tokio::spawn(tls.follow(runtime.clone()));
        }
        let connections = Connections::new();
        let acceptors = sockets.into_iter().map(|socket| {
            let connections = Arc::clone(&connections);
            tokio::spawn(listener::serve(runtime.clone(), socket, connections))
        });
        Ok(Self {
            acceptors: acceptors.collect(),
            runtime,
            addresses,
            keys,
            anchors,
        })
    }

    /// The first address of the network where it listens; 0.0.0.0:0 if it listens on Unix sockets only.
    pub fn address(&self) -> SocketAddr {
        let mut addresses = self.addresses.iter().filter_map(ListenAddress::tcp);
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        addresses.next().unwrap_or(nowhere)
    }

    /// Everywhere it listens, with the ports and the whole paths.
    pub fn addresses(&self) -> &[ListenAddress] {
        &self.addresses
    }

    /// What clients authenticate with.
    pub fn key(&self) -> &Key {
        &self.keys.api
    }

    /// What a request that changes something has to be authenticated with.
    pub fn admin_key(&self) -> &Key {
        &self.keys.admin
    }

    /// Waits until every server has been heard, or has had its time.
    pub async fn settled(&self) {
        let state = &self.runtime.state;
        state
            .tool_list_wait()
            .wait(state.load(), &Endpoint::Direct)
            .await;
    }

    /// Reads the configuration file now, instead of within a second, whether it has changed or not. How it fares is
    /// logged, counted and recorded.
    pub async fn reload(&self) {
        drop(
            self.runtime
                .services
                .reloads
                .request(ReloadRequest::Reread)
                .await,
        );
    }

    /// How often each operational event has happened, by name.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        self.runtime.services.events.counts()
    }

    /// Stops in good order: says that it stops and goes on for `drain_delay`, then takes nothing new, lets calls finish,
    /// ends children, closes the store. Calls under way are told to end once `hurry` resolves, or after ten seconds.
    pub async fn stop(self, hurry: impl Future<Output = ()>) {
        let services = &self.runtime.services;
        let mut hurry = std::pin::pin!(hurry);
        if self.leave(hurry.as_mut()).await {
            wind_down(services, hurry).await;
        } else {
            wind_down(services, std::future::ready(())).await;
        }
        self.acceptors.iter().for_each(JoinHandle::abort);
        self.runtime.services.store.close().await;
        self.anchors.finish().await;
        self.runtime.services.signals.close().await;
    }
}

impl Gateway {
    /// Goes on for `drain_delay`, while `/readyz` says that the gateway stops; false if `hurry` resolved first.
    async fn leave(&self, hurry: impl Future<Output = ()>) -> bool {
        let delay = self.runtime.state.load().settings.config.stop_delay();
        if delay.is_zero() {
            return true;
        }
        self.runtime.services.drain.enter(Phase::Leaving);
        tokio::time::timeout(delay, hurry).await.is_err()
    }
}

/// Connections that may wait to be accepted. With too few, a burst of connections makes the kernel drop the first packet
/// of an honest client, which then waits a second before it tries again. The kernel lowers this to its own limit.
const BACKLOG: u32 = 4096;

/// Listens everywhere that the configuration says.
async fn open_sockets(
    config: &Config,
    tls: Option<&Arc<Tls>>,
) -> Result<(Vec<Socket>, Vec<ListenAddress>), StartError> {
    let (mut sockets, mut addresses) = (Vec::new(), Vec::new());
    // Commands that read the announced path may run in another directory.
    let data_dir = std::path::absolute(&config.data_dir);
    let data_dir = data_dir.unwrap_or_else(|_| config.data_dir.clone());
    for listen in config.listen.addresses() {
        let listen = listen.within(&data_dir);
        let (socket, address) = Socket::open(&listen, tls)
            .await
            .map_err(|source| StartError::Listen { listen, source })?;
        sockets.push(socket);
        addresses.push(address);
    }
    Ok((sockets, addresses))
}

/// Takes nothing new, lets calls finish, then tells them to end, and ends the servers.
async fn wind_down(services: &Services, hurry: impl Future<Output = ()>) {
    let drain = &services.drain;
    drain.enter(Phase::Draining);
    let finished = tokio::select! {
        finished = drain.wait_idle(DRAIN) => finished,
        () = hurry => false,
    };
    if !finished {
        drain.enter(Phase::Cancelling);
        drain.wait_idle(CANCEL).await;
    }
    services.sessions.refuse_server_requests();
    services.fleet.end().await;
}

/// What is configured must exist, before anything is started.
fn check(config: &Config) -> Result<(), StartError> {
    let is_shared = matches!(config.storage.database(), Database::Postgres(_));
    if is_shared && config.activity.signing_key.is_none() {
        return Err(StartError::Unshared("activity.signing_key"));
    }
    let has_tokens = config.servers.iter().any(|server| server.oauth.is_some());
    if is_shared && has_tokens && config.seal_key.is_none() {
        return Err(StartError::Unshared("seal_key"));
    }
    config.panel().map_err(|failed| StartError::Classifier {
        name: failed.name.clone(),
        source: failed.source.to_string().into(),
    })?;
    let signals = signal_options(config).map(|options| options.check());
    signals.transpose().map_err(StartError::Signals)?;
    Ok(())
}

/// Clients reach any of the gateways that share a database, so all of them need the same keys.
fn check_shared_keys(config: &Config) -> Result<(), StartError> {
    let is_shared = matches!(config.storage.database(), Database::Postgres(_));
    let keys = [
        (
            "api_key",
            config.api_key.is_none() && config.require_mcp_auth,
        ),
        ("admin_key", config.admin_key.is_none()),
        ("session_key", config.session_key.is_none()),
    ];
    match keys.iter().find(|(_, is_generated)| *is_generated) {
        Some((key, _)) if is_shared => Err(StartError::Unshared(key)),
        _ => Ok(()),
    }
}

fn open_store(config: &Config) -> Result<Store, StartError> {
    Store::open(&store_options(config)).map_err(|source| StartError::Store {
        place: store_place(config),
        source,
    })
}

/// Where the activity store of a configuration is, without secrets.
pub fn store_place(config: &Config) -> String {
    match config.storage.database() {
        Database::Sqlite(None) => format!("in {}", config.data_dir.display()),
        Database::Sqlite(Some(path)) => format!("at {path}"),
        Database::Postgres(_) => format!("at {}", config.storage.shown_url()),
    }
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
    match config.storage.database() {
        Database::Sqlite(path) => options.database = path.map(PathBuf::from),
        Database::Postgres(url) => options.postgres_url = Some(url.to_owned()),
    }
    options.durability = durability;
    options.retention = Retention {
        max_age: (retention_days > 0).then(|| DAY * retention_days),
        max_records: (max_records > 0).then_some(max_records),
        max_bytes: (max_size_mb > 0).then_some(max_size_mb << 20),
        floor: DAY * retention_floor_days,
    };
    let key = config.activity.signing_key.as_ref();
    options.signing_key = key.map(|key| key.expose().to_owned());
    let previous = config.activity.previous_signing_key.as_ref();
    options.previous_signing_key = previous.map(|key| key.expose().to_owned());
    options.log_origin.clone_from(&config.activity.log_origin);
    options
}
