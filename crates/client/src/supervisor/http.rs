//! One life of a server over HTTP: it is greeted and listened to until it is not there any more.

use std::sync::Arc;
use std::time::Duration;

use countersign_dial::Site;
use tokio::sync::watch;
use tokio::time::timeout;

use super::Supervision;
use super::life::Life;
use crate::connection::Transport;
use crate::era_preference::EraPreference;
use crate::http::link::Link;
use crate::http::paired::Paired;
use crate::http::{greet, listen};
use crate::server_error::ServerError;
use crate::state::State;

/// How long a server may take to be greeted.
const GREET: Duration = Duration::from_secs(30);
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
}

impl HttpServer {
    /// From the greeting until the server is not there any more, or we are told to stop.
    pub(super) async fn live(
        &self,
        supervision: &Supervision,
        stop: &mut watch::Receiver<bool>,
    ) -> Life {
        let link = Arc::new(Link::new(
            Arc::clone(&supervision.server),
            self.site.clone(),
            supervision.budget.clone(),
            supervision.max_message_bytes,
            MOST_IDLE,
            Arc::clone(&supervision.observer),
        ));
        let lived = tokio::select! {
            failed = self.serve(supervision, &link) => Some(failed),
            _ = stop.wait_for(|stop| *stop) => None,
        };
        let Some(failed) = lived else {
            // Some servers keep a session for ever unless the client ends it.
            drop(timeout(FAREWELL, link.end()).await);
            return Life::without_process(None);
        };
        // New calls wait for the next life.
        supervision.state.send_replace(State::Starting);
        Life::without_process(failed)
    }

    /// Greets the server and offers the connection; the error if there was no greeting.
    async fn serve(&self, supervision: &Supervision, link: &Arc<Link>) -> Option<ServerError> {
        if self.transport == HttpTransport::Sse {
            return serve_paired(supervision, link).await;
        }
        let preference = EraPreference::choose(supervision.era, false, supervision.eras.known());
        let hello = match in_time(greet::greet(link, preference)).await {
            Ok(hello) => hello,
            Err(error) => return Some(error),
        };
        if supervision.era.is_none() {
            supervision.eras.remember(hello.era);
        }
        let tells_changes = hello.tells_changes;
        supervision.offer(hello, Transport::Http(Arc::clone(link), None));
        let listening = async {
            if tells_changes {
                listen::listen(link).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = link.lost.notified() => {}
            () = listening => {}
        }
        None
    }
}

/// The same over the transport before Streamable HTTP.
async fn serve_paired(supervision: &Supervision, link: &Arc<Link>) -> Option<ServerError> {
    let (paired, events) = match in_time(Paired::open(link)).await {
        Ok(opened) => opened,
        Err(error) => return Some(error),
    };
    let paired = Arc::new(paired);
    let served = async {
        match in_time(paired.greet()).await {
            Ok(hello) => {
                let stream = Some(Arc::clone(&paired));
                supervision.offer(hello, Transport::Http(Arc::clone(link), stream));
            }
            Err(error) => return Some(error),
        }
        link.lost.notified().await;
        None
    };
    tokio::select! {
        () = paired.listen(events) => None,
        failed = served => failed,
    }
}

/// A step of the greeting, which may take only so long.
async fn in_time<T>(step: impl Future<Output = Result<T, ServerError>>) -> Result<T, ServerError> {
    match timeout(GREET, step).await {
        Ok(outcome) => outcome,
        Err(_) => Err(ServerError::Silent),
    }
}
