//! A connection to a server, whatever it is made of. Two transports are two variants: which one a
//! server has is decided once, and costs a branch from then on.

use bytes::Bytes;
use countersign_inspect::{Era, Listing, RawReply, Source};
use countersign_wire::Capabilities;
use countersign_wire::Subject;

use crate::error::Error;
use crate::notes::NoteSink;
use crate::{http, stdio};

/// A connection to a server that has been greeted.
#[derive(Debug)]
pub enum Connection {
    /// To a child process.
    Stdio(stdio::Connection),
    /// Over HTTP.
    Http(http::Connection),
}

impl Connection {
    /// The server's instructions, as a JSON string.
    pub fn instructions(&self) -> Option<&Listing> {
        match self {
            Self::Stdio(connection) => connection.instructions(),
            Self::Http(connection) => connection.instructions(),
        }
    }

    /// Which era the server speaks, and which version of the protocol.
    pub fn protocol(&self) -> (Era, &str) {
        match self {
            Self::Stdio(connection) => (connection.era, &connection.version),
            Self::Http(connection) => (connection.era, &connection.version),
        }
    }

    /// How the server is reached, as the configuration writes it.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(connection) => connection.transport(),
        }
    }

    /// What the server says it can do.
    pub fn abilities(&self) -> Capabilities {
        match self {
            Self::Stdio(connection) => connection.abilities,
            Self::Http(connection) => connection.abilities,
        }
    }

    /// Whether arguments that a tool marks are repeated as headers.
    pub fn mirrors(&self) -> bool {
        matches!(self, Self::Http(connection) if connection.era == Era::Modern)
    }

    /// Waits until the server says that its tools have changed.
    pub async fn list_changed(&self) {
        match self {
            Self::Stdio(connection) => connection.list_changed().await,
            Self::Http(connection) => connection.list_changed().await,
        }
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

    /// Asks about something that headers name too.
    pub fn ask_about(
        &self,
        subject: &Subject<'_>,
        params: impl FnOnce(Era, u64) -> Result<Vec<u8>, Error>,
        notes: &NoteSink,
    ) -> Result<PendingRequest, Error> {
        match self {
            Self::Stdio(connection) => connection
                .ask(subject.method, params, notes)
                .map(|asked| PendingRequest::Stdio(asked, connection.era)),
            Self::Http(connection) => connection
                .ask(subject, params, notes)
                .map(|asked| PendingRequest::Http(asked, connection.era)),
        }
    }
}

/// A request under way; dropping it cancels it.
#[derive(Debug)]
pub enum PendingRequest {
    /// To a child process.
    Stdio(stdio::StdioRequest, Era),
    /// Over HTTP.
    Http(http::request::HttpRequest, Era),
}

impl PendingRequest {
    /// Waits for the reply, as something only inspection can open.
    pub async fn reply(self) -> Result<RawReply, Error> {
        let (id, era) = match &self {
            Self::Stdio(asked, era) => (asked.id(), *era),
            Self::Http(asked, era) => (asked.id(), *era),
        };
        let source = Source::new(era).answering(id.to_string());
        Ok(RawReply::new(self.answer().await?, source))
    }

    /// Waits for the answer to a request of our own, which no client sees as it is.
    pub async fn answer(self) -> Result<Bytes, Error> {
        match self {
            Self::Stdio(asked, _) => asked.answer().await,
            // Boxed: calls over stdio should not carry it around.
            Self::Http(asked, _) => Box::pin(asked.answer()).await,
        }
    }
}
