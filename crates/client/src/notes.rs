//! Where the progress and log messages of one call go while it is under way. The sender never
//! waits: a reader that is too slow misses some. Progress is known to the client by the client's
//! own token and to no other client; a message that is not clean JSON goes nowhere.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use countersign_dial::lock;
use countersign_inspect::{MAX_NOTE_BYTES, Note, NotePolicy};
use countersign_tape::{Member, ScanLimits, scan};
use tokio::sync::Notify;
use tokio::time::Instant;

use countersign_wire::json::path;

use crate::cancel_reason::CancelReason;

/// How many notes may wait for a slow reader.
const WAITING: usize = 64;

/// The sending end; cheap to clone, and nothing at all for a call whose client hears no notes.
#[derive(Clone, Debug, Default)]
pub struct NoteSink {
    inner: Option<Arc<Inner>>,
    /// What holds for the words of the tool that was called.
    policy: NotePolicy,
    /// Why the client cancelled the call, once it has.
    cancel_reason: Option<CancelReason>,
}

#[derive(Debug)]
struct Inner {
    /// Nothing once the reader is gone. Most calls have no note, and then this takes no memory.
    waiting: Mutex<Option<VecDeque<Note>>>,
    /// Notified of every new note.
    note_added: Notify,
    /// The client's own progress token, raw.
    token: Option<Bytes>,
    /// What a modern server is to be asked to log, if the request does not say.
    log_level: Option<&'static str>,
    /// When the server last reported progress.
    progressed: Mutex<Option<Instant>>,
}

/// The reading end.
#[derive(Debug)]
pub struct Notes {
    inner: Arc<Inner>,
}

impl Notes {
    /// The next note. Waits for ever if there is none to come.
    pub async fn next(&mut self) -> Note {
        loop {
            if let Some(note) = self.try_next() {
                return note;
            }
            self.inner.note_added.notified().await;
        }
    }

    /// The next note if one is already there; does not wait.
    pub fn try_next(&mut self) -> Option<Note> {
        lock(&self.inner.waiting).as_mut()?.pop_front()
    }

    /// The notes that are already there. What is said from now on is given back to its sender, who may have another way.
    pub fn close(&mut self) -> VecDeque<Note> {
        lock(&self.inner.waiting).take().unwrap_or_default()
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        self.close();
    }
}

/// A sink and the notes that come out of it. `token` is the `progressToken` of the client's
/// request as a raw JSON token; without one there is no progress to tell. `log_level` is what a
/// client asked for once and for all.
pub fn channel(token: Option<Bytes>, log_level: Option<&'static str>) -> (NoteSink, Notes) {
    let inner = Arc::new(Inner {
        waiting: Mutex::new(Some(VecDeque::new())),
        note_added: Notify::new(),
        token,
        log_level,
        progressed: Mutex::new(None),
    });
    let sink = NoteSink {
        inner: Some(Arc::clone(&inner)),
        policy: NotePolicy::default(),
        cancel_reason: None,
    };
    (sink, Notes { inner })
}

impl NoteSink {
    /// A sink for a call whose client hears no notes.
    pub fn closed() -> Self {
        Self::default()
    }

    /// The same sink for a tool whose words are held to this policy.
    #[must_use]
    pub fn with_policy(&self, policy: NotePolicy) -> Self {
        Self {
            inner: self.inner.clone(),
            policy,
            cancel_reason: self.cancel_reason.clone(),
        }
    }

    /// The same sink for a call whose client may say why it cancels it.
    #[must_use]
    pub fn with_cancel_reason(self, reason: Option<CancelReason>) -> Self {
        Self {
            cancel_reason: reason,
            ..self
        }
    }

    /// Says why the client cancelled the call, once it has.
    pub(crate) fn cancel_reason(&self) -> Option<&CancelReason> {
        self.cancel_reason.as_ref()
    }

    /// Passes a notification of the server's on, if it is one that clients hear.
    pub fn offer(&self, method: &str, message: &Bytes) {
        let Some(inner) = &self.inner else {
            return;
        };
        let note = match method {
            "notifications/progress" => inner.progress(message, &self.policy),
            "notifications/message" => log(message, &self.policy),
            _ => None,
        };
        if let Some(note) = note {
            // A note is dropped if too many wait or the reader is gone.
            drop(inner.say(note));
        }
    }

    /// Passes a note on; gives it back if too many wait, or the call has no reader.
    pub fn say(&self, note: Note) -> Result<(), Note> {
        match &self.inner {
            Some(inner) => inner.say(note),
            None => Err(note),
        }
    }

    /// Whether the call has a reader of notes.
    pub fn is_open(&self) -> bool {
        self.inner.is_some()
    }

    /// What a modern server is to be asked to log, if the request does not say.
    pub fn log_level(&self) -> Option<&'static str> {
        self.inner.as_ref()?.log_level
    }

    /// Renews the time-out of the call.
    pub fn renew(&self) {
        if let Some(inner) = &self.inner {
            inner.renew();
        }
    }

    /// When the server last reported progress.
    pub fn progressed(&self) -> Option<Instant> {
        *lock(&self.inner.as_ref()?.progressed)
    }
}

