//! Keeps in touch with one server over HTTP: greets it, and greets it again when it has gone away and come back.

mod once;

use std::sync::Arc;
use std::time::Duration;

use countersign_dial::Site;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::Supervision;
use crate::connection::Transport;
use crate::greeting::Greeting;
use crate::hello::Hello;
use crate::http::link::Link;
use crate::http::paired::Paired;
use crate::http::{greet, listen};
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
    /// What supervisors of both kinds need.
    pub supervision: Supervision,
    /// Its address, and the headers of every request.
    pub site: Site,
    /// The transport it speaks.
    pub transport: HttpTransport,
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
            self.supervision.state.send_replace(State::Starting);
            let wait = tries.failed(started.elapsed());
            let reason = failed.as_ref().unwrap_or(&Trouble::Unreachable).to_string();
            self.supervision
                .report(&reason, &[], failed.is_none(), wait);
            if !tries.are_worth_waiting() {
                self.supervision.state.send_replace(State::Down);
            }
            rest(wait, &mut stop).await;
        }
        self.supervision.state.send_replace(State::Stopped);
    }

    /// From the greeting until the server is not there any more; the error if there was no greeting.
    async fn live(&self, link: &Arc<Link>) -> Option<Trouble> {
        self.supervision.diagnostics.begin();
        if self.transport == HttpTransport::Sse {
            return self.live_paired(link).await;
        }
        let greeting = Greeting::choose(self.supervision.era, false, self.supervision.eras.known());
        let hello = match in_time(greet::greet(link, greeting)).await {
            Ok(hello) => hello,
            Err(error) => return Some(error),
        };
        if self.supervision.era.is_none() {
            self.supervision.eras.remember(hello.era);
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
        let Supervision {
            observer, server, ..
        } = &self.supervision;
        observer.server_started(server, &hello.version);
        let transport = Transport::Http(Arc::clone(link), paired.cloned());
        self.supervision.offer(hello, transport);
    }

    fn link(&self) -> Link {
        Link::new(
            Arc::clone(&self.supervision.server),
            self.site.clone(),
            self.supervision.budget.clone(),
            self.supervision.max_message_bytes,
            MOST_IDLE,
            Arc::clone(&self.supervision.observer),
        )
    }
}

/// A step of the greeting, which may take only so long.
async fn in_time<T>(step: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    match timeout(GREET, step).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Trouble::Silent),
    }
}
