//! One server as its callers see it. It may be away, and it takes only so many calls at once. Every call ends within its
//! time-out, whatever the server does.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use countersign_inspect::{Era, RawReply};
use countersign_wire::Subject;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::authorizer::Authorizer;
use crate::connection::Connection;
use crate::diagnostics::Diagnostics;
use crate::error::Error;
use crate::gate::Gate;
use crate::header_mismatch::listed_marks;
use crate::hello::is_header_mismatch;
use crate::lease::Lease;
use crate::notes::NoteSink;
use crate::state::{State, next, ready};
use crate::timeouts::Timeouts;

use countersign_wire::Capabilities;

/// One server.
#[derive(Debug)]
pub struct ServerHandle {
    name: Arc<str>,
    state: watch::Receiver<State>,
    gate: Arc<Gate>,
    limits: Limits,
    lease: Lease,
    diagnostics: Arc<Diagnostics>,
}

impl ServerHandle {
    /// A server whose state a supervisor reports.
    pub fn new(
        name: Arc<str>,
        state: watch::Receiver<State>,
        limits: Limits,
        diagnostics: Arc<Diagnostics>,
    ) -> Self {
        Self {
            name,
            state,
            gate: Arc::new(Gate::new(limits.max_concurrent_requests, limits.queue_size)),
            limits,
            lease: Lease::new(),
            diagnostics,
        }
    }

    /// The same server with other limits. Calls under way keep their limits.
    pub fn with_limits(self: &Arc<Self>, limits: Limits) -> Arc<Self> {
        if self.limits == limits {
            return Arc::clone(self);
        }
        let places = |limits: Limits| (limits.max_concurrent_requests, limits.queue_size);
        let gate = if places(self.limits) == places(limits) {
            Arc::clone(&self.gate)
        } else {
            Arc::new(Gate::new(limits.max_concurrent_requests, limits.queue_size))
        };
        Arc::new(Self {
            name: Arc::clone(&self.name),
            state: self.state.clone(),
            gate,
            limits,
            lease: self.lease.clone(),
            diagnostics: Arc::clone(&self.diagnostics),
        })
    }

    /// Another connection to the same server, whose state another supervisor reports. Both together are held to the limits
    /// of the one.
    #[must_use]
    pub fn sibling(&self, state: watch::Receiver<State>, diagnostics: Arc<Diagnostics>) -> Self {
        Self {
            name: Arc::clone(&self.name),
            state,
            gate: Arc::clone(&self.gate),
            limits: self.limits,
            lease: Lease::new(),
            diagnostics,
        }
    }

    /// Whether `state` belongs to this server, and not to another server of the same name.
    pub fn has_state_channel(&self, state: &watch::Receiver<State>) -> bool {
        self.state.same_channel(state)
    }

    /// What keeps the server running.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// What an operator is told about the server.
    pub fn diagnostics(&self) -> &Arc<Diagnostics> {
        &self.diagnostics
    }

    /// The server's name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// How the server is, now and from now on.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// The era that the server speaks; nothing while it is not there.
    pub fn era(&self) -> Option<Era> {
        match &*self.state.borrow() {
            State::Ready(connection) => Some(connection.protocol().0),
            _ => None,
        }
    }

    /// What the server says it can do; nothing while it is not there.
    pub fn capabilities(&self) -> Option<Capabilities> {
        match &*self.state.borrow() {
            State::Ready(connection) => Some(connection.capabilities()),
            _ => None,
        }
    }

    /// Sends a request and waits for the reply; what the server says meanwhile goes to `notes`.
    /// Dropping the future cancels the request.
    pub fn call(
        &self,
        subject: &Subject<'_>,
        params: impl Fn(Era, u64) -> Result<Vec<u8>, Error>,
        notes: &NoteSink,
    ) -> impl Future<Output = Result<RawReply, Error>> {
        self.call_with_token(None, subject, params, notes)
    }

    /// The same with a token from there, for this request alone. Refused where a session binds requests together, because it
    /// was opened with another token: nothing is sent then.
    pub async fn call_with_token(
        &self,
        authorizer: Option<&Arc<dyn Authorizer>>,
        subject: &Subject<'_>,
        params: impl Fn(Era, u64) -> Result<Vec<u8>, Error>,
        notes: &NoteSink,
    ) -> Result<RawReply, Error> {
        let call = pin!(async {
            let _place = self.gate.enter().await?;
            let mut state = self.state.clone();
            loop {
                let mut connection = ready(&mut state).await?;
                if let Some(authorizer) = authorizer {
                    let own = connection.with_own_token(authorizer);
                    connection = Arc::new(own.ok_or(Error::Unreachable)?);
                }
                match ask(&connection, subject, &params, notes).await {
                    // The next life of the server may have the request.
                    Err(Error::NotSent(_)) => next(&mut state).await?,
                    settled => return settled,
                }
            }
        });
        self.timeouts().wait(Instant::now(), notes, call).await?
    }

    /// Runs work on a reply under the time-outs of the call that began at `start`.
    pub async fn with_call_timeout<T>(
        &self,
        start: Instant,
        notes: &NoteSink,
        work: impl Future<Output = T>,
    ) -> Result<T, Error> {
        self.timeouts().wait(start, notes, pin!(work)).await
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts::new(self.limits.timeout, self.limits.total_timeout)
    }
}

/// Sends a request and waits for the reply. A call of a tool whose marked arguments have changed is made once more.
async fn ask(
    connection: &Connection,
    subject: &Subject<'_>,
    params: impl Fn(Era, u64) -> Result<Vec<u8>, Error>,
    notes: &NoteSink,
) -> Result<RawReply, Error> {
    let request = connection.ask_about(subject, &params, notes)?;
    let source = request.source();
    let answer = request.answer().await?;
    if !connection.mirrors() || subject.mirrored.is_none() || !is_header_mismatch(&answer) {
        return Ok(RawReply::new(answer, source));
    }
    // Boxed: it happens when a server has changed a tool and not said so.
    let marks = Box::pin(listed_marks(connection, subject.name.unwrap_or_default())).await;
    let Some(marks) = marks else {
        return Ok(RawReply::new(answer, source));
    };
    let again = Subject {
        mirrored: Some(&marks),
        ..*subject
    };
    connection.ask_about(&again, &params, notes)?.reply().await
}

/// What a server is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a call is waited for, and again after each report of progress.
    pub timeout: Duration,
    /// However much progress it reports.
    pub total_timeout: Duration,
    /// How many calls it gets at once.
    pub max_concurrent_requests: usize,
    /// How many more may wait.
    pub queue_size: usize,
}
