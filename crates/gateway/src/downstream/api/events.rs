//! `/events`: records as they are committed, as server-sent events. The id of an event is its place
//! in the store, so a client that was away names the last one it saw and misses nothing: the store
//! is read again from there. Nothing is queued for a slow reader; it is served from the store too.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_audit::{Filter, Query, Stored, Timestamp};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::mpsc;

use super::activity::read;
use super::{error, pairs};
use crate::drain::Phase;
use crate::reply::Body;
use crate::shared::Shared;

/// Records read at a time.
const STEP: usize = 100;
/// How often a silent stream says that it is alive.
const PULSE: Duration = Duration::from_secs(15);

/// Opens a stream.
pub(in crate::downstream) async fn respond(
    shared: &Arc<Shared>,
    request: &Request<Incoming>,
) -> Response<Body> {
    if request.method() != Method::GET {
        let mut refused = error(StatusCode::METHOD_NOT_ALLOWED, "use GET");
        let allowed = HeaderValue::from_static("GET");
        refused.headers_mut().insert(ALLOW, allowed);
        return refused;
    }
    let query = request.uri().query().unwrap_or_default();
    let filter = match Filter::from_pairs(pairs(query), Timestamp::now()) {
        Ok(filter) => filter,
        Err(why) => return error(StatusCode::BAD_REQUEST, &why.to_string()),
    };
    let place = match request.headers().get("last-event-id") {
        None => newest(shared).await,
        Some(id) => place(id).ok_or_else(|| {
            let why = "Last-Event-ID is not the id of an event of this gateway";
            error(StatusCode::BAD_REQUEST, why)
        }),
    };
    match place {
        Ok(place) => opened(Arc::clone(shared), filter, place),
        Err(response) => response,
    }
}

fn place(id: &HeaderValue) -> Option<u64> {
    let place: u64 = id.to_str().ok()?.trim().parse().ok()?;
    i64::try_from(place).is_ok().then_some(place)
}

/// The end of the store: a new client is told what happens from now on.
async fn newest(shared: &Shared) -> Result<u64, Response<Body>> {
    let query = Query {
        limit: 1,
        ..Query::default()
    };
    let page = read(shared, move |reader| reader.list(&query)).await?;
    Ok(page.activities.first().map_or(0, |record| record.seq))
}

fn opened(shared: Arc<Shared>, filter: Filter, place: u64) -> Response<Body> {
    let (events, stream) = mpsc::channel(1);
    tokio::spawn(async move {
        tokio::select! {
            () = shared.drain.reached(Phase::Draining) => {}
            () = events.closed() => {}
            () = follow(&shared, &filter, place, &events) => {}
        }
    });
    let mut response = Response::new(Body::Stream(stream));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Sends what comes after a place until nobody listens.
async fn follow(shared: &Shared, filter: &Filter, mut place: u64, events: &mpsc::Sender<Bytes>) {
    let mut latest = shared.store.latest();
    // Proxies pass a response on only once something of it is there.
    let mut text = format!(": from {place}\n\n");
    loop {
        if events.send(text.into()).await.is_err() {
            return;
        }
        latest.mark_unchanged();
        text = String::new();
        while text.is_empty() {
            let filter = filter.clone();
            let tail = read(shared, move |reader| reader.after(place, &filter, STEP)).await;
            let Ok(tail) = tail else { return };
            place = tail.next;
            text = tail.records.iter().map(event).collect();
            if !text.is_empty() || tail.more {
                continue;
            }
            match tokio::time::timeout(PULSE, latest.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) => text.push_str(": still here\n\n"),
            }
        }
    }
}

fn event(stored: &Stored) -> String {
    match serde_json::to_string(stored) {
        Ok(data) => format!("id: {}\nevent: activity\ndata: {data}\n\n", stored.seq),
        Err(_) => String::new(),
    }
}
