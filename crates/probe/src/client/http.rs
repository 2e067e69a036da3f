//! JSON-RPC with one site over Streamable HTTP: a message goes out as a POST, and what comes back,
//! one piece of JSON or a stream of events, is the answer. A legacy session is opened once and
//! never renewed: losing it is something a test should see.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_dial::{
    Budget, EventStream, Form, Pool, Reply as Incomplete, SendError, Site, gather,
};
use countersign_inspect::Era;
use http_body_util::Full;
use hyper::header::HeaderMap;
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Options;
use super::exchange::{Exchange, Fault, Reply, Stamps};
use super::headers::{self, SESSION, VERSION};
use super::hello::ConnectError;
use super::message::{self, Outgoing};
use super::reading::{self, Heard};

/// How long what nobody waits for may take.
const ASIDE: Duration = Duration::from_secs(2);
/// How many answers to a server's own requests may be under way.
const ANSWERS: usize = 8;

/// The way to one site.
#[derive(Debug)]
pub(super) struct Http {
    site: Site,
    pool: Arc<Pool>,
    agreed: RwLock<Arc<Agreed>>,
    next: AtomicU64,
    limit: usize,
    budget: Budget,
    answers: Arc<Semaphore>,
}

/// What every request says once the server has been greeted.
#[derive(Debug)]
struct Agreed {
    era: Era,
    headers: HeaderMap,
}

impl Http {
    pub(super) fn new(site: &Site, options: &Options) -> Arc<Self> {
        Arc::new(Self {
            site: site.clone(),
            pool: Arc::new(Pool::new(site.origin.clone(), usize::MAX)),
            agreed: RwLock::new(Arc::new(Agreed {
                era: Era::Legacy,
                headers: site.headers.clone(),
            })),
            next: AtomicU64::new(1),
            limit: options.max_message_bytes,
            budget: options.budget.clone(),
            answers: Arc::new(Semaphore::new(ANSWERS)),
        })
    }

    /// What the requests from now on say; a session that was named stays.
    pub(super) fn agree(&self, era: Era, version: &str) {
        let mut headers = self.site.headers.clone();
        if let Some(session) = self.agreed().headers.get(SESSION) {
            headers.insert(SESSION, session.clone());
        }
        if !version.is_empty() {
            headers.insert(VERSION, headers::header(version));
        }
        self.set(Agreed { era, headers });
    }

    /// Opens connections.
    pub(super) async fn warm(&self, connections: usize) -> Result<(), ConnectError> {
        for _ in 0..connections {
            let opened = self.pool.open().await;
            opened.map_err(|_| ConnectError::Greeting(Fault::Unreachable))?;
        }
        Ok(())
    }

    pub(super) async fn exchange(
        self: &Arc<Self>,
        outgoing: &Outgoing<'_>,
        wait: Duration,
    ) -> Exchange {
        let mut stamps = Stamps::start();
        let waited = timeout(wait, self.ask(outgoing, &mut stamps)).await;
        stamps.exchange(waited.unwrap_or(Err(Fault::TimedOut)))
    }

