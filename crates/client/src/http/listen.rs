//! What a server says unasked: a legacy one on a stream that is opened with GET, a modern one as
//! the answer to a subscription: that its lists have changed, and what it says to the one client of its session. A server
//! without such a stream is left in peace; a stream that ends is opened again, after the time that the
//! server asked for.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::Era;
use countersign_wire::Subject;
use countersign_wire::message;
use hyper::Method;
use tokio::time::{Instant, sleep};

use super::link::{Link, reconnect_pause};
use crate::backoff;
use crate::error::Error;
use crate::notes::NoteSink;

/// A stream that lasted this long was a good one.
const SETTLED: Duration = Duration::from_secs(10);

/// Listens for as long as there is something to listen to. `filter` is what a modern server is subscribed to.
pub(crate) async fn listen(link: &Arc<Link>, filter: &str) {
    let mut failures = 0;
    loop {
        let started = Instant::now();
        let retry = match follow(link, filter).await {
            Err(Error::Status(status, _)) if status.as_u16() != 404 => return,
            Err(Error::Malformed) => return,
            Err(_) => None,
            Ok(retry) => retry,
        };
        let lasted = started.elapsed() > SETTLED;
        failures = if lasted { 1 } else { failures + 1 };
        let asked = retry.map(reconnect_pause).unwrap_or_default();
        sleep(backoff::delay(failures).max(asked)).await;
        if lasted {
            // What was said meanwhile was not heard.
            link.list_changed.notify_one();
        }
    }
}

/// One stream, from its opening to its end; how long the server wants us to wait before the next.
async fn follow(link: &Arc<Link>, filter: &str) -> Result<Option<Duration>, Error> {
    let session = link.session.load_full();
    let (method, headers, body) = match session.era {
        Era::Legacy => (Method::GET, session.stream_headers(), Bytes::new()),
        Era::Modern => {
            let mut headers = session.headers.clone();
            let method = "subscriptions/listen";
            Subject::method(method).write(&mut headers);
            let params = message::own_params(Era::Modern, filter.as_bytes());
            let message = message::request(link.id(), method, &params);
            (Method::POST, headers, message.into())
        }
    };
    let mut events = link.open(method, headers, body).await?;
    while let Some(message) = events
        .next()
        .await
        .map_err(|error| link.read_error(error))?
    {
        link.receive(&message, None, &NoteSink::closed());
    }
    Ok(events.resume_point().retry)
}
