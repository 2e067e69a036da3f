//! One life of a server over HTTP: it is greeted and listened to until it is not there any more.

use std::sync::Arc;
use std::time::Duration;

use countersign_dial::Site;
use countersign_inspect::Era;
use countersign_wire::Capability;
use tokio::sync::watch;
use tokio::time::timeout;

use super::Supervision;
use super::life::Life;
use crate::authorizer::Authorizer;
use crate::connection::{Connection, Transport};
use crate::era_preference::EraPreference;
use crate::hello::Hello;
use crate::http::link::Link;
use crate::http::sse_transport::SseTransport;
use crate::http::{greet, listen};
use crate::peer::Peer;
use crate::server_error::ServerError;
use crate::state::State;

/// How long ending a session may hold up the end of the gateway.
const FAREWELL: Duration = Duration::from_secs(1);

/// More idle connections to a server than this are closed.
const MOST_IDLE: usize = 64;

/// Which of the two HTTP transports a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpTransport {
    /// Streamable HTTP, in either era.
    Streamable,
    /// The transport before it: a stream for everything the server sends, and an address to post to.
    Sse,
}

/// A server over HTTP.
#[derive(Debug)]
pub struct HttpServer {
    /// Its address, and the headers of every request.
    pub site: Site,
    /// The transport it speaks.
    pub transport: HttpTransport,
    /// Where tokens for it come from, if it needs any.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// The client that the session belongs to, if it belongs to one.
    pub own: Option<OwnConnection>,
}

/// A connection that belongs to one client.
#[derive(Debug)]
pub struct OwnConnection {
    /// The client.
    pub peer: Arc<Peer>,
    /// The connection to the same server that other clients share.
    pub beside: Arc<Connection>,
}

impl HttpServer {
    /// From the greeting until the server is not there any more, or we are told to stop.
    pub(super) async fn live(
        &self,
        supervision: &Supervision,
        stop: &mut watch::Receiver<bool>,
    ) -> Life {
        let link = Arc::new(self.link(supervision));
        if let Some(peer) = &link.peer {
            peer.meet(&link);
        }
        let lived = tokio::select! {
            failed = self.serve(supervision, &link) => Some(failed),
            _ = stop.wait_for(|stop| *stop) => None,
        };
        let Some(failed) = lived else {
            // First what the client has said: some servers end with an error if a session with an open question ends.
            drop(timeout(FAREWELL / 2, link.delivered()).await);
            // Some servers keep a session for ever unless the client ends it.
            drop(timeout(FAREWELL, link.end()).await);
            return Life::without_process(None);
        };
        // New calls wait for the next life.
        supervision.state.send_replace(State::Starting);
        Life::without_process(failed)
    }

    fn link(&self, supervision: &Supervision) -> Link {
        let own = self.own.as_ref();
        let own = own.and_then(|own| {
            let link = own.beside.link()?.for_client(&own.peer);
            // The session may belong to a caller that has tokens of its own.
            Some(link.with_authorizer(self.authorizer.clone()))
        });
        own.unwrap_or_else(|| {
            let link = Link::new(
                Arc::clone(&supervision.server),
                self.site.clone(),
                supervision.budget.clone(),
                supervision.max_message_bytes,
                MOST_IDLE,
                Arc::clone(&supervision.observer),
            );
            link.with_authorizer(self.authorizer.clone())
        })
    }

    /// Greets the server and offers the connection; the error if there was no greeting.
    async fn serve(&self, supervision: &Supervision, link: &Arc<Link>) -> Option<ServerError> {
        if self.transport == HttpTransport::Sse {
            return serve_paired(supervision, link).await;
        }
        let preference = EraPreference::choose(supervision.era, false, supervision.eras.known());
        let hello = match in_time(supervision, greet::greet(link, preference)).await {
            Ok(hello) => hello,
            Err(error) => return Some(error),
        };
        if supervision.era.is_none() {
            supervision.eras.remember(hello.era);
        }
        let filter = match hello.era {
            Era::Modern => hello.subscription(),
            // A legacy server says what it has to say without a subscription.
            Era::Legacy => speaks_unasked(&hello, link.peer.as_deref()).then(String::new),
        };
        supervision.offer(hello, Transport::Http(Arc::clone(link), None));
        let listening = async {
            if let Some(filter) = filter {
                listen::listen(link, &filter).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = link.lost.notified() => missing_token(link).await,
            () = listening => None,
            error = token_withdrawn(link) => Some(error),
        }
    }
}

/// Whether a legacy server may say something outside of calls: to one client that may be asked, or about its lists.
fn speaks_unasked(hello: &Hello, client: Option<&Peer>) -> bool {
    let capabilities = hello.capabilities;
    let to_one_client = |client: &Peer| {
        client.can_be_asked()
            || capabilities.resource_updates
            || capabilities.has(Capability::Logging)
    };
    hello.tells_changes
        || capabilities.prompt_changes
        || capabilities.resource_changes
        || client.is_some_and(to_one_client)
}

/// The same over the transport before Streamable HTTP.
async fn serve_paired(supervision: &Supervision, link: &Arc<Link>) -> Option<ServerError> {
    let (sse, events) = match in_time(supervision, SseTransport::open(link)).await {
        Ok(opened) => opened,
        Err(error) => return Some(error),
    };
    let sse = Arc::new(sse);
    let served = async {
        match in_time(supervision, sse.greet()).await {
            Ok(hello) => {
                let stream = Some(Arc::clone(&sse));
                supervision.offer(hello, Transport::Http(Arc::clone(link), stream));
            }
            Err(error) => return Some(error),
        }
        tokio::select! {
            () = link.lost.notified() => missing_token(link).await,
            error = token_withdrawn(link) => Some(error),
        }
    };
    tokio::select! {
        () = sse.listen(events) => None,
        failed = served => failed,
    }
}

/// Why a lost server cannot be called, if that is for want of a token.
async fn missing_token(link: &Link) -> Option<ServerError> {
    link.await_token().await.err().map(ServerError::from)
}

/// Waits until an operator takes the token away. A new token may show other tools, so the list is asked for again.
async fn token_withdrawn(link: &Link) -> ServerError {
    let Some(authorizer) = &link.authorizer else {
        return std::future::pending().await;
    };
    let mut changes = authorizer.changes();
    loop {
        if changes.changed().await.is_err() {
            return std::future::pending().await;
        }
        if let Err(why) = authorizer.authorize().await {
            return ServerError::Unauthorized(why);
        }
        link.list_changed.notify_one();
    }
}

/// A step of the greeting, which may take only so long.
async fn in_time<T>(
    supervision: &Supervision,
    step: impl Future<Output = Result<T, ServerError>>,
) -> Result<T, ServerError> {
    match timeout(supervision.start_timeout, step).await {
        Ok(outcome) => outcome,
        Err(_) => Err(ServerError::Silent),
    }
}
