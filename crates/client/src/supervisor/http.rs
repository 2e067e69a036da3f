//! Keeps in touch with one server over HTTP: greets it, and greets it again when it has gone away and come back.

mod once;

use std::sync::Arc;
use std::time::Duration;

use countersign_dial::{Budget, Site};
use countersign_inspect::Era;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::connection::Connection;
use crate::diagnostics::Diagnostics;
use crate::eras::Eras;
use crate::greeting::Greeting;
use crate::hello::Hello;
use crate::http::link::Link;
use crate::http::paired::Paired;
use crate::http::{self, greet, listen};
use crate::observer::{Observer, ServerFailure};
use crate::retry::{RetryPolicy, rest};
use crate::state::State;
use crate::trouble::Trouble;

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

/// Everything needed to keep in touch with one server.
#[derive(Debug)]
pub struct HttpSupervisor {
    /// The server's name.
    pub server: Arc<str>,
    /// Its address, and the headers of every request.
    pub site: Site,
    /// The transport it speaks.
    pub transport: HttpTransport,
    /// The most bytes a message may have.
    pub max_message_bytes: usize,
    /// The memory for its messages.
    pub budget: Budget,
    /// Told what happens.
    pub observer: Arc<dyn Observer>,
    /// Where it is said whether the server can be called.
    pub state: watch::Sender<State>,
    /// Which era it spoke the last time.
    pub eras: Eras,
    /// The era that the configuration fixes, if it does.
    pub era: Option<Era>,
    /// What an operator is told.
    pub diagnostics: Arc<Diagnostics>,
}

impl HttpSupervisor {
    /// Keeps in touch until told to stop.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut tries = RetryPolicy::default();
        while !*stop.borrow() {
            let started = Instant::now();
            let link = Arc::new(self.link());
            let lived = tokio::select! {
                failed = self.live(&link) => Some(failed),
                _ = stop.wait_for(|stop| *stop) => None,
            };
            let Some(failed) = lived else {
                // Some servers keep a session for ever unless the client ends it.
                drop(timeout(FAREWELL, link.end()).await);
                break;
            };
            // New calls wait for the next life.
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
    async fn live(&self, link: &Arc<Link>) -> Option<Trouble> {
        self.diagnostics.begin();
        if self.transport == HttpTransport::Sse {
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
    async fn live_paired(&self, link: &Arc<Link>) -> Option<Trouble> {
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
        self.observer.server_started(&self.server, &hello.version);
        let connection = http::Connection::new(link, hello, paired);
        self.state
            .send_replace(State::Ready(Arc::new(Connection::Http(connection))));
        self.diagnostics.recover();
    }

    fn link(&self) -> Link {
        Link::new(
            Arc::clone(&self.server),
            self.site.clone(),
            self.budget.clone(),
            self.max_message_bytes,
            MOST_IDLE,
            Arc::clone(&self.observer),
        )
    }

    fn report(&self, failed: Option<&Trouble>, wait: Duration) {
        let trouble = failed.unwrap_or(&Trouble::Unreachable);
        let reason = self.diagnostics.fail(&trouble.to_string(), wait);
        let failure = ServerFailure {
            server: &self.server,
            reason: &reason,
            stderr: &[],
            was_up: failed.is_none(),
            wait,
        };
        self.observer.server_failed(&failure);
    }
}

/// A step of the greeting, which may take only so long.
async fn in_time<T>(step: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    match timeout(GREET, step).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Trouble::Silent),
    }
}
