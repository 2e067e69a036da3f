//! A connection to a server that has been greeted. Two transports are two variants: which one a server has is decided once,
//! and costs a branch from then on.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{Era, Listing, RawReply, Source};
use countersign_wire::{Capabilities, Subject, message};
use tokio::sync::broadcast;

use crate::announcement::Announcement;
use crate::authorizer::Authorizer;
use crate::error::Error;
use crate::hello::{Hello, Identity};
use crate::http::link::Link;
use crate::http::request::HttpRequest;
use crate::http::sse_transport::SseTransport;
use crate::notes::NoteSink;
use crate::stdio::connection::{StdioConnection, StdioRequest};

/// A connection to a server that has been greeted.
#[derive(Debug)]
pub struct Connection {
    hello: Arc<Hello>,
    transport: Transport,
}

/// How the server is reached.
#[derive(Debug)]
pub(crate) enum Transport {
    /// A child process.
    Stdio(Arc<StdioConnection>),
    /// Over HTTP. The stream is there if answers come by it and not as responses.
    Http(Arc<Link>, Option<Arc<SseTransport>>),
}

impl Connection {
    pub(crate) fn new(hello: Hello, transport: Transport) -> Self {
        Self {
            hello: Arc::new(hello),
            transport,
        }
    }

    /// The same connection for requests with other tokens. Nothing if the server keeps a session, which belongs to the tokens
    /// that it was opened with, or is no server over HTTP.
    pub(crate) fn with_own_token(&self, authorizer: &Arc<dyn Authorizer>) -> Option<Self> {
        match &self.transport {
            Transport::Http(link, None) if self.hello.era == Era::Modern => {
                let link = Arc::new(link.with_own_token(authorizer));
                Some(Self {
                    hello: Arc::clone(&self.hello),
                    transport: Transport::Http(link, None),
                })
            }
            _ => None,
        }
    }

    /// The server's instructions, as a JSON string.
    pub fn instructions(&self) -> Option<&Listing> {
        self.hello.instructions.as_ref()
    }

    /// Which era the server speaks, and which version of the protocol.
    pub fn protocol(&self) -> (Era, &str) {
        (self.hello.era, &self.hello.version)
    }

    /// What the server calls itself. It is the server's own claim.
    pub fn identity(&self) -> &Identity {
        &self.hello.identity
    }

    /// How the server is reached, as the configuration writes it.
    pub fn transport(&self) -> &'static str {
        match self.transport {
            Transport::Stdio(_) => "stdio",
            Transport::Http(_, Some(_)) => "sse",
            Transport::Http(_, None) => "streamable-http",
        }
    }

    /// What the server says it can do.
    pub fn capabilities(&self) -> Capabilities {
        self.hello.capabilities
    }

    /// Whether the server is a child process.
    pub fn is_stdio(&self) -> bool {
        matches!(self.transport, Transport::Stdio(_))
    }

    /// What the server announces to every client from now on.
    pub fn announcements(&self) -> broadcast::Receiver<Announcement> {
        match &self.transport {
            Transport::Stdio(wire) => wire.announcements.subscribe(),
            Transport::Http(link, _) => link.announcements.subscribe(),
        }
    }

    /// The way to a server over HTTP.
    pub(crate) fn link(&self) -> Option<&Arc<Link>> {
        match &self.transport {
            Transport::Stdio(_) => None,
            Transport::Http(link, _) => Some(link),
        }
    }

    /// Whether arguments that a tool marks are repeated as headers.
    pub fn mirrors(&self) -> bool {
        matches!(self.transport, Transport::Http(..)) && self.hello.era == Era::Modern
    }

    /// Waits until the server says that its tools have changed.
    pub async fn list_changed(&self) {
        let list_changed = match &self.transport {
            Transport::Stdio(connection) => &connection.list_changed,
            Transport::Http(link, _) => &link.list_changed,
        };
        list_changed.notified().await;
    }

    /// Asks something of our own; `params` are written for the era and the id it goes out under.
    pub fn ask(
        &self,
        method: &str,
        params: impl FnOnce(Era, u64) -> Result<Vec<u8>, Error>,
        notes: &NoteSink,
    ) -> Result<PendingRequest, Error> {
        self.ask_about(&Subject::method(method), params, notes)
    }

    /// Asks about something that headers name too. Over HTTP the request is sent when its answer is waited for.
    pub fn ask_about(
        &self,
        subject: &Subject<'_>,
        params: impl FnOnce(Era, u64) -> Result<Vec<u8>, Error>,
        notes: &NoteSink,
    ) -> Result<PendingRequest, Error> {
        let era = self.hello.era;
        let request = match &self.transport {
            Transport::Stdio(connection) => {
                let line = |id| Ok(message::line(id, subject.method, &params(era, id)?));
                Request::Stdio(connection.ask(notes, line)?)
            }
            Transport::Http(link, sse) => {
                let (id, sse) = (link.id(), sse.clone());
                let params = params(era, id)?;
                Request::Http(HttpRequest::new(link, subject, &params, id, notes, sse))
            }
        };
        Ok(PendingRequest { era, request })
    }
}

/// A request under way; dropping it cancels it.
#[derive(Debug)]
pub struct PendingRequest {
    era: Era,
    request: Request,
}

#[derive(Debug)]
enum Request {
    Stdio(StdioRequest),
    Http(HttpRequest),
}

impl PendingRequest {
    /// Waits for the reply, as something only inspection can open.
    pub async fn reply(self) -> Result<RawReply, Error> {
        let source = self.source();
        Ok(RawReply::new(self.answer().await?, source))
    }

    /// Where the reply comes from, for inspection.
    pub(crate) fn source(&self) -> Source {
        Source::new(self.era).with_request_id(self.id().to_string())
    }

    /// The id that the request goes out under.
    pub(crate) fn id(&self) -> u64 {
        match &self.request {
            Request::Stdio(slot) => slot.id(),
            Request::Http(request) => request.id,
        }
    }

    /// Waits for the answer to a request of our own, which no client sees as it is.
    pub async fn answer(self) -> Result<Bytes, Error> {
        match self.request {
            Request::Stdio(slot) => slot.answer().await,
            // Boxed: calls over stdio should not carry it around.
            Request::Http(request) => Box::pin(request.answer()).await,
        }
    }
}
