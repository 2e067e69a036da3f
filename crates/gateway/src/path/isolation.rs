//! Which connection a client's requests take: the one that all clients share, or one that belongs to this client alone. A
//! legacy server keeps state for each session, so its HTTP clients get a session each; a process is shared unless the
//! configuration says otherwise. See `docs/concepts/isolation.md`.

use std::sync::Arc;
use std::time::Duration;

use countersign_client::{Connection, NoteSink, OwnConnection, Peer, ServerHandle, State, ready};
use countersign_config::{self as config, Isolation};
use countersign_inspect::{Era, Refusal};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::client::Client;
use super::reply;
use super::server_relay::ServerRelay;
use crate::catalogue;
use crate::services::{Place, PrivateServer, Services, Session};
use crate::state::{Endpoint, Settings, Snapshot, Tools};
use crate::supervise::{SupervisorResources, diagnostics, supervisor};

/// How long a client waits for the list of its own connection; after that it is shown the list that all clients share.
const LISTING: Duration = Duration::from_secs(10);

/// The connection that belongs to the client alone; nothing if it shares one. Started here with the first request that
/// needs it, and ended with the client's session.
pub(crate) async fn private_server(
    services: &Arc<Services>,
    settings: &Settings,
    shared: &Arc<ServerHandle>,
    client: &Client,
) -> Result<Option<Arc<PrivateServer>>, Refusal> {
    let Some(session) = client.session.as_ref().filter(|session| !session.is_pipe()) else {
        return Ok(None);
    };
    if let Some(private) = session.private_server(shared) {
        return Ok(Some(private));
    }
    let Some(server) = settings.config.server(shared.name()) else {
        return Ok(None);
    };
    if !may_be_private(server) {
        return Ok(None);
    }
    // Whether a server keeps sessions is known once it was greeted.
    let greeted = async { ready(&mut shared.state()).await };
    let greeted = shared
        .with_call_timeout(Instant::now(), &NoteSink::closed(), greeted)
        .await?;
    let Ok(connection) = greeted else {
        // The call by the shared connection says why.
        return Ok(None);
    };
    if !connection.is_stdio() && connection.protocol().0 == Era::Modern {
        return Ok(None);
    }
    let place = take_place(services, server, shared)?;
    let start = || {
        start(
            services,
            settings,
            server,
            (shared, &connection),
            session,
            place,
        )
    };
    session.private_server_or(shared, start).map(Some)
}

/// The tools that the server of an endpoint shows this client alone; nothing if it shows every client the same, or cannot
/// be asked in time.
pub(crate) async fn own_tools(
    services: &Arc<Services>,
    snapshot: &Snapshot,
    endpoint: &Endpoint,
    client: &Client,
) -> Option<Arc<Tools>> {
    let Endpoint::Server(name) = endpoint else {
        return None;
    };
    let shared = Arc::clone(&snapshot.server(name)?.upstream);
    let private = private_server(services, &snapshot.settings, &shared, client);
    let tools = async { private.await.ok()??.listed_tools().await };
    timeout(LISTING, tools).await.ok()?
}

/// Whether a client of the server may get a connection of its own, if the server speaks the legacy era.
fn may_be_private(server: &config::Server) -> bool {
    let is_http = matches!(server.transport, config::Transport::Http { .. });
    match server.isolation {
        Some(Isolation::Client) => true,
        Some(Isolation::Shared) => false,
        None => is_http,
    }
}

/// A place for one more connection. If there is none, the session ends that has been idle longest.
fn take_place(
    services: &Services,
    server: &config::Server,
    shared: &ServerHandle,
) -> Result<Place, Refusal> {
    let take = || {
        services
            .places
            .take(shared.name(), server.max_client_connections)
    };
    if let Some(place) = take() {
        return Ok(place);
    }
    if services.sessions.end_idlest_of(shared) {
        return take().ok_or(Refusal::QueueFull);
    }
    Err(Refusal::QueueFull)
}

fn start(
    services: &Arc<Services>,
    settings: &Settings,
    server: &config::Server,
    (shared, connection): (&Arc<ServerHandle>, &Arc<Connection>),
    session: &Arc<Session>,
    place: Place,
) -> Result<Arc<PrivateServer>, Refusal> {
    let (peer, messages) = Peer::new();
    peer.initialize(session.capabilities());
    let state = watch::Sender::new(State::Starting);
    let diagnostics = Arc::new(diagnostics(&server.transport));
    let upstream = Arc::new(shared.sibling(state.subscribe(), Arc::clone(&diagnostics)));
    let resources = SupervisorResources {
        budget: services.budget_without_share(),
        events: Arc::<crate::events::Events>::clone(&services.events),
        known: services.fleet.known.clone(),
        diagnostics,
        state,
        own: Some(OwnConnection {
            peer: Arc::clone(&peer),
            beside: Arc::clone(connection),
        }),
    };
    let supervisor =
        supervisor(&settings.config, server, resources).map_err(|_| Refusal::Unreachable)?;
    services.fleet.start(&upstream, supervisor);
    let private = PrivateServer::new(upstream, peer, shared, place);
    let private = Arc::new(private);
    ServerRelay::start(services, session, shared.name(), &private.peer, messages);
    let list_changed = reply::list_changed("tools", None);
    catalogue::follow_private(services, &private, session, list_changed);
    Ok(private)
}
