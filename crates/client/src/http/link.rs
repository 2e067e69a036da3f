//! JSON-RPC with one server over HTTP: a message goes out as a POST, and what comes back, as one
//! piece of JSON or as a stream of events, is the answer or is about it. Each request has exactly
//! one place its answer can come from. Answers are not read here.

mod authorized;
mod calls;
mod receive;
mod stream;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arc_swap::ArcSwap;
use bytes::Bytes;
use countersign_dial::{
    Budget, EventStream, MediaType, Pool, ReadError, Reply, SendError, Site, explain, gather,
};
use countersign_wire::head::{self, Head};
use countersign_wire::header::SESSION;
use countersign_wire::message;
use http_body_util::Full;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use tokio::sync::{Notify, Semaphore};

use super::response::{message_with_id, trimmed};
use super::session::Session;
use crate::announcement::Announcements;
use crate::authorizer::Authorizer;
use crate::error::Error;
use crate::notes::NoteSink;
use crate::observer::Observer;
use crate::peer::Peer;
use crate::timings::Timings;

use calls::Calls;
use stream::AwaitedRequest;
pub(crate) use stream::reconnect_pause;

/// How much is read of a response that is no answer.
const REMARK: usize = 64 * 1024;
/// How many messages without an answer may be under way to the server.
const ANSWERS: usize = 8;
/// How many of them there may be in all, with those that wait. A server that takes none is sent no more.
const DELIVERIES: u16 = 256;

/// The HTTP client of one server.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) server: Arc<str>,
    pub(crate) site: Site,
    pub(crate) session: ArcSwap<Session>,
    /// Where messages go, if not to where the server is.
    pub(crate) post_to: OnceLock<Uri>,
    /// Held by the request that opens a lost session again; the others wait for it.
    pub(crate) renewing: tokio::sync::Mutex<()>,
    /// Notified when the server says that its tools have changed.
    pub(crate) list_changed: Arc<Notify>,
    pub(crate) announcements: Announcements,
    /// The client that the session belongs to, if it belongs to one.
    pub(crate) peer: Option<Arc<Peer>>,
    /// The calls of that client.
    pub(crate) calls: Calls,
    /// Notified when the server is unreachable, or no longer the one that was greeted.
    pub(crate) lost: Arc<Notify>,
    /// Where tokens for the server come from, if it needs any.
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
    /// Whether those tokens are not those that the server was greeted with. Then their lack says nothing about the server.
    has_own_token: bool,
    pool: Arc<Pool>,
    budget: Budget,
    max_message_bytes: usize,
    observer: Arc<dyn Observer>,
    next: Arc<AtomicU64>,
    answers: Arc<Semaphore>,
    deliveries: Arc<Semaphore>,
}

/// An answer, and the name of the session that came with it.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) message: Bytes,
    pub(crate) session: Option<HeaderValue>,
}

impl Link {
    pub(crate) fn new(
        server: Arc<str>,
        site: Site,
        budget: Budget,
        max_message_bytes: usize,
        max_idle: usize,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self {
            server,
            session: ArcSwap::from_pointee(Session::without_id(&site)),
            post_to: OnceLock::new(),
            pool: Arc::new(
                Pool::new(site.origin.clone(), max_idle).with_connect_timeout(site.connect_timeout),
            ),
            site,
            renewing: tokio::sync::Mutex::default(),
            list_changed: Arc::new(Notify::new()),
            announcements: Announcements::default(),
            peer: None,
            calls: Calls::default(),
            lost: Arc::new(Notify::new()),
            authorizer: None,
            has_own_token: false,
            budget,
            max_message_bytes,
            observer,
            next: Arc::new(AtomicU64::new(1)),
            answers: Arc::new(Semaphore::new(ANSWERS)),
            deliveries: Arc::new(Semaphore::new(DELIVERIES.into())),
        }
    }

