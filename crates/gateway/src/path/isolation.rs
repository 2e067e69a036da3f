//! Which connection a client's requests take: the one that all clients share, or one that belongs to this client alone. A
//! legacy server keeps state for each session, so its HTTP clients get a session each; a process is shared unless the
//! configuration says otherwise. See `docs/concepts/isolation.md`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_client::{
    Connection, NoteSink, OwnConnection, Peer, PeerMessage, ServerHandle, State, ready,
};
use countersign_config::{self as config, Isolation, OAuthCredentials};
use countersign_inspect::{Era, Refusal};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use super::client::Client;
use super::reply;
use super::server_relay::ServerRelay;
use crate::catalogue;
use crate::services::{CallerGrant, Place, PrivateServer, Services, Session};
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
    let own = OwnServer::find(services, settings, server, shared).await?;
    let Some((own, place)) = own else {
        return Ok(None);
    };
    let start = || start(&own, session, place);
    session.private_server_or(shared, start).map(Some)
}

/// The shared connection to a server that keeps a session for each connection. Nothing for a server that keeps none, or that
/// is not there: the call by the shared connection says why.
async fn session_keeper(shared: &ServerHandle) -> Result<Option<Arc<Connection>>, Refusal> {
    // Whether a server keeps sessions is known once it was greeted.
    let greeted = async { ready(&mut shared.state()).await };
    let greeted = shared
        .with_call_timeout(Instant::now(), &NoteSink::closed(), greeted)
        .await?;
    let keeps_session = |it: &Arc<Connection>| it.is_stdio() || it.protocol().0 != Era::Modern;
    Ok(greeted.ok().filter(keeps_session))
}

/// A connection for one call of a caller that has a token of its own and no session with the gateway. Nothing if the server
/// keeps no sessions: then each request has the token of its caller. A session of the server is opened for the call and ended
/// after it, so that no other caller's token ever gets into it.
pub(crate) async fn connection_for_call(
    services: &Arc<Services>,
    settings: &Settings,
    shared: &Arc<ServerHandle>,
    grant: &CallerGrant,
) -> Result<Option<Arc<PrivateServer>>, Refusal> {
    let Some(server) = settings.config.server(shared.name()) else {
        return Ok(None);
    };
    let own = OwnServer::find(services, settings, server, shared).await?;
    let Some((own, place)) = own else {
        return Ok(None);
    };
    let (private, _messages) = own.start(Some(grant), None, place)?;
    Ok(Some(private))
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
    // Tools come from the gateway's own login, so that no caller can put one into a list.
    if is_by_caller(snapshot.settings.config.server(name)?) {
        return None;
    }
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

/// Whether each caller of the server has a token of its own.
fn is_by_caller(server: &config::Server) -> bool {
    let oauth = server.oauth.as_ref();
    oauth.is_some_and(|oauth| oauth.credentials == OAuthCredentials::Caller)
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

/// A server to which a connection of a client's own is made.
struct OwnServer<'a> {
    services: &'a Arc<Services>,
    settings: &'a Settings,
    server: &'a config::Server,
    shared: &'a Arc<ServerHandle>,
    connection: Arc<Connection>,
}

impl<'a> OwnServer<'a> {
    /// The server, and a place for one more connection to it. Nothing if it keeps no session for each connection.
    async fn find(
        services: &'a Arc<Services>,
        settings: &'a Settings,
        server: &'a config::Server,
        shared: &'a Arc<ServerHandle>,
    ) -> Result<Option<(Self, Place)>, Refusal> {
        let Some(connection) = session_keeper(shared).await? else {
            return Ok(None);
        };
        let place = take_place(services, server, shared)?;
        let own = Self {
            services,
            settings,
            server,
            shared,
            connection,
        };
        Ok(Some((own, place)))
    }

    /// Starts the connection. `capabilities` is what its client can be asked for.
    fn start(
        &self,
        grant: Option<&CallerGrant>,
        capabilities: Option<&Bytes>,
        place: Place,
    ) -> Result<(Arc<PrivateServer>, mpsc::Receiver<PeerMessage>), Refusal> {
        let (services, server, shared) = (self.services, self.server, self.shared);
        let (peer, messages) = Peer::new();
        peer.initialize(capabilities);
        let state = watch::Sender::new(State::Starting);
        let diagnostics = Arc::new(diagnostics(&server.transport));
        let upstream = Arc::new(shared.sibling(state.subscribe(), Arc::clone(&diagnostics)));
        let authorizer = match grant {
            Some(grant) => Some(grant.authorizer()),
            None => services.grants.authorizer(server),
        };
        let resources = SupervisorResources {
            budget: services.budget_without_share(),
            events: Arc::<crate::events::Events>::clone(&services.events),
            known: services.fleet.known.clone(),
            diagnostics,
            state,
            authorizer,
            own: Some(OwnConnection {
                peer: Arc::clone(&peer),
                beside: Arc::clone(&self.connection),
            }),
        };
        let supervisor = supervisor(&self.settings.config, server, resources);
        let supervisor = supervisor.map_err(|_| Refusal::Unreachable)?;
        services.fleet.start(&upstream, supervisor);
        let private = PrivateServer::new(upstream, peer, shared, place, grant.is_none());
        Ok((Arc::new(private), messages))
    }
}

fn start(
    own: &OwnServer<'_>,
    session: &Arc<Session>,
    place: Place,
) -> Result<Arc<PrivateServer>, Refusal> {
    let services = own.services;
    let grant = services.grants.caller_grant(own.server, session.caller());
    if grant.is_none() && is_by_caller(own.server) {
        // Without a key to open tokens with there is none of the caller's, and the gateway's own is not for its calls.
        return Err(Refusal::Unreachable);
    }
    let (private, messages) = own.start(grant.as_ref(), session.capabilities(), place)?;
    ServerRelay::start(
        services,
        session,
        own.shared.name(),
        &private.peer,
        messages,
    );
    if private.has_own_list() {
        let list_changed = reply::list_changed("tools", None);
        catalogue::follow_private(services, &private, session, list_changed);
    }
    Ok(private)
}
