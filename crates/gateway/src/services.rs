//! The services of a running gateway: what changes while it runs and is not part of the state that requests are decided
//! by. Records, sessions, counters, memory, the running servers and the stop.

mod active_requests;
mod call_limits;
mod console_sessions;
mod directory;
mod drain;
mod feed;
mod fetched_documents;
mod fleet;
mod instruction_verdicts;
mod level;
mod lists;
mod metrics;
mod minute_count;
mod outbox;
mod private_server;
mod private_tools;
mod recent_counts;
mod refusals;
mod revocations;
mod server_requests;
mod session;
mod session_id;
mod sessions;
mod signals;

use std::sync::Arc;

use countersign_audit::{Reader, Store, StoreError};
use countersign_config::{Config, LoadedConfig};
use countersign_dial::Budget;
use tokio::sync::Semaphore;

use crate::config_change::{ReloadRequests, Reloads};
use crate::events::Events;
use crate::state::{BackgroundTasks, Relister, Settings, Snapshot, State};

pub(crate) use active_requests::{ActiveRequest, Cancelled};
pub(crate) use call_limits::CallLimits;
pub(crate) use console_sessions::{
    ConsoleSession, ConsoleSessions, SESSION_LIFETIME, SessionCredential, WRONG_KEY_DELAY,
};
pub(crate) use countersign_login::{
    BrowserLoginError, BrowserLogins, CLIENT_DOCUMENT, CallerGrant, Grants, Issuers,
    LOGIN_CALLBACK, LOGIN_LIFETIME, LoginError, LoginPreview, LoginRequest, Redirect, SealKey,
    SignedIn, SignedInBrowser, SignedInBrowsers, TokenRefusal, client_document,
    client_document_url, connect_callback, secret_digest, server_document, server_document_name,
    server_document_url,
};
pub(crate) use directory::Directory;
pub(crate) use drain::{Drain, Phase, WorkGuard};
pub(crate) use feed::{Event, Feed, NextEvents, STEP, Subscription};
pub(crate) use fetched_documents::FetchedDocuments;
pub(crate) use fleet::Fleet;
pub(crate) use instruction_verdicts::InstructionVerdicts;
pub(crate) use level::{Level, Levels};
pub(crate) use lists::ListDigests;
pub(crate) use metrics::{BOUNDS, Counts, Metrics};
pub(crate) use minute_count::MinuteCount;
pub(crate) use outbox::Outbox;
pub(crate) use private_server::{Place, Places, PrivateServer, ToolList};
pub(crate) use private_tools::PrivateTools;
pub(crate) use recent_counts::RecentCounts;
pub(crate) use refusals::Refusals;
pub(crate) use revocations::Revocations;
pub(crate) use server_requests::ServerRequests;
pub(crate) use session::{NewSession, Session, WatchedResource};
pub(crate) use session_id::SessionKey;
pub(crate) use sessions::Sessions;
pub(crate) use signals::{CallSignals, DecisionSubject, Signals, options as signal_options};

/// How many clients may listen for changes: half of the connections that there may be, so that requests still get through.
const LISTENERS: usize = 2048;

/// The parts of one running gateway: the holder of its state, and its services.
#[derive(Clone, Debug)]
pub(crate) struct Runtime {
    pub(crate) state: Arc<State>,
    pub(crate) services: Arc<Services>,
}

impl Runtime {
    /// Nothing runs yet: no server is in the state, and no client is let in before the first plan has been carried out.
    /// Blocks shortly, to read what the data directory remembers. The requests are those of [`Reloads`].
    pub(crate) fn new(
        opened: &LoadedConfig,
        store: Store,
        session_key: SessionKey,
    ) -> (Self, ReloadRequests) {
        let mut config = opened.config.clone();
        config.servers.clear();
        let settings = Arc::new(Settings::new(config, None));
        let state = Arc::new(State::new(Snapshot::new(settings, Vec::new())));
        let (reloads, requests) = Reloads::new(opened);
        let sessions = Sessions::new(session_key);
        let services = Services::new(&opened.config, (store, sessions), reloads, &state);
        let services = Arc::new(services);
        (Self { state, services }, requests)
    }
}