    /// A way to the same server for a session that belongs to one client. It uses the same connections.
    pub(crate) fn for_client(&self, peer: &Arc<Peer>) -> Self {
        Self {
            server: Arc::clone(&self.server),
            session: ArcSwap::from_pointee(Session::without_id(&self.site)),
            post_to: OnceLock::new(),
            pool: Arc::clone(&self.pool),
            site: self.site.clone(),
            renewing: tokio::sync::Mutex::default(),
            list_changed: Arc::new(Notify::new()),
            announcements: Announcements::default(),
            peer: Some(Arc::clone(peer)),
            calls: Calls::default(),
            lost: Arc::new(Notify::new()),
            authorizer: self.authorizer.clone(),
            has_own_token: false,
            budget: self.budget.clone(),
            max_message_bytes: self.max_message_bytes,
            observer: Arc::clone(&self.observer),
            next: Arc::new(AtomicU64::new(1)),
            answers: Arc::new(Semaphore::new(ANSWERS)),
            deliveries: Arc::new(Semaphore::new(DELIVERIES.into())),
        }
    }

    /// The same way to the same server with other tokens, for requests that no session binds together. What becomes of the
    /// server is told to the supervisor of this one.
    pub(crate) fn with_own_token(&self, authorizer: &Arc<dyn Authorizer>) -> Self {
        Self {
            server: Arc::clone(&self.server),
            session: ArcSwap::new(self.session.load_full()),
            post_to: self.post_to.clone(),
            pool: Arc::clone(&self.pool),
            site: self.site.clone(),
            renewing: tokio::sync::Mutex::default(),
            list_changed: Arc::clone(&self.list_changed),
            announcements: Announcements::default(),
            peer: None,
            calls: Calls::default(),
            lost: Arc::clone(&self.lost),
            authorizer: Some(Arc::clone(authorizer)),
            has_own_token: true,
            budget: self.budget.clone(),
            max_message_bytes: self.max_message_bytes,
            observer: Arc::clone(&self.observer),
            next: Arc::clone(&self.next),
            answers: Arc::clone(&self.answers),
            deliveries: Arc::clone(&self.deliveries),
        }
    }

