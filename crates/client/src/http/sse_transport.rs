//! HTTP+SSE (2024-11-05), the transport before Streamable HTTP: a stream that is opened with GET carries everything the
//! server says, and messages to it are posted to an address that the stream names first. Answers
//! find their requests by their ids. The stream's end is the server's end.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_dial::{EventStream, Reply, Site};
use countersign_inspect::Era;
use countersign_wire::head::{self, Head, progress_id};
use countersign_wire::message;
use countersign_wire::version::LEGACY;
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Uri};
use tokio::time::timeout;

use super::greet::declared;
use super::link::Link;
use super::session::Session;
use crate::error::Error;
use crate::hello::{Hello, initialize_params};
use crate::notes::NoteSink;
use crate::pending::Pending;
use crate::server_error::ServerError;

/// How long the stream may take to say where to post.
const ENDPOINT: Duration = Duration::from_secs(10);

/// The stream of an HTTP+SSE server, and the requests that wait for their answers on it.
#[derive(Debug)]
pub(crate) struct SseTransport {
    link: Arc<Link>,
    pending: Pending,
}

impl SseTransport {
    /// Opens the stream and waits for its first word: where to post.
    pub(crate) async fn open(link: &Arc<Link>) -> Result<(Self, EventStream<Reply>), ServerError> {
        link.await_token().await?;
        let headers = Session::without_id(&link.site).stream_headers();
        let mut events = link.open(Method::GET, headers, Bytes::new()).await?;
        let first = timeout(ENDPOINT, events.next()).await;
        let Ok(Ok(Some(first))) = first else {
            return Err(ServerError::NotMcp);
        };
        let place = endpoint(&link.site, &first).ok_or(ServerError::NotMcp)?;
        // Unset before: the link is as old as the stream.
        let _first = link.post_to.set(place);
        let sse = Self {
            link: Arc::clone(link),
            pending: Pending::new(),
        };
        Ok((sse, events))
    }

    /// Greets the server over the stream.
    pub(crate) async fn greet(&self) -> Result<Hello, ServerError> {
        let id = self.link.id();
        let params = initialize_params(LEGACY[0], &declared(&self.link).await);
        let message = message::request(id, "initialize", &params);
        let none = Session::without_id(&self.link.site);
        let notes = NoteSink::closed();
        let answer = self.exchange(&none, id, message.into(), &notes).await?;
        let hello = Hello::initialized(&answer)?;
        let session = Session::new(&self.link.site, Era::Legacy, &hello.version, None);
        self.link.begin(session).await;
        Ok(hello)
    }

    /// Posts a request and waits until the stream brings its answer.
    pub(crate) async fn exchange(
        &self,
        session: &Session,
        id: u64,
        message: Bytes,
        notes: &NoteSink,
    ) -> Result<Bytes, Error> {
        let answer = self.pending.insert(id, notes).ok_or(Error::Lost)?;
        let _slot = PendingSlot(&self.pending, id);
        let headers = session.headers.clone();
        let response = self.link.send(Method::POST, headers, message).await?;
        let status = response.status();
        response.into_body().done_after_rest();
        if !status.is_success() {
            return Err(Error::Status(status, Bytes::new()));
        }
        match answer.await {
            Ok((Ok(message), _)) => Ok(message),
            _ => Err(Error::Lost),
        }
    }

    /// Receives what the stream brings until it ends. Requests under way fail then.
    pub(crate) async fn listen(&self, mut events: EventStream<Reply>) {
        while let Ok(Some(message)) = events.next().await {
            self.receive(&message);
        }
        self.pending.close();
    }

    fn receive(&self, message: &Bytes) {
        match head::read(message) {
            Head::Answer(id) if self.pending.settle(id, Ok(message.clone())) => {}
            Head::Notification { method } => {
                let waiting = match &*method {
                    "notifications/progress" => {
                        progress_id(message).and_then(|id| self.pending.notes(id))
                    }
                    // A log message does not say which call it belongs to.
                    "notifications/message" => self.pending.only_notes(),
                    _ => None,
                };
                match waiting {
                    Some(notes) => notes.offer(&method, message),
                    None => drop(self.link.receive(message, None, &NoteSink::closed())),
                }
            }
            // Everything else, and answers without a request.
            _ => drop(self.link.receive(message, None, &NoteSink::closed())),
        }
    }
}

/// Withdraws a pending request on drop.
struct PendingSlot<'a>(&'a Pending, u64);

impl Drop for PendingSlot<'_> {
    fn drop(&mut self) {
        self.0.withdraw(self.1);
    }
}

/// Where to post, if that is at the origin we were given: nothing else is connected to.
fn endpoint(site: &Site, said: &[u8]) -> Option<Uri> {
    let said = std::str::from_utf8(said).ok()?.trim();
    let path = if said.starts_with('/') {
        said.to_owned()
    } else if said.contains("://") {
        let other = Site::parse(said).ok()?;
        if other.origin != site.origin {
            return None;
        }
        other.path.to_string()
    } else {
        let (folder, _) = site.path.path().rsplit_once('/')?;
        format!("{folder}/{said}")
    };
    Some(Uri::from(path.parse::<PathAndQuery>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_the_origin_that_was_configured() {
        let site = Site::parse("http://a.example:81/v1/sse").expect("an address");
        let place = |said: &str| endpoint(&site, said.as_bytes()).map(|uri| uri.to_string());
        for (said, expected) in [
            ("/messages?s=1", Some("/messages?s=1")),
            ("messages?s=1", Some("/v1/messages?s=1")),
            ("http://a.example:81/m", Some("/m")),
            ("http://b.example:81/m", None),
            ("http://a.example/m", None),
            ("https://a.example:81/m", None),
            ("a b", None),
        ] {
            assert_eq!(place(said).as_deref(), expected, "{said}");
        }
    }
}
