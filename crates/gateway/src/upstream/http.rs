//! A server that is reached over Streamable HTTP, in either era: greeted, called, and greeted again
//! when it has gone away and come back. It connects to the one address it was given and follows
//! nobody elsewhere. Who calls which tool is decided elsewhere. Stage 3.

mod asked;
mod failure;
mod greet;
mod link;
mod listen;
mod once;
mod paired;
mod response;
mod session;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_config::Protocol;
use countersign_dial::{Budget, Site};
use countersign_inspect::{Era, Listing, Refusal};
use countersign_wire::Capabilities;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

pub(crate) use asked::Asked;
use countersign_wire::Subject;
use failure::Failure;
use link::Link;
use paired::Paired;

use super::diagnostics::Diagnostics;
use super::eras::Eras;
use super::greeting::Greeting;
use super::hello::{HandshakeError, Hello};
use super::tries::{Tries, rest};
use super::{Connection as Any, NoteSink, State, Unanswered};
use crate::checkup::Trouble;
use crate::events::{self, Events};

/// How long a server may take to be greeted.
const GREET: Duration = Duration::from_secs(30);
/// How long ending a session may hold up the end of the gateway.
const FAREWELL: Duration = Duration::from_secs(1);

/// A conversation with a server that has been greeted.
#[derive(Debug)]
pub(crate) struct Connection {
    link: Arc<Link>,
    /// The stream that answers come by, if they do not come as responses.
    paired: Option<Arc<Paired>>,
    pub(super) era: Era,
    pub(super) version: String,
    instructions: Option<Listing>,
    pub(super) abilities: Capabilities,
}

impl Connection {
    pub(crate) fn instructions(&self) -> Option<&Listing> {
        self.instructions.as_ref()
    }

    /// Writes a request; it is sent when its answer is waited for.
    pub(crate) fn ask(
        &self,
        subject: &Subject<'_>,
        params: impl FnOnce(Era, u64) -> Result<Vec<u8>, Refusal>,
        notes: &NoteSink,
    ) -> Result<Asked, Refusal> {
        let id = self.link.id();
        let params = params(self.era, id)?;
        let paired = self.paired.clone();
        Ok(Asked::new(&self.link, subject, &params, id, notes, paired))
    }

    /// How the server is reached, as the configuration writes it.
    pub(super) fn transport(&self) -> &'static str {
        let protocol = match self.paired {
            Some(_) => Protocol::Sse,
            None => Protocol::StreamableHttp,
        };
        protocol.as_str()
    }

    pub(crate) async fn list_changed(&self) {
        self.link.list_changed.notified().await;
    }
}

impl Asked {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Sends the request and waits for the answer.
    pub(super) async fn answer(self) -> Result<Bytes, Unanswered> {
        let link = Arc::clone(&self.link);
        self.exchange().await.map_err(|failure| match failure {
            Failure::NotSent(_) => Unanswered::NotSent,
            other => Unanswered::Refused(link.refusal(&other)),
        })
    }
}

/// Everything needed to keep in touch with one server.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) server: Arc<str>,
    pub(crate) site: Site,
    pub(crate) protocol: Protocol,
    pub(crate) max_message_bytes: usize,
    pub(crate) budget: Budget,
    pub(crate) events: Arc<Events>,
    pub(crate) state: watch::Sender<State>,
    pub(crate) eras: Eras,
    /// The era that the configuration fixes, if it does.
    pub(crate) era: Option<Era>,
    pub(crate) diagnostics: Arc<Diagnostics>,
}

/// Why a server cannot be called.
#[derive(Debug, Error)]
enum StartError {
    #[error("the server could not be greeted")]
    Handshake(#[source] HandshakeError),
    #[error("the server did not answer in time")]
    TimedOut,
}

impl Supervisor {
    /// Keeps in touch until told to stop.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut tries = Tries::default();
        while !*stop.borrow() {
            let started = Instant::now();
            let link = Arc::new(self.link());
            let lived = tokio::select! {
                failed = self.live(&link) => Some(failed),
                _ = stop.wait_for(|stop| *stop) => None,
            };
            let Some(failed) = lived else {
                // A session nobody ends is kept by some servers for ever.
                drop(timeout(FAREWELL, link.end()).await);
                break;
            };
            // Whoever comes now waits for the next life.
            self.state.send_replace(State::Starting);
            let wait = tries.failed(started.elapsed());
            self.report(failed.as_ref(), wait);
            if !tries.are_worth_waiting() {
                self.state.send_replace(State::Down);
            }
            rest(wait, &mut stop).await;
        }
        self.state.send_replace(State::Stopped);
    }

    /// From the greeting until the server is not there any more; the error if there was no greeting.
    async fn live(&self, link: &Arc<Link>) -> Option<StartError> {
        self.diagnostics.begin();
        if self.protocol == Protocol::Sse {
            return self.live_paired(link).await;
        }
        let greeting = Greeting::choose(self.era, false, self.eras.known());
        let hello = match in_time(greet::greet(link, greeting)).await {
            Ok(hello) => hello,
            Err(error) => return Some(error),
        };
        if self.era.is_none() {
            self.eras.remember(hello.era);
        }
        let tells_changes = hello.tells_changes;
        self.offer(link, hello, None);
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

    /// The same over the transport before this one.
    async fn live_paired(&self, link: &Arc<Link>) -> Option<StartError> {
        let (paired, events) = match in_time(Paired::open(link)).await {
            Ok(opened) => opened,
            Err(error) => return Some(error),
        };
        let paired = Arc::new(paired);
        let served = async {
            match in_time(paired.greet()).await {
                Ok(hello) => self.offer(link, hello, Some(&paired)),
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

    /// Lets calls come.
    fn offer(&self, link: &Arc<Link>, hello: Hello, paired: Option<&Arc<Paired>>) {
        let (server, version) = (&*self.server, &*hello.version);
        events::ServerStarted { server, version }.emit(&self.events);
        let connection = Connection {
            link: Arc::clone(link),
            paired: paired.cloned(),
            era: hello.era,
            version: hello.version,
            instructions: hello.instructions,
            abilities: hello.abilities,
        };
        self.state
            .send_replace(State::Ready(Arc::new(Any::Http(connection))));
        self.diagnostics.recover();
    }

    fn link(&self) -> Link {
        Link::new(
            Arc::clone(&self.server),
            self.site.clone(),
            self.budget.clone(),
            self.max_message_bytes,
            Arc::clone(&self.events),
        )
    }

    fn report(&self, failed: Option<&StartError>, wait: Duration) {
        let trouble = failed.map_or(Trouble::Unreachable, StartError::trouble);
        let reason = self.diagnostics.fail(&trouble.to_string(), wait);
        let event = events::ServerFailed {
            server: &self.server,
            reason: &reason,
            stderr: &[],
            was_up: failed.is_none(),
            wait,
        };
        event.emit(&self.events);
    }
}

/// A step of the greeting, which may take only so long.
async fn in_time<T>(
    step: impl Future<Output = Result<T, HandshakeError>>,
) -> Result<T, StartError> {
    match timeout(GREET, step).await {
        Ok(outcome) => outcome.map_err(StartError::Handshake),
        Err(_) => Err(StartError::TimedOut),
    }
}
