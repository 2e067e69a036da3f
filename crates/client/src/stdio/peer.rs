//! The one client of a server that is not shared, as the server sees it: a peer that can be asked. It hands on what a
//! legacy server may ask of a client, if the client says that it can be asked that, and what the client answers. What is
//! said is looked at elsewhere.

use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use countersign_dial::lock;
use countersign_tape::Span;
use countersign_wire::error_code::INTERNAL_ERROR;
use countersign_wire::json::member;
use countersign_wire::message;
use tokio::sync::{mpsc, watch};

use super::wire::Wire;

/// Messages of the server that wait for the client; a server that asks faster is refused.
const WAITING: usize = 64;

/// A client that may be asked.
#[derive(Debug)]
pub struct Peer {
    /// What it said about itself, once it has sent its first request.
    introduction: watch::Sender<Option<Introduction>>,
    said: mpsc::Sender<PeerMessage>,
    wire: Mutex<Weak<Wire>>,
}

/// What a client says about itself with its first request.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    /// Whether it began with `initialize`.
    pub(crate) is_legacy: bool,
    /// What it can be asked for, as the server should know it.
    pub(crate) capabilities: Bytes,
}

impl Default for Introduction {
    /// A client of which nothing is known, which cannot be asked for anything.
    fn default() -> Self {
        Self {
            is_legacy: false,
            capabilities: Bytes::from_static(b"{}"),
        }
    }
}

/// Something the server says to the client.
#[derive(Debug)]
pub struct PeerMessage {
    /// The id of a request, as it is written.
    pub id: Option<Bytes>,
    /// The whole message.
    pub message: Bytes,
}

impl Peer {
    /// A client, and what the server says to it.
    pub fn new() -> (Arc<Self>, mpsc::Receiver<PeerMessage>) {
        let (said, messages) = mpsc::channel(WAITING);
        let peer = Self {
            introduction: watch::Sender::new(None),
            said,
            wire: Mutex::default(),
        };
        (Arc::new(peer), messages)
    }

    /// The client begins with `initialize`, and declares these `capabilities`. Only its first request counts.
    pub fn initialize(&self, capabilities: Option<&Bytes>) {
        let whole = |given: &Bytes| message::relayed(given, Span::whole(given));
        let relayed = capabilities.map_or_else(|| b"{}".to_vec(), whole);
        self.introduce(Introduction {
            is_legacy: true,
            capabilities: relayed.into(),
        });
    }

    /// The client begins with another request than `initialize`. Only its first request counts.
    pub fn begin(&self) {
        self.introduce(Introduction::default());
    }

    fn introduce(&self, introduction: Introduction) {
        self.introduction.send_if_modified(|known| {
            let is_first = known.is_none();
            if is_first {
                *known = Some(introduction);
            }
            is_first
        });
    }

    /// What the client says about itself. Waits for its first request.
    pub(crate) async fn introduced(&self) -> Introduction {
        let mut introduction = self.introduction.subscribe();
        let introduction = introduction.wait_for(Option::is_some).await;
        let introduction = introduction.ok().and_then(|known| known.clone());
        introduction.unwrap_or_default()
    }

    /// From now on this is the server.
    pub(crate) fn meet(&self, wire: &Arc<Wire>) {
        *lock(&self.wire) = Arc::downgrade(wire);
    }

    /// Hands on what the server says; false if the client cannot be asked that.
    pub(crate) fn hear(&self, id: Option<&[u8]>, method: &str, message: &Bytes) -> bool {
        let needed = match method {
            "sampling/createMessage" => "sampling",
            "elicitation/create" | "notifications/elicitation/complete" => "elicitation",
            "roots/list" => "roots",
            "notifications/cancelled" => "",
            _ => return false,
        };
        let introduction = self.introduction.borrow();
        let can = introduction.as_ref().is_some_and(|client| {
            let declared = &client.capabilities;
            needed.is_empty() || member(declared, Span::whole(declared), needed).is_some()
        });
        let said = || PeerMessage {
            id: id.map(Bytes::copy_from_slice),
            message: message.clone(),
        };
        can && self.said.try_send(said()).is_ok()
    }

    /// Tells the server something, on a line of its own.
    pub fn tell(&self, message: &[u8]) {
        if let Some(wire) = lock(&self.wire).upgrade() {
            wire.tell(&message::as_line(message));
        }
    }

    /// Refuses what the server asked.
    pub fn refuse(&self, id: &[u8], why: &str) {
        self.tell(&message::refuse(id, INTERNAL_ERROR, why));
    }

    /// The server waits for the client, so calls to the server do not time out meanwhile.
    pub fn keeps_the_server_waiting(&self) {
        if let Some(wire) = lock(&self.wire).upgrade() {
            wire.renew();
        }
    }
}
