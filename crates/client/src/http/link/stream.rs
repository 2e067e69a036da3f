//! The answer to a request in a stream of events. How long it is waited for is the caller's to say: a stream may be
//! silent until then, and a peer that is gone is noticed by its connection.
//!
//! A legacy server may end the stream before the answer and have its client come back for it (SEP-1699), and a
//! connection may break. The request is never sent again, because the server may be carrying it out: the stream is
//! resumed with GET, after the last event that the server gave an id. Without such an id, and in the modern era, which
//! has no resuming, the answer is lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_dial::{EventStream, Reply, ResumePoint};
use countersign_inspect::Era;
use countersign_wire::header::{LAST_EVENT_ID, SESSION};
use hyper::Method;
use hyper::header::{HeaderMap, HeaderValue};
use tokio::time::sleep;

use super::Link;
use super::receive::ReceivedMessage;
use crate::backoff;
use crate::error::Error;
use crate::http::session::Session;
use crate::notes::NoteSink;
use crate::timings::Timings;

/// The pause before a stream is resumed, if the server does not name one.
const USUAL_PAUSE: Duration = Duration::from_secs(1);
/// What a server may ask for. A shorter pause would be a busy loop; a longer one outlasts every call.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_hours(1);
/// So many tries in a row may bring no stream.
const MOST_FAILURES: u32 = 5;
/// So often the stream of one request is resumed: for a quarter of an hour at the shortest pause.
const MOST_RESUMED: u32 = 10_000;

/// A request whose answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AwaitedRequest<'a> {
    pub(crate) session: &'a Session,
    /// The session that the response to the request opened, if it opened one.
    pub(crate) opened: Option<&'a HeaderValue>,
    pub(crate) id: u64,
    pub(crate) notes: &'a NoteSink,
}

/// How a stream ended before the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamEnd {
    /// The server ended it.
    Closed,
    /// The connection broke.
    Broken,
}

/// The pause before connecting again that a server gets if it asks for this one.
pub(crate) fn reconnect_pause(retry: Duration) -> Duration {
    retry.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

impl Link {
    /// The answer in a stream of events, passing on what else the stream says.
    pub(crate) async fn stream(
        self: &Arc<Self>,
        body: Reply,
        awaited: &AwaitedRequest<'_>,
        timings: &mut Timings,
    ) -> Result<Bytes, Error> {
        let mut events = self.events_of(body);
        let mut strays = false;
        for _ in 0..=MOST_RESUMED {
            let end = match self
                .read_to(&mut events, awaited, &mut strays, timings)
                .await?
            {
                Ok(answer) => {
                    events.into_body().done_after_rest();
                    return Ok(answer);
                }
                Err(end) => end,
            };
            let point = events.resume_point().clone();
            // Before the pause: a stream holds a connection and memory.
            match end {
                StreamEnd::Closed => events.into_body().done_after_rest(),
                StreamEnd::Broken => drop(events),
            }
            let Some(headers) = resume_headers(awaited, &point) else {
                let is_malformed = end == StreamEnd::Closed && strays;
                return Err(if is_malformed {
                    Error::Malformed
                } else {
                    Error::Lost
                });
            };
            // Boxed: most streams bring the answer.
            let resumed = Box::pin(self.resume(&headers, point.retry)).await;
            events = resumed.ok_or(Error::Lost)?.resumed_from(point);
        }
        Err(Error::Lost)
    }

    /// Reads a stream up to the answer, or to its end.
    async fn read_to(
        self: &Arc<Self>,
        events: &mut EventStream<Reply>,
        awaited: &AwaitedRequest<'_>,
        strays: &mut bool,
        timings: &mut Timings,
    ) -> Result<Result<Bytes, StreamEnd>, Error> {
        loop {
            let message = match events.next().await.map_err(|error| self.read_error(error)) {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(Err(StreamEnd::Closed)),
                Err(Error::Lost) => return Ok(Err(StreamEnd::Broken)),
                Err(failure) => return Err(failure),
            };
            timings.first_event.get_or_insert_with(Instant::now);
            match self.receive(&message, Some(awaited.id), awaited.notes) {
                ReceivedMessage::Answer(answer) => return Ok(Ok(answer)),
                ReceivedMessage::Stray => *strays = true,
                ReceivedMessage::Nothing => {}
            }
        }
    }

    /// Opens the stream that goes on where the last one ended; nothing if the server does not let us.
    async fn resume(
        self: &Arc<Self>,
        headers: &HeaderMap,
        retry: Option<Duration>,
    ) -> Option<EventStream<Reply>> {
        let asked = reconnect_pause(retry.unwrap_or(USUAL_PAUSE));
        let mut wait = asked;
        let mut failures = 0;
        loop {
            sleep(wait).await;
            let failure = match self.open(Method::GET, headers.clone(), Bytes::new()).await {
                Ok(events) => return Some(events),
                Err(failure) => failure,
            };
            failures += 1;
            if !may_pass(&failure) || failures == MOST_FAILURES {
                let server = &*self.server;
                tracing::debug!(server, ?failure, "a stream could not be resumed");
                return None;
            }
            wait = asked.max(backoff::delay(failures));
        }
    }
}

/// The head of the request that resumes a stream; nothing if it cannot be resumed.
fn resume_headers(awaited: &AwaitedRequest<'_>, point: &ResumePoint) -> Option<HeaderMap> {
    let id = point.last_event_id.clone()?;
    if awaited.session.era == Era::Modern {
        return None;
    }
    let mut headers = awaited.session.stream_headers();
    if let Some(session) = awaited.opened {
        headers.insert(SESSION, session.clone());
    }
    headers.insert(LAST_EVENT_ID, id);
    Some(headers)
}

/// Whether the next try may go better.
fn may_pass(failure: &Error) -> bool {
    match failure {
        Error::NotSent(_) | Error::Lost => true,
        Error::Status(status, _) => matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504),
        _ => false,
    }
}
