//! A connection to a server over HTTP, in either era: Streamable HTTP, or the transport before it with one stream for
//! everything the server sends. It connects to the configured address only and follows no redirects.

pub(crate) mod greet;
pub(crate) mod link;
pub(crate) mod listen;
pub(crate) mod paired;
pub(crate) mod request;
mod response;
mod session;

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{Era, Listing};
use countersign_wire::{Capabilities, Subject};

use link::Link;
use paired::Paired;
use request::HttpRequest;

use crate::error::Error;
use crate::hello::Hello;
use crate::notes::NoteSink;

/// A conversation with a server that has been greeted.
#[derive(Debug)]
pub struct Connection {
    link: Arc<Link>,
    /// The stream that answers come by, if they do not come as responses.
    paired: Option<Arc<Paired>>,
    pub(crate) era: Era,
    pub(crate) version: String,
    instructions: Option<Listing>,
    pub(crate) abilities: Capabilities,
}

impl Connection {
    pub(crate) fn new(link: &Arc<Link>, hello: Hello, paired: Option<&Arc<Paired>>) -> Self {
        Self {
            link: Arc::clone(link),
            paired: paired.cloned(),
            era: hello.era,
            version: hello.version,
            instructions: hello.instructions,
            abilities: hello.abilities,
        }
    }

    pub fn instructions(&self) -> Option<&Listing> {
        self.instructions.as_ref()
    }

    /// Writes a request; it is sent when its answer is waited for.
    pub fn ask(
        &self,
        subject: &Subject<'_>,
        params: impl FnOnce(Era, u64) -> Result<Vec<u8>, Error>,
        notes: &NoteSink,
    ) -> Result<HttpRequest, Error> {
        let id = self.link.id();
        let params = params(self.era, id)?;
        let paired = self.paired.clone();
        Ok(HttpRequest::new(
            &self.link, subject, &params, id, notes, paired,
        ))
    }

    /// How the server is reached, as the configuration writes it.
    pub(crate) fn transport(&self) -> &'static str {
        match self.paired {
            Some(_) => "sse",
            None => "streamable-http",
        }
    }

    pub async fn list_changed(&self) {
        self.link.list_changed.notified().await;
    }
}

impl HttpRequest {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Sends the request and waits for the answer.
    pub(crate) async fn answer(self) -> Result<Bytes, Error> {
        let link = Arc::clone(&self.link);
        self.exchange().await.inspect_err(|error| {
            if matches!(error, Error::TooLarge { .. }) {
                link.refused("larger than max_message_bytes");
            }
        })
    }
}