    /// An id for a request; none is used twice.
    pub(crate) fn id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends the request of this id in a session, with all its headers, and waits for its answer, for as long as the caller
    /// does.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        session: &Session,
        headers: HeaderMap,
        id: u64,
        body: Bytes,
        notes: &NoteSink,
        timings: &mut Timings,
    ) -> Result<HttpAnswer, Error> {
        let stamp = || timings.sent = Some(Instant::now());
        let response = self.send_after(Method::POST, headers, body, stamp).await?;
        let (head, mut body) = response.into_parts();
        let message = match (head.status, MediaType::from_headers(&head.headers)) {
            (StatusCode::OK, MediaType::Events) => {
                let awaited = AwaitedRequest {
                    session,
                    opened: head.headers.get(SESSION),
                    id,
                    notes,
                };
                self.stream(body, &awaited, timings).await?
            }
            (StatusCode::OK, MediaType::Json) => {
                let whole = gather(&mut body, self.max_message_bytes, &self.budget).await;
                let whole = whole.map_err(|error| self.read_error(error))?;
                body.done();
                message_with_id(&whole, id)
            }
            (StatusCode::OK, MediaType::Other) => return Err(Error::Malformed),
            (status, media_type) => self.remark(status, media_type, body, id).await?,
        };
        timings.done = Some(Instant::now());
        let session = head.headers.get(SESSION).cloned();
        Ok(HttpAnswer { message, session })
    }

    /// Sends a message that has no answer. Whether it arrived is not known.
    pub(crate) async fn tell(self: &Arc<Self>, headers: HeaderMap, message: Vec<u8>) {
        let sent = self.send(Method::POST, headers, message.into()).await;
        if let Ok(response) = sent {
            response.into_body().done_after_rest();
        }
    }

    /// Begins a legacy session, as its server expects it.
    pub(crate) async fn begin(self: &Arc<Self>, session: Session) {
        if let Some(peer) = &self.peer {
            peer.begin_life();
        }
        let headers = session.headers.clone();
        self.session.store(Arc::new(session));
        let mut initialized = message::notification("notifications/initialized");
        initialized.pop();
        self.tell(headers, initialized).await;
    }

    /// Opens a stream of messages that are not about a request; `Err` if there is none.
    pub(crate) async fn open(
        self: &Arc<Self>,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<EventStream<Reply>, Error> {
        let (head, body) = self.send(method, headers, body).await?.into_parts();
        if head.status == StatusCode::OK
            && MediaType::from_headers(&head.headers) == MediaType::Events
        {
            return Ok(self.events_of(body));
        }
        Err(Error::Status(head.status, Bytes::new()))
    }

    fn events_of(&self, body: Reply) -> EventStream<Reply> {
        EventStream::new(body, self.max_message_bytes, self.budget.clone())
    }

    /// Opens this many connections.
    pub(crate) async fn warm(&self, connections: usize) -> io::Result<()> {
        for _ in 0..connections {
            self.pool.open().await?;
        }
        Ok(())
    }

    /// Waits until the messages without an answer have been sent.
    pub(crate) async fn delivered(&self) {
        let all = self.deliveries.acquire_many(DELIVERIES.into());
        drop(all.await);
    }

    /// Ends the session, if the server named one.
    pub(crate) async fn end(&self) {
        let session = self.session.load_full();
        if session.is_named {
            let headers = session.headers.clone();
            drop(self.send(Method::DELETE, headers, Bytes::new()).await);
        }
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Reply>, Error> {
        self.send_after(method, headers, body, || ()).await
    }

    /// The same; `connected` is called whenever the request is about to be written.
    async fn send_after(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
        connected: impl FnMut(),
    ) -> Result<Response<Reply>, Error> {
        match &self.authorizer {
            None => self.transmit(method, headers, body, connected).await,
            Some(authorizer) => {
                let request = (method, headers, body);
                // Boxed: most servers need no token.
                Box::pin(self.send_authorized(&**authorizer, request, connected)).await
            }
        }
    }

    async fn transmit(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
        connected: impl FnMut(),
    ) -> Result<Response<Reply>, Error> {
        let place = match self.post_to.get() {
            Some(place) if method == Method::POST => place,
            _ => &self.site.path,
        };
        let mut request = Request::new(Full::new(body));
        *request.uri_mut() = place.clone();
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        self.pool
            .send_after(request, connected)
            .await
            .map_err(|error| {
                tracing::debug!(server = &*self.server, ?error, "a request failed");
                let why = match &error {
                    SendError::Connect(cause) => explain(cause),
                    SendError::Unsent(_) => error.to_string(),
                    SendError::Broken(_) => return Error::Lost,
                };
                self.lost.notify_one();
                Error::NotSent(why.into())
            })
    }

    /// A response that says no: an answer all the same if it holds one for this id.
    async fn remark(
        &self,
        status: StatusCode,
        media_type: MediaType,
        mut body: Reply,
        id: u64,
    ) -> Result<Bytes, Error> {
        self.refused("an HTTP status that is not 200");
        if media_type != MediaType::Json {
            return Err(Error::Status(status, Bytes::new()));
        }
        let limit = self.max_message_bytes.min(REMARK);
        let Ok(whole) = gather(&mut body, limit, &self.budget).await else {
            return Err(Error::Status(status, Bytes::new()));
        };
        body.done();
        match head::read(&whole) {
            Head::Answer(found) if found == id => Ok(trimmed(&whole)),
            _ => Err(Error::Status(status, whole)),
        }
    }

    /// Why a body could not be read.
    pub(crate) fn read_error(&self, error: ReadError) -> Error {
        match error {
            ReadError::TooLarge => Error::TooLarge {
                limit: self.max_message_bytes as u64,
            },
            ReadError::Broken => Error::Lost,
            ReadError::Busy => Error::Busy,
        }
    }

    pub(crate) fn refused(&self, why: &'static str) {
        self.observer.message_refused(&self.server, why);
    }
}