    async fn ask(
        self: &Arc<Self>,
        outgoing: &Outgoing<'_>,
        stamps: &mut Stamps,
    ) -> Result<Reply, Fault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let agreed = self.agreed();
        let mut headers = agreed.headers.clone();
        if agreed.era == Era::Modern {
            headers::write(outgoing, &mut headers);
        }
        let body = outgoing.message(id);
        let request = self.request(Method::POST, headers, body);
        let sent = self
            .pool
            .send_after(request, || stamps.sent = Instant::now());
        let response = sent.await.map_err(|error| fault(&error))?;
        let status = response.status();
        if outgoing.method == "initialize" && status == StatusCode::OK {
            self.adopt(response.headers());
        }
        match Form::of(response.headers()) {
            Form::Events if status == StatusCode::OK => self.stream(response, id, stamps).await,
            Form::Json => {
                let whole = self.whole(response).await?;
                stamps.done = Some(Instant::now());
                answer(whole, id, status, stamps)
            }
            _ if status == StatusCode::OK => Err(Fault::Malformed),
            _ => Err(Fault::Status(status.as_u16())),
        }
    }

    /// A whole body.
    async fn whole(&self, response: Response<Incomplete>) -> Result<Bytes, Fault> {
        let mut body = response.into_body();
        let whole = gather(&mut body, self.limit, &self.budget).await?;
        body.done();
        Ok(whole)
    }

    /// The answer in a stream of events.
    async fn stream(
        self: &Arc<Self>,
        response: Response<Incomplete>,
        id: u64,
        stamps: &mut Stamps,
    ) -> Result<Reply, Fault> {
        let mut events = EventStream::new(response.into_body(), self.limit, self.budget.clone());
        let mut strays = false;
        while let Some(message) = events.next().await? {
            let now = Instant::now();
            stamps.first_event.get_or_insert(now);
            match reading::read(&message) {
                Heard::Answer(found, reply) if found == id => {
                    stamps.done = Some(now);
                    stamps.message = Some(message);
                    events.into_body().done_after_rest();
                    return reply;
                }
                Heard::Request { id, method } => self.answer(&id, &method),
                Heard::Answer(..) => strays = true,
                Heard::Batch(parts) => {
                    if let Some((part, reply)) = among(parts, id) {
                        stamps.done = Some(now);
                        stamps.message = Some(part);
                        return reply;
                    }
                }
                Heard::Other | Heard::Noise => {}
            }
        }
        Err(if strays {
            Fault::Malformed
        } else {
            Fault::Closed
        })
    }

    pub(super) async fn notify(&self, method: &str) {
        self.tell(message::notification(method)).await;
    }

    /// Ends the session, if there is one.
    pub(super) async fn close(&self) {
        let headers = self.agreed().headers.clone();
        if headers.contains_key(SESSION) {
            let request = self.request(Method::DELETE, headers, Vec::new());
            drop(timeout(ASIDE, self.pool.send(request)).await);
        }
    }

    /// Answers a request of the server's own, without holding up what it is doing for us.
    fn answer(self: &Arc<Self>, id: &[u8], method: &str) {
        // A server that asks and asks is not answered for ever.
        let Ok(turn) = Arc::clone(&self.answers).try_acquire_owned() else {
            return;
        };
        let answer = message::answer(id, method);
        let http = Arc::clone(self);
        tokio::spawn(async move {
            http.tell(answer).await;
            drop(turn);
        });
    }

    /// Sends a message that has no answer. Whether it arrived is not known.
    async fn tell(&self, message: Vec<u8>) {
        let request = self.request(Method::POST, self.agreed().headers.clone(), message);
        let told = async {
            if let Ok(response) = self.pool.send(request).await {
                drop(self.whole(response).await);
            }
        };
        drop(timeout(ASIDE, told).await);
    }

    fn request(&self, method: Method, headers: HeaderMap, body: Vec<u8>) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = self.site.path.clone();
        *request.headers_mut() = headers;
        request
    }

    /// Takes the name of the session that a greeting opened.
    fn adopt(&self, found: &HeaderMap) {
        if let Some(session) = found.get(SESSION) {
            let agreed = self.agreed();
            let mut headers = agreed.headers.clone();
            headers.insert(SESSION, session.clone());
            let era = agreed.era;
            self.set(Agreed { era, headers });
        }
    }

    fn agreed(&self) -> Arc<Agreed> {
        let agreed = self.agreed.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&agreed)
    }

    fn set(&self, agreed: Agreed) {
        let mut place = self.agreed.write().unwrap_or_else(PoisonError::into_inner);
        *place = Arc::new(agreed);
    }
}

/// The answer in a whole body; a refusal's body is an answer too if it holds one.
fn answer(whole: Bytes, id: u64, status: StatusCode, stamps: &mut Stamps) -> Result<Reply, Fault> {
    let found = match reading::read(&whole) {
        Heard::Answer(found, reply) if found == id => Some((whole, reply)),
        Heard::Batch(parts) => among(parts, id),
        _ => None,
    };
    match found {
        Some((message, reply)) if reply.is_ok() || status == StatusCode::OK => {
            stamps.message = Some(message);
            reply
        }
        _ if status == StatusCode::OK => Err(Fault::Malformed),
        _ => Err(Fault::Status(status.as_u16())),
    }
}

/// Some servers wrap an answer into an array.
fn among(parts: Vec<Bytes>, id: u64) -> Option<(Bytes, Result<Reply, Fault>)> {
    parts
        .into_iter()
        .find_map(|part| match reading::read(&part) {
            Heard::Answer(found, reply) if found == id => Some((part, reply)),
            _ => None,
        })
}

fn fault(error: &SendError) -> Fault {
    match error {
        SendError::Connect(_) => Fault::Unreachable,
        SendError::Unsent(_) | SendError::Broken(_) => Fault::Closed,
    }
}
