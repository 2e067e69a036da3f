//! What a server says to every client of a shared connection: that a list has changed, or a resource that clients have
//! subscribed to. It names no client, so it may be told to each that asked for such news.

use bytes::Bytes;
use countersign_inspect::MAX_NOTE_BYTES;
use countersign_tape::Span;
use countersign_wire::json::path;
use tokio::sync::broadcast;

/// News that may wait for a slow reader; a reader that is further behind is told that it missed some.
const WAITING: usize = 256;

/// Something a server announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// Its prompts have changed.
    Prompts,
    /// Its resources have changed.
    Resources,
    /// This resource has changed.
    Updated {
        /// The address of the resource.
        uri: String,
    },
}

impl Announcement {
    /// What a notification announces, if it is one that does.
    pub(crate) fn read(method: &str, message: &Bytes) -> Option<Self> {
        // Several wait for each reader, and their memory is not counted.
        if message.len() > MAX_NOTE_BYTES {
            return None;
        }
        match method {
            "notifications/prompts/list_changed" => Some(Self::Prompts),
            "notifications/resources/list_changed" => Some(Self::Resources),
            "notifications/resources/updated" => {
                let uri = path(message, Span::whole(message), &["params", "uri"])?;
                let uri = uri.string(message)?.into_owned();
                Some(Self::Updated { uri })
            }
            _ => None,
        }
    }
}

/// Tells everyone who listens to a connection what its server announces.
#[derive(Debug)]
pub(crate) struct Announcements(broadcast::Sender<Announcement>);

impl Default for Announcements {
    fn default() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }
}

impl Announcements {
    /// Passes a notification on if it announces something.
    pub(crate) fn offer(&self, method: &str, message: &Bytes) {
        if let Some(announcement) = Announcement::read(method, message) {
            // Without listeners it is lost.
            let _unheard = self.0.send(announcement);
        }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Announcement> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updated(uri: &str) -> Option<Announcement> {
        let method = "notifications/resources/updated";
        let message = format!(r#"{{"method":"{method}","params":{{"uri":"{uri}"}}}}"#);
        Announcement::read(method, &message.into())
    }

    #[test]
    fn an_address_of_any_length_is_not_kept() {
        let uri = "a:b".to_owned();
        assert_eq!(updated("a:b"), Some(Announcement::Updated { uri }));
        assert_eq!(updated(&"x".repeat(MAX_NOTE_BYTES)), None);
    }
}
