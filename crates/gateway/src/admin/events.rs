//! `/events`: records as they are committed, as server-sent events. The id of an event is its place
//! in the store, so a client that was away names the last one it saw and misses nothing: the store
//! is read again from there. What is new is read once for all streams. A stream whose client falls
//! behind is closed, and the client comes back with the last event it saw.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::{Filter, Reader, Timestamp};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::activity::read;
use super::{ApiError, ApiResult, not_allowed, pairs};
use crate::http::{ClientConnection, with_type};
use crate::path::reply::Body;
use crate::random;
use crate::services::{Event, Feed, NextEvents, Phase, STEP, Services, Subscription};
use crate::state::Admission;

/// How often a silent stream says that it is alive.
const PULSE: Duration = Duration::from_secs(15);
/// How long a client may take to receive what is sent to it.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many streams are told at once. If there are more, each looks for itself what is new, in turn, so that calls are
/// not held up by all of them at the same time.
const PROMPT: u32 = 16;
/// The time from one stream's turn to the next one's.
const TURN: Duration = Duration::from_millis(5);

/// Opens a stream.
pub(super) async fn respond(
    services: &Arc<Services>,
    max_streams: usize,
    admission: Admission,
    request: &Request<Incoming>,
) -> ApiResult {
    if request.method() != Method::GET {
        return Ok(not_allowed("GET"));
    }
    let query = request.uri().query().unwrap_or_default();
    let filter = Filter::from_pairs(pairs(query), Timestamp::now());
    let filter = filter.map_err(|why| ApiError::bad_request(why.to_string()))?;
    let seen = request.headers().get("last-event-id").map(place);
    if seen == Some(None) {
        let why = "Last-Event-ID is not the id of an event of this gateway";
        return Err(ApiError::bad_request(why));
    }
    // Before the first await, so that requests that arrive together are counted.
    let Some(subscription) = services.feed.subscribe(max_streams) else {
        let why = "too many event streams are open";
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, why));
    };
    let client = request.extensions().get::<ClientConnection>().cloned();
    let newest = newest(services).await?;
    Feed::begin(services, newest);
    let stream = Stream {
        subscription,
        filter,
        place: seen.flatten().unwrap_or(newest),
        is_live: false,
        is_over: false,
    };
    Ok(start(Arc::clone(services), stream, admission, client))
}

fn place(id: &HeaderValue) -> Option<u64> {
    let place: u64 = id.to_str().ok()?.trim().parse().ok()?;
    i64::try_from(place).is_ok().then_some(place)
}

/// The end of the store: a new client is told what happens from now on.
async fn newest(services: &Services) -> Result<u64, ApiError> {
    let _permit = services.feed.catch_up_permit().await;
    read(services, Reader::newest).await
}

fn start(
    services: Arc<Services>,
    mut stream: Stream,
    admission: Admission,
    client: Option<ClientConnection>,
) -> Response<Body> {
    let (events, body) = mpsc::channel(1);
    tokio::spawn(async move {
        let ended = tokio::select! {
            () = services.drain.wait_for_phase(Phase::Draining) => Ok(()),
            () = admission.ended() => Ok(()),
            () = events.closed() => Ok(()),
            ended = stream.send(&services, &events) => ended,
        };
        // What was sent is not being read: the connection would stay for ever.
        if let (Err(StalledClient), Some(client)) = (ended, client) {
            client.close();
        }
    });
    let kind = HeaderValue::from_static("text/event-stream");
    let mut response = with_type(kind, Body::Stream(body));
    let no_cache = HeaderValue::from_static("no-cache");
    response.headers_mut().insert(CACHE_CONTROL, no_cache);
    response
}

/// The client does not receive what is sent.
#[derive(Debug, PartialEq, Eq)]
struct StalledClient;

/// Sends a piece of a stream; false if the client has gone.
async fn deliver(events: &mpsc::Sender<Bytes>, text: Bytes) -> Result<bool, StalledClient> {
    let sent = timeout(PATIENCE, events.send(text)).await;
    sent.map(|sent| sent.is_ok()).map_err(|_| StalledClient)
}

