//! A call whose server speaks before it answers. As long as it does not, the reply is plain JSON;
//! with its first word the response becomes a stream of events: each note as it comes, and the
//! reply last. A client that goes away cancels the call, because what holds the call goes with it.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::Note;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::level::Level;
use crate::reply::{Reply, event, pulse};

/// How often an idle stream shows that it lives.
pub(super) const PULSE: Duration = Duration::from_secs(15);
/// How many events may wait for a slow reader before its call waits too.
const WAITING: usize = 16;

/// A call under way.
pub(super) type UnderWay = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// The notes of one call, as far as its client wants to hear them.
pub(super) struct Heard {
    pub(super) notes: mpsc::Receiver<Note>,
    pub(super) least: Level,
}

impl Heard {
    /// The next note; never comes back once there is none to come.
    async fn next(&mut self) -> Note {
        loop {
            match self.notes.recv().await {
                Some(note) if self.least.hears(&note) => return note,
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// A note that is there already.
    fn waiting(&mut self) -> Option<Note> {
        loop {
            let note = self.notes.try_recv().ok()?;
            if self.least.hears(&note) {
                return Some(note);
            }
        }
    }
}

/// Waits for the reply, or for the first word before it. `held` is what keeps the call alive.
pub(super) async fn reply(
    mut call: UnderWay,
    mut heard: Heard,
    held: impl Send + 'static,
) -> Reply {
    let first = tokio::select! {
        biased;
        note = heard.next() => note,
        reply = &mut call => return reply,
    };
    let (events, body) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let _held = held;
        // A reader that has gone ends it, and the call with it.
        let _gone = relay(call, heard, first, events).await;
    });
    Reply::events(body)
}

/// Sends every note and then the reply; nothing if the reader has gone.
async fn relay(
    mut call: UnderWay,
    mut heard: Heard,
    first: Note,
    events: mpsc::Sender<Bytes>,
) -> Option<()> {
    events.send(event(first.bytes())).await.ok()?;
    let mut pulses = interval_at(Instant::now() + PULSE, PULSE);
    pulses.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let reply = loop {
        tokio::select! {
            biased;
            () = events.closed() => return None,
            note = heard.next() => events.send(event(note.bytes())).await.ok()?,
            reply = &mut call => break reply,
            _ = pulses.tick() => events.send(pulse()).await.ok()?,
        }
    };
    while let Some(note) = heard.waiting() {
        events.send(event(note.bytes())).await.ok()?;
    }
    let reply = reply.body.into_bytes();
    events.send(event(&reply)).await.ok()
}
