//! What the client of a session is told outside of its calls: requests of servers, log messages, news of resources. The
//! messages wait here until the client has a stream open, and those that were sent stay for a while, so that a client whose
//! stream broke can have them again.

use std::collections::VecDeque;
use std::sync::Mutex;

use bytes::Bytes;
use countersign_dial::lock;
use tokio::sync::Notify;

/// More messages than this are not kept.
const MAX_MESSAGES: usize = 256;
/// Nor more bytes.
const MAX_BYTES: usize = 1 << 20;

/// The messages for one client.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    kept: Mutex<Kept>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Kept {
    /// In the order of their numbers, without gaps.
    messages: VecDeque<Bytes>,
    bytes: usize,
    /// How many messages there have been that are not kept any more. Numbers begin with 1.
    gone: u64,
    /// The number of the last message that was sent.
    sent: u64,
}

impl Outbox {
    /// Adds a notification; false if so many messages wait to be sent that there is no room for it. Notifications take half
    /// of the room at most: a server that says much does not keep another one from asking.
    pub(crate) fn push(&self, notification: Bytes) -> bool {
        self.add(notification, 2)
    }

    /// Adds a request of a server; false if there is no room for it.
    pub(crate) fn push_request(&self, request: Bytes) -> bool {
        self.add(request, 1)
    }

    /// Whether there is room for a request of this size.
    pub(crate) fn has_room(&self, size: usize) -> bool {
        lock(&self.kept).has_room(size, 1)
    }

    /// Adds a message if those that wait, with it, take no more than one part of so many of the room.
    fn add(&self, message: Bytes, parts: usize) -> bool {
        let is_added = {
            let mut kept = lock(&self.kept);
            kept.has_room(message.len(), parts) && kept.push(message)
        };
        if is_added {
            self.changed.notify_waiters();
        }
        is_added
    }

    /// The number of the last message that was sent.
    pub(crate) fn sent(&self) -> u64 {
        lock(&self.kept).sent
    }

    /// The first message after this number that is still kept, and its number. Waits until there is one, and takes it for
    /// sent.
    pub(crate) async fn after(&self, number: u64) -> (u64, Bytes) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Listening first: a message may come between the look and the wait.
            changed.as_mut().enable();
            if let Some(found) = lock(&self.kept).take_after(number) {
                return found;
            }
            changed.await;
        }
    }
}

impl Kept {
    fn last(&self) -> u64 {
        self.gone + self.messages.len() as u64
    }

    /// Whether the messages that were not sent leave room for another, if they may take one part of so many.
    fn has_room(&self, size: usize, parts: usize) -> bool {
        let sent = usize::try_from(self.sent.saturating_sub(self.gone)).unwrap_or(usize::MAX);
        let unsent = self.messages.iter().skip(sent);
        let (count, bytes) = unsent.fold((0, size), |(count, bytes), message| {
            (count + 1, bytes + message.len())
        });
        count < MAX_MESSAGES / parts && bytes <= MAX_BYTES / parts
    }

    fn push(&mut self, message: Bytes) -> bool {
        while self.messages.len() >= MAX_MESSAGES || self.bytes + message.len() > MAX_BYTES {
            // What was not sent stays.
            if self.gone >= self.sent {
                return false;
            }
            let Some(oldest) = self.messages.pop_front() else {
                return false;
            };
            self.gone += 1;
            self.bytes -= oldest.len();
        }
        self.bytes += message.len();
        self.messages.push_back(message);
        true
    }

    fn take_after(&mut self, number: u64) -> Option<(u64, Bytes)> {
        // A number that has not been given yet is a client's invention.
        let number = number.clamp(self.gone, self.last());
        let index = usize::try_from(number - self.gone).ok()?;
        let message = self.messages.get(index)?.clone();
        self.sent = self.sent.max(number + 1);
        Some((number + 1, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u64) -> Bytes {
        number.to_string().into()
    }

    #[tokio::test]
    async fn messages_wait_for_a_stream_and_can_be_had_again() {
        let outbox = Outbox::default();
        assert!(outbox.push(message(1)) && outbox.push(message(2)));
        assert_eq!(outbox.after(outbox.sent()).await, (1, message(1)));
        assert_eq!(outbox.after(1).await, (2, message(2)));
        assert_eq!(outbox.sent(), 2);
        // A stream that broke after the first one.
        assert_eq!(outbox.after(1).await, (2, message(2)));
        let waiting = outbox.after(2);
        tokio::pin!(waiting);
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("nothing has come"),
            () = std::future::ready(()) => {}
        }
        assert!(outbox.push(message(3)));
        assert_eq!(waiting.await, (3, message(3)));
        assert!(outbox.push(message(4)));
        assert_eq!(outbox.after(4_000).await_now(), None);
    }

    #[tokio::test]
    async fn what_was_sent_makes_room_and_what_was_not_stays() {
        let outbox = Outbox::default();
        let most = MAX_MESSAGES as u64;
        assert!((1..=most).all(|number| outbox.push_request(message(number))));
        assert!(!outbox.push_request(message(0)), "nothing was sent yet");
        assert_eq!(outbox.after(0).await, (1, message(1)));
        assert!(outbox.push_request(message(most + 1)) && !outbox.push_request(message(0)));
        assert_eq!(outbox.after(0).await, (2, message(2)), "the first is gone");
        assert!(!outbox.push_request(vec![b' '; MAX_BYTES].into()));
    }

    #[test]
    fn notifications_leave_room_for_requests() {
        let outbox = Outbox::default();
        let said = (0..10_000).filter(|number| outbox.push(message(*number)));
        assert_eq!(said.count(), MAX_MESSAGES / 2);
        assert!(outbox.push_request(message(0)) && outbox.has_room(MAX_BYTES / 2));
        let outbox = Outbox::default();
        let large = || Bytes::from(vec![b' '; MAX_BYTES / 4]);
        assert!(outbox.push(large()) && outbox.push(large()) && !outbox.push(large()));
        assert!(outbox.push_request(large()) && !outbox.has_room(MAX_BYTES / 2));
    }

    trait AwaitNow: Future + Sized {
        /// What is there without waiting.
        fn await_now(self) -> Option<Self::Output> {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            match std::pin::pin!(self).poll(&mut context) {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            }
        }
    }

    impl<F: Future> AwaitNow for F {}
}