/// What requests and tasks use, and change.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) store: Store,
    /// The memory for messages, of which each server has a share.
    budget: Budget,
    /// The share of the clients.
    pub(crate) intake: Budget,
    pub(crate) events: Arc<Events>,
    pub(crate) metrics: Metrics,
    /// Requests that were refused at the door.
    pub(crate) refusals: Refusals,
    /// Logins to servers that came to nothing.
    pub(crate) refused_logins: MinuteCount,
    /// Keys that are refused although the file has them.
    pub(crate) revocations: Revocations,
    pub(crate) signals: Signals,
    pub(crate) lists: ListDigests,
    /// Where prompts and resources come from, for the merged endpoints.
    pub(crate) directory: Directory,
    pub(crate) sessions: Sessions,
    pub(crate) fleet: Fleet,
    /// Tokens for servers.
    pub(crate) grants: Grants,
    pub(crate) reloads: Reloads,
    pub(crate) relisting: Relister,
    pub(crate) background: BackgroundTasks,
    /// The places for connections that belong to single clients.
    pub(crate) places: Places,
    pub(crate) private_tools: PrivateTools,
    /// Documents that schemas refer to.
    pub(crate) schema_documents: FetchedDocuments,
    /// The log levels of shared servers.
    pub(crate) levels: Levels,
    /// What classifiers said about the instructions of servers.
    pub(crate) instruction_verdicts: InstructionVerdicts,
    /// The issuers of tokens.
    pub(crate) issuers: Issuers,
    /// How many calls each caller has made.
    pub(crate) call_limits: CallLimits,
    pub(crate) drain: Drain,
    /// What the streams of events read.
    pub(crate) feed: Feed,
    /// The browsers that are signed in to the console.
    pub(crate) console_sessions: ConsoleSessions,
    /// Users who are about to sign in at an issuer.
    pub(crate) browser_logins: BrowserLogins,
    /// Users who have signed in to connect a server.
    pub(crate) signed_in_browsers: SignedInBrowsers,
    /// Counts that open consoles share.
    pub(crate) recent_counts: RecentCounts,
    /// Places for clients that listen for changes.
    pub(crate) listeners: Arc<Semaphore>,
}

impl Services {
    fn new(
        config: &Config,
        (store, sessions): (Store, Sessions),
        reloads: Reloads,
        state: &Arc<State>,
    ) -> Self {
        let budget = Budget::new(config.max_inflight_bytes);
        Self {
            grants: Grants::new(store.reader().clone()),
            store,
            intake: share(&budget, config),
            budget,
            events: Arc::default(),
            metrics: Metrics::default(),
            refusals: Refusals::default(),
            refused_logins: MinuteCount::default(),
            revocations: Revocations::default(),
            signals: Signals::start(config),
            lists: ListDigests::default(),
            directory: Directory::default(),
            sessions,
            fleet: Fleet::new(&config.data_dir),
            reloads,
            relisting: Relister::new(state),
            background: BackgroundTasks::new(state),
            places: Places::default(),
            private_tools: PrivateTools::default(),
            schema_documents: FetchedDocuments::default(),
            levels: Levels::default(),
            instruction_verdicts: InstructionVerdicts::default(),
            issuers: Issuers::default(),
            call_limits: CallLimits::new(),
            drain: Drain::new(),
            feed: Feed::new(),
            console_sessions: ConsoleSessions::default(),
            browser_logins: BrowserLogins::default(),
            signed_in_browsers: SignedInBrowsers::default(),
            recent_counts: RecentCounts::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
        }
    }

    /// The memory for the messages of one server.
    pub(crate) fn budget_for_one(&self, config: &Config) -> Budget {
        share(&self.budget, config)
    }

    /// The memory for the messages of a connection that belongs to one client. Nothing is set aside for it.
    pub(crate) fn budget_without_share(&self) -> Budget {
        self.budget.clone()
    }

    /// Asks the store, on a thread that may block. `None` if it cannot be read, which is logged.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Option<T> {
        let reader = self.store.reader().clone();
        match tokio::task::spawn_blocking(move || question(&reader)).await {
            Ok(Ok(answer)) => Some(answer),
            failed => {
                let why = failed.map(Result::err);
                tracing::error!(?why, "the activity store cannot be read");
                None
            }
        }
    }
}

/// The share of one server, or of the clients.
fn share(budget: &Budget, config: &Config) -> Budget {
    budget.share(config.servers.len() + 1, config.max_message_bytes)
}
