//! A client that waits for news: that the list it sees has changed. A legacy client waits on a
//! `GET` of its session, a modern one on a request of its own, whose id marks every message. Only
//! news of the list behind the endpoint is told, and only if that list is really another.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};

use super::relay::PULSE;
use crate::path::reply::{self, Framing};
use crate::services::{Phase, Runtime};
use crate::state::{Endpoint, State};

/// Several servers may change at once, at the start all of them.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// A reader that is further behind is given up.
const WAITING: usize = 16;

/// A client that waits for changes, and of which list.
pub(super) struct Listener {
    pub(super) endpoint: Endpoint,
    /// The id of a modern client's request.
    pub(super) subscription: Option<Bytes>,
    /// Whether it wants to know about the list.
    pub(super) list_changed: bool,
    /// The revision of the list it was shown before: what changed between that and now is news too.
    pub(super) shown: Option<u64>,
    /// Resolves when the stream is to end.
    pub(super) ended: Option<oneshot::Receiver<()>>,
    pub(super) framing: Framing,
}

impl Listener {
    /// Starts to listen: the events, as they happen. Nothing if too many do already.
    pub(super) fn start(mut self, runtime: &Runtime) -> Option<mpsc::Receiver<Bytes>> {
        let place = Arc::clone(&runtime.services.listeners)
            .try_acquire_owned()
            .ok()?;
        let (events, body) = mpsc::channel(WAITING);
        let runtime = runtime.clone();
        // From now on: what changes before the task runs is news too.
        let now = || runtime.state.load().revision(&self.endpoint);
        let seen = self.shown.unwrap_or_else(now);
        tokio::spawn(async move {
            let _place = place;
            let ended = self.ended.take();
            let ended = async move {
                match ended {
                    // The other end says nothing; it goes.
                    Some(ended) => drop(ended.await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = ended => {}
                () = events.closed() => {}
                () = runtime.services.drain.reached(Phase::Draining) => self.farewell(&events),
                // A reader that is too slow.
                () = self.tell(&runtime.state, seen, &events) => {}
            }
        });
        Some(body)
    }

    /// Tells the news; comes back when the reader takes none.
    async fn tell(&self, state: &State, mut seen: u64, events: &mpsc::Sender<Bytes>) {
        let mut changes = state.changes();
        if self.shown.is_some() {
            changes.mark_changed();
        }
        let mut pulses = interval_at(Instant::now() + PULSE, PULSE);
        pulses.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let framing = self.framing;
        let opening = match &self.subscription {
            Some(id) => Some(framing.message(&reply::acknowledged(id, self.list_changed))),
            // The head of the response goes out with the first byte of its body.
            None => framing.pulse(),
        };
        if opening.is_some_and(|opening| events.try_send(opening).is_err()) {
            return;
        }
        loop {
            let news = tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    sleep(DEBOUNCE).await;
                    let now = state.load().revision(&self.endpoint);
                    let is_news = std::mem::replace(&mut seen, now) != now;
                    (is_news && self.list_changed)
                        .then(|| reply::list_changed(self.subscription.as_deref()))
                        .map(|news| framing.message(&news))
                }
                _ = pulses.tick() => framing.pulse(),
            };
            if news.is_some_and(|news| events.try_send(news).is_err()) {
                return;
            }
        }
    }

    /// A subscription that ends in good order has an answer.
    fn farewell(&self, events: &mpsc::Sender<Bytes>) {
        if let Some(id) = &self.subscription {
            // A client that does not take it learns it by the end of the stream.
            let _missed = events.try_send(self.framing.message(&reply::unsubscribed(id)));
        }
    }
}