/// One client's stream.
struct Stream {
    subscription: Subscription,
    filter: Filter,
    /// The place of the last record it was told of, or that is not for it.
    place: u64,
    /// Whether it has caught up with what happens now.
    is_live: bool,
    /// Whether there is nothing more to send, because the client was too slow.
    is_over: bool,
}

impl Stream {
    /// Sends what comes after its place until the client has gone or is too slow.
    async fn send(
        &mut self,
        services: &Services,
        events: &mpsc::Sender<Bytes>,
    ) -> Result<(), StalledClient> {
        // Proxies pass a response on only once something of it is there.
        let mut text = format!(": from {}\n\n", self.place);
        loop {
            if !deliver(events, text.into()).await? || self.is_over {
                return Ok(());
            }
            let Some(next) = self.next(services).await else {
                return Ok(());
            };
            text = next;
        }
    }

    /// What to send next; nothing at the end.
    async fn next(&mut self, services: &Services) -> Option<String> {
        loop {
            self.subscription.grown.mark_unchanged();
            let text = match services.feed.events_after(self.place) {
                NextEvents::Ended => return None,
                // A client that was away: the store has it.
                NextEvents::Behind if !self.is_live => self.catch_up(services).await?,
                NextEvents::Behind => {
                    self.is_over = true;
                    return Some(format!(
                        ": too slow, so this stream ends; go on with Last-Event-ID: {}\nretry: 1000\n\n",
                        self.place
                    ));
                }
                NextEvents::Events(events, next) => {
                    self.is_live = true;
                    self.place = next;
                    self.text(events.iter().map(|event| &**event))
                }
            };
            if !text.is_empty() {
                return Some(text);
            }
            if self.is_live && !self.more(services).await? {
                return Some(": still here\n\n".to_owned());
            }
        }
    }

    /// Reads a step of what it missed.
    async fn catch_up(&mut self, services: &Services) -> Option<String> {
        let (place, filter) = (self.place, self.filter.clone());
        let _permit = services.feed.catch_up_permit().await?;
        let tail = services.read(move |reader| reader.records_after(place, &filter, STEP));
        let tail = tail.await?;
        self.place = tail.next;
        let events: Vec<_> = tail.records.into_iter().filter_map(Event::new).collect();
        Some(self.text(events.iter()))
    }

    fn text<'a>(&self, events: impl Iterator<Item = &'a Event>) -> String {
        let wanted = events.filter(|event| self.filter.matches(&event.stored.record));
        wanted.map(|event| event.text.as_str()).collect()
    }

    /// Waits for more; false if the stream has been silent for long.
    async fn more(&mut self, services: &Services) -> Option<bool> {
        let grown = &mut self.subscription.grown;
        let until = Instant::now() + PULSE;
        loop {
            let streams = u32::try_from(services.feed.streams()).unwrap_or(u32::MAX);
            if streams <= PROMPT {
                return match timeout_at(until, grown.changed()).await {
                    Ok(Ok(())) => Some(true),
                    Ok(Err(_)) => None,
                    Err(_) => Some(false),
                };
            }
            let turn = TURN.saturating_mul(streams);
            sleep(turn.mul_f64(0.5 + random::fraction())).await;
            if grown.has_changed().ok()? {
                return Some(true);
            }
            if Instant::now() >= until {
                return Some(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_receives_nothing_is_not_waited_for() {
        let (events, mut body) = mpsc::channel(1);
        assert_eq!(deliver(&events, Bytes::from_static(b"one")).await, Ok(true));
        let two = Bytes::from_static(b"two");
        assert_eq!(deliver(&events, two.clone()).await, Err(StalledClient));
        assert!(body.recv().await.is_some());
        assert_eq!(deliver(&events, two.clone()).await, Ok(true));
        drop(body);
        assert_eq!(deliver(&events, two).await, Ok(false));
    }
}
