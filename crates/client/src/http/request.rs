//! A request to a server over HTTP, from its bytes to its answer. A session that the server has
//! lost is opened again, once. Giving up on a request cancels it: a legacy server gets a notification, a
//! modern one sees its stream closed.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::Era;
use countersign_wire::Subject;
use countersign_wire::message;
use countersign_wire::version::LEGACY;
use hyper::StatusCode;
use hyper::header::HeaderMap;

use super::greet::initialize;
use super::link::Link;
use super::session::Session;
use super::sse_transport::SseTransport;
use crate::cancel_reason::CancelReason;
use crate::error::Error;
use crate::hello::{error_code, is_header_mismatch};
use crate::notes::NoteSink;
use crate::timings::Timings;

/// How servers refuse a session they do not know, if not with 404.
const NOT_INITIALISED: &[u8] = b"-32000";

/// A request that has been written and not been sent.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub(crate) link: Arc<Link>,
    pub(crate) session: Arc<Session>,
    pub(crate) id: u64,
    pub(crate) message: Bytes,
    /// Those of the session, and to a modern server what the request is about. Taken when it is sent for the first time.
    headers: HeaderMap,
    pub(crate) notes: NoteSink,
    /// The stream that answers come by, if they do not come as responses.
    pub(crate) sse: Option<Arc<SseTransport>>,
}

impl HttpRequest {
    pub(crate) fn new(
        link: &Arc<Link>,
        subject: &Subject<'_>,
        params: &[u8],
        id: u64,
        notes: &NoteSink,
        sse: Option<Arc<SseTransport>>,
    ) -> Self {
        let session = link.session.load_full();
        let message: Bytes = message::request(id, subject.method, params).into();
        let headers = session.request_headers(subject, message.len());
        Self {
            link: Arc::clone(link),
            session,
            id,
            message,
            headers,
            notes: notes.clone(),
            sse,
        }
    }

    /// Sends it and waits for the answer. A session that the server has lost is not opened again.
    pub(crate) async fn send_once(mut self, timings: &mut Timings) -> Result<Bytes, Error> {
        let headers = std::mem::take(&mut self.headers);
        self.once(&self.session, headers, timings).await
    }

    /// Sends it and waits for the answer. A session that the server has lost is opened again, once.
    pub(crate) async fn answer(self) -> Result<Bytes, Error> {
        let link = Arc::clone(&self.link);
        self.exchange().await.inspect_err(|error| {
            if matches!(error, Error::TooLarge { .. }) {
                link.refused("larger than max_message_bytes");
            }
        })
    }

    async fn exchange(mut self) -> Result<Bytes, Error> {
        let mut timings = Timings::default();
        let headers = std::mem::take(&mut self.headers);
        let first = self.once(&self.session, headers, &mut timings).await;
        if let Ok(answer) = &first
            && self.session.era == Era::Modern
            && is_header_mismatch(answer)
        {
            // What is known of the tool is old.
            self.link.list_changed.notify_one();
        }
        let lost = matches!(&first, Err(failure) if self.is_session_lost(failure));
        if !lost {
            if let Err(Error::Status(status, _)) = &first
                && self.session.era == Era::Modern
                && matches!(status.as_u16(), 400 | 404 | 405)
            {
                // No modern server answers like this: it is not the one that was greeted.
                self.link.lost.notify_one();
            }
            return first;
        }
        // Boxed: it happens once in the life of a session.
        Box::pin(async {
            // Only legacy servers keep sessions, and they are not told by headers what a request is about.
            let session = self.renewed().await?;
            let headers = session.headers.clone();
            self.once(&session, headers, &mut timings).await
        })
        .await
    }

    async fn once(
        &self,
        session: &Session,
        headers: HeaderMap,
        timings: &mut Timings,
    ) -> Result<Bytes, Error> {
        let mut cancel = CancelOnDrop {
            request: self,
            session,
            is_open: true,
        };
        let message = self.message.clone();
        let is_of_client = self.link.peer.is_some();
        let _under_way = is_of_client.then(|| self.link.calls.begin(self.id, &self.notes));
        let answer = if let Some(sse) = &self.sse {
            let answer = sse.exchange(session, self.id, message, &self.notes);
            answer.await
        } else {
            let link = &self.link;
            let answer = link.exchange(session, headers, self.id, message, &self.notes, timings);
            answer.await.map(|answer| answer.message)
        };
        // Whatever it is, it is known; an answer that was not waited for is not.
        cancel.is_open = matches!(answer, Err(Error::TooLarge { .. }));
        answer
    }

    fn is_session_lost(&self, failure: &Error) -> bool {
        let Error::Status(status, body) = failure else {
            return false;
        };
        self.session.is_named
            && match *status {
                StatusCode::NOT_FOUND => true,
                StatusCode::BAD_REQUEST => {
                    error_code(body).is_some_and(|code| code == NOT_INITIALISED)
                }
                _ => false,
            }
    }

    /// The session after the one that was lost, opened by the first request that lost it.
    async fn renewed(&self) -> Result<Arc<Session>, Error> {
        let _one_at_a_time = self.link.renewing.lock().await;
        let now = self.link.session.load_full();
        if !Arc::ptr_eq(&now, &self.session) {
            return Ok(now);
        }
        if initialize(&self.link, LEGACY[0]).await.is_err() {
            self.link.lost.notify_one();
            return Err(Error::Lost);
        }
        // The new session may have another tool list.
        self.link.list_changed.notify_one();
        Ok(self.link.session.load_full())
    }
}

/// Cancels the request at a legacy server, unless it was answered.
struct CancelOnDrop<'a> {
    request: &'a HttpRequest,
    session: &'a Session,
    is_open: bool,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if !self.is_open || self.session.era == Era::Modern {
            return;
        }
        let reason = self.request.notes.cancel_reason();
        let reason = reason.and_then(CancelReason::token);
        let message = message::cancelled(self.request.id, reason);
        if tokio::runtime::Handle::try_current().is_ok() {
            let link = Arc::clone(&self.request.link);
            link.deliver_in(self.session.headers.clone(), &message);
        }
    }
}