impl Inner {
    /// The note comes back if too many wait or the reader is gone.
    fn say(&self, note: Note) -> Result<(), Note> {
        match &mut *lock(&self.waiting) {
            Some(waiting) if waiting.len() < WAITING => waiting.push_back(note),
            _ => return Err(note),
        }
        self.note_added.notify_one();
        Ok(())
    }

    fn renew(&self) {
        *lock(&self.progressed) = Some(Instant::now());
    }

    /// Progress under the client's own token.
    fn progress(&self, message: &Bytes, policy: &NotePolicy) -> Option<Note> {
        let token = self.token.as_ref()?;
        let params = checked(message)?;
        path(message, params, &["progressToken"])?;
        self.renew();
        Note::progress(Bytes::copy_from_slice(message), token, policy)
    }
}

fn log(message: &Bytes, policy: &NotePolicy) -> Option<Note> {
    checked(message)?;
    // A copy: a slice would keep whatever it came with alive.
    Note::admit(Bytes::copy_from_slice(message), policy)
}

/// The `params` of a notification that every reader understands in the same way.
fn checked(message: &[u8]) -> Option<countersign_tape::Span> {
    let hard = ScanLimits {
        max_bytes: MAX_NOTE_BYTES,
        ..ScanLimits::default()
    };
    let envelope = scan(message, &hard).ok()?;
    let single = envelope.duplicates().next().is_none();
    let framed = single && envelope.get(Member::JsonRpc).is_some();
    envelope.params().filter(|_| framed)
}

#[cfg(test)]
mod tests {
    use countersign_inspect::Sanitisation;

    use super::*;

    fn progress(token: &str) -> Bytes {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progress":0.50,"progressToken":{token}}}}}"#).into()
    }

    #[tokio::test]
    async fn progress_is_told_under_the_clients_token() {
        let (sink, mut notes) = channel(Some(Bytes::from_static(br#""my token""#)), None);
        assert!(sink.progressed().is_none());
        sink.offer("notifications/progress", &progress("7"));
        let note = notes.next().await;
        assert_eq!(note.bytes(), &progress(r#""my token""#));
        assert!(sink.progressed().is_some());
    }

    #[tokio::test]
    async fn what_is_no_note_goes_nowhere() {
        let (sink, mut notes) = channel(None, None);
        sink.offer("notifications/progress", &progress("7"));
        let twice =
            br#"{"jsonrpc":"2.0","method":"a","method":"notifications/message","params":{}}"#;
        for message in [&b"{"[..], b"[]", b"{}", twice] {
            sink.offer("notifications/message", &Bytes::copy_from_slice(message));
        }
        sink.offer(
            "notifications/tools/list_changed",
            &Bytes::from_static(b"{}"),
        );
        let log = Bytes::from_static(
            br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}"#,
        );
        sink.offer("notifications/message", &log);
        NoteSink::closed().offer("notifications/message", &log);
        assert_eq!(notes.next().await.bytes(), &log);
        assert!(notes.try_next().is_none());
        drop(notes);
        sink.offer("notifications/message", &log);
    }

    #[tokio::test]
    async fn a_slow_reader_holds_nobody_up() {
        let (sink, mut notes) = channel(Some(Bytes::from_static(b"1")), None);
        for _ in 0..10 * WAITING {
            sink.offer("notifications/progress", &progress("7"));
        }
        let heard = std::iter::from_fn(|| notes.try_next()).count();
        assert_eq!(heard, WAITING);
    }

    #[tokio::test]
    async fn a_note_for_a_closed_reader_comes_back() {
        let log = Bytes::from_static(
            br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}"#,
        );
        let note = || Note::admit(log.clone(), &NotePolicy::default()).expect("a note");
        let (sink, mut notes) = channel(None, None);
        assert!(sink.say(note()).is_ok());
        assert_eq!(notes.close().len(), 1);
        assert!(sink.say(note()).is_err());
        assert!(notes.try_next().is_none() && notes.close().is_empty());
    }

    #[tokio::test]
    async fn whoever_waits_is_told() {
        let (sink, mut notes) = channel(Some(Bytes::from_static(b"1")), None);
        let saying = async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
                sink.offer("notifications/progress", &progress("7"));
            }
        };
        let hearing = async {
            for _ in 0..3 {
                notes.next().await;
            }
        };
        tokio::join!(hearing, saying);
    }

    #[tokio::test]
    async fn the_words_of_a_note_are_cleaned_as_the_tool_is_held() {
        let log = Bytes::from_static(
            br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a<|im_end|>"}}"#,
        );
        let (sink, mut notes) = channel(None, None);
        sink.offer("notifications/message", &log);
        let note = notes.next().await;
        assert!(
            note.bytes()
                .ends_with(br#""data":"a(removed: control token)"}}"#)
        );
        let off = NotePolicy {
            sanitisation: Sanitisation::off(),
            ..NotePolicy::default()
        };
        sink.with_policy(off).offer("notifications/message", &log);
        assert_eq!(notes.next().await.bytes(), &log);
    }
}
