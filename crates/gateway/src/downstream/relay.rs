//! A call whose server speaks before it answers. As long as it does not, the reply is plain JSON;
//! with its first word the response becomes a stream of events: each note as it comes, and the
//! reply last, unless the client has cancelled the call. A client that goes away cancels the call
//! too, because what holds the call goes with it.

use std::collections::VecDeque;
use std::future::ready;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use countersign_client::Notes;
use countersign_inspect::Note;
use hyper::StatusCode;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::path::reply::{Framing, Reply};
use crate::services::Level;

/// How many events may wait for a slow reader before its call waits too.
const WAITING: usize = 16;

/// A call under way.
pub(super) type CallFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// The notes of one call, as far as its client wants to hear them.
pub(super) struct CallNotes {
    pub(super) notes: Notes,
    pub(super) least: Level,
}

impl CallNotes {
    /// The next note; never comes back once there is none to come.
    async fn next(&mut self) -> Note {
        loop {
            let note = self.notes.next().await;
            if self.least.passes(&note) {
                return note;
            }
        }
    }

    /// The notes that are there already. There will be no more.
    fn close(&mut self) -> VecDeque<Note> {
        let mut said = self.notes.close();
        said.retain(|note| self.least.passes(note));
        said
    }
}

/// Waits for the reply, or for the first word before it. `held` is what keeps the call alive; `keep_alive` is how often an
/// idle stream shows that it lives.
pub(super) async fn reply(
    mut call: CallFuture,
    mut notes: CallNotes,
    held: impl Send + 'static,
    (framing, keep_alive): (Framing, Duration),
) -> Reply {
    let said = tokio::select! {
        biased;
        note = notes.next() => VecDeque::from([note]),
        reply = &mut call => {
            // The server may have spoken and answered after the notes were looked at.
            let said = notes.close();
            if said.is_empty() || reply.status == StatusCode::ACCEPTED {
                return reply;
            }
            call = Box::pin(ready(reply));
            said
        }
    };
    let (events, body) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let _held = held;
        // A reader that has gone ends it, and the call with it.
        let _gone = relay(call, notes, said, events, (framing, keep_alive)).await;
    });
    Reply::events(body)
}

/// Sends what was said so far, every further note, and then the reply, if there is one; nothing if the reader has gone.
async fn relay(
    mut call: CallFuture,
    mut notes: CallNotes,
    said: VecDeque<Note>,
    events: mpsc::Sender<Bytes>,
    (framing, keep_alive): (Framing, Duration),
) -> Option<()> {
    let event = |message: &Bytes| framing.message(message);
    for note in said {
        events.send(event(note.bytes())).await.ok()?;
    }
    let mut pulses = interval_at(Instant::now() + keep_alive, keep_alive);
    pulses.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let reply = loop {
        tokio::select! {
            biased;
            () = events.closed() => return None,
            note = notes.next() => events.send(event(note.bytes())).await.ok()?,
            reply = &mut call => break reply,
            _ = pulses.tick() => {
                if let Some(pulse) = framing.pulse() {
                    events.send(pulse).await.ok()?;
                }
            }
        }
    };
    let reply = reply.body.into_bytes();
    if reply.is_empty() {
        // The client has cancelled the call: the stream ends without an answer.
        return Some(());
    }
    for note in notes.close() {
        events.send(event(note.bytes())).await.ok()?;
    }
    events.send(event(&reply)).await.ok()
}

#[cfg(test)]
mod tests {
    use countersign_inspect::NotePolicy;

    use super::*;
    use crate::path::reply::{Body, unanswered};
    use countersign_client::NoteSink;
    use countersign_client::notes::channel;

    const PULSE: Duration = Duration::from_secs(15);

    fn message(method: &str) -> Bytes {
        format!(r#"{{"method":"{method}"}}"#).into()
    }

    fn note(text: &'static str) -> Note {
        Note::admit(message(text), &NotePolicy::default()).expect("a notification")
    }

    fn answer(text: &'static str) -> Reply {
        Reply {
            scopes: Vec::new(),
            status: StatusCode::OK,
            body: Body::from(Bytes::from_static(text.as_bytes())),
        }
    }

    fn channel_at_default_level() -> (NoteSink, CallNotes) {
        let (sink, notes) = channel(None, None);
        let least = Level::default();
        (sink, CallNotes { notes, least })
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_stream_shows_that_it_lives() {
        let (sink, notes) = channel_at_default_level();
        assert!(sink.say(note("a")).is_ok());
        let call = async {
            tokio::time::sleep(PULSE * 2 + PULSE / 2).await;
            answer("{}")
        };
        let Body::Stream(mut events) = reply(Box::pin(call), notes, (), (Framing::Events, PULSE))
            .await
            .body
        else {
            unreachable!("something was said before the answer");
        };
        let mut all = Vec::new();
        while let Some(event) = events.recv().await {
            all.extend_from_slice(&event);
        }
        let expected =
            "event: message\ndata: {\"method\":\"a\"}\n\n: \n\n: \n\nevent: message\ndata: {}\n\n";
        assert_eq!(String::from_utf8_lossy(&all), expected);
    }

    #[tokio::test]
    async fn what_was_said_before_the_answer_comes_before_it() {
        let (sink, notes) = channel_at_default_level();
        for text in ["1", "2", "3"] {
            assert!(sink.say(note(text)).is_ok());
        }
        let call = async { answer(r#"{"method":"4"}"#) };
        let Body::Stream(mut events) = reply(Box::pin(call), notes, (), (Framing::Events, PULSE))
            .await
            .body
        else {
            unreachable!("something was said before the answer");
        };
        for expected in ["1", "2", "3", "4"] {
            let message = String::from_utf8_lossy(&message(expected)).into_owned();
            let expected = format!("event: message\ndata: {message}\n\n");
            assert_eq!(events.recv().await.expect("an event"), expected);
        }
        assert!(events.recv().await.is_none());
    }

    #[tokio::test]
    async fn what_was_said_just_before_the_answer_is_not_lost() {
        let (sink, notes) = channel_at_default_level();
        // Both come while the call is being made: there is no note yet when notes are looked at.
        let call = async move {
            assert!(sink.say(note("1")).is_ok());
            answer(r#"{"method":"2"}"#)
        };
        let Body::Stream(mut events) = reply(Box::pin(call), notes, (), (Framing::Bare, PULSE))
            .await
            .body
        else {
            unreachable!("something was said before the answer");
        };
        assert_eq!(events.recv().await, Some(message("1")));
        assert_eq!(events.recv().await, Some(message("2")));
        assert_eq!(events.recv().await, None);
    }

    #[tokio::test]
    async fn a_cancelled_call_has_no_answer_whatever_was_said_before() {
        let (sink, notes) = channel_at_default_level();
        let call = async move {
            assert!(sink.say(note("1")).is_ok());
            unanswered()
        };
        let reply = reply(Box::pin(call), notes, (), (Framing::Bare, PULSE)).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED);
        assert!(reply.body.into_bytes().is_empty());
    }

    #[tokio::test]
    async fn a_reader_that_goes_lets_go_of_the_call() {
        let (sink, notes) = channel_at_default_level();
        assert!(sink.say(note("1")).is_ok());
        let (held, released) = tokio::sync::oneshot::channel::<()>();
        let reply = reply(
            Box::pin(std::future::pending()),
            notes,
            held,
            (Framing::Events, PULSE),
        )
        .await;
        drop(reply);
        assert!(released.await.is_err());
    }
}
