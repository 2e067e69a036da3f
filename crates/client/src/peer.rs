//! The one client of a connection that is not shared, as its server sees it: a peer that can be asked. It hands on what a
//! legacy server may ask of a client, if the client says that it can be asked that, and what the client answers. What is
//! said is inspected elsewhere.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use countersign_dial::lock;
use countersign_tape::Span;
use countersign_wire::error_code::INTERNAL_ERROR;
use countersign_wire::json::member;
use countersign_wire::message;
use tokio::sync::{mpsc, watch};

use crate::notes::NoteSink;

/// Messages of the server that wait for the client; a server that asks faster is refused.
const WAITING: usize = 64;

/// A client that may be asked.
#[derive(Debug)]
pub struct Peer {
    /// What it said about itself, once it has sent its first request.
    introduction: watch::Sender<Option<Introduction>>,
    sender: mpsc::Sender<PeerMessage>,
    /// Nothing before there is a connection. Held weakly: the connection holds the peer.
    server: Mutex<Option<Weak<dyn ServerSide>>>,
    /// How often the server has begun: a process that is started, a session that is opened. What it asked before is over,
    /// and it may use the same ids again.
    life: AtomicU64,
}

/// The connection to the server that a client speaks to.
pub(crate) trait ServerSide: fmt::Debug + Send + Sync {
    /// Sends the server a message that has no answer.
    fn deliver(self: Arc<Self>, message: &[u8]);

    /// Renews the time-out of every call.
    fn renew_calls(&self);

    /// The notes of the newest call that has a reader.
    fn any_call(&self) -> Option<NoteSink>;
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
    /// The notes of the call that the message belongs to, if the connection tells which one that is.
    pub call: Option<NoteSink>,
    /// The life of the server that said it.
    pub life: u64,
}

impl Peer {
    /// A client, and what the server says to it.
    pub fn new() -> (Arc<Self>, mpsc::Receiver<PeerMessage>) {
        let (sender, messages) = mpsc::channel(WAITING);
        let peer = Self {
            introduction: watch::Sender::new(None),
            sender,
            server: Mutex::default(),
            life: AtomicU64::new(0),
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

    /// From now on this is the connection to the server.
    pub(crate) fn meet(&self, server: &Arc<impl ServerSide + 'static>) {
        let server: Weak<dyn ServerSide> = Arc::downgrade(server) as _;
        *lock(&self.server) = Some(server);
        self.begin_life();
    }

    /// The server begins anew. It does not wait for answers to what it asked before.
    pub(crate) fn begin_life(&self) {
        self.life.fetch_add(1, Ordering::AcqRel);
    }

    /// Which life of the server this is.
    pub fn life(&self) -> u64 {
        self.life.load(Ordering::Acquire)
    }

    fn server(&self) -> Option<Arc<dyn ServerSide>> {
        lock(&self.server).as_ref()?.upgrade()
    }

    /// Hands on what the server says; false if it is not the client's to hear, or the client cannot be asked that. `call`
    /// is the call that the message came with.
    pub(crate) fn hear(
        &self,
        id: Option<&[u8]>,
        method: &str,
        message: &Bytes,
        call: Option<NoteSink>,
    ) -> bool {
        let needed = match (id, method) {
            (Some(_), "sampling/createMessage") => Some("sampling"),
            (Some(_), "elicitation/create") | (None, "notifications/elicitation/complete") => {
                Some("elicitation")
            }
            (Some(_), "roots/list") => Some("roots"),
            (
                None,
                "notifications/cancelled"
                | "notifications/message"
                | "notifications/prompts/list_changed"
                | "notifications/resources/list_changed"
                | "notifications/resources/updated",
            ) => None,
            _ => return false,
        };
        let said = || PeerMessage {
            id: id.map(Bytes::copy_from_slice),
            message: message.clone(),
            call,
            life: self.life(),
        };
        needed.is_none_or(|needed| self.declares(needed)) && self.sender.try_send(said()).is_ok()
    }

    /// Whether the client has declared a capability.
    fn declares(&self, capability: &str) -> bool {
        let introduction = self.introduction.borrow();
        introduction.as_ref().is_some_and(|client| {
            let declared = &client.capabilities;
            member(declared, Span::whole(declared), capability).is_some()
        })
    }

    /// Whether the server may ask the client for anything.
    pub(crate) fn can_be_asked(&self) -> bool {
        let introduction = self.introduction.borrow();
        let capabilities = introduction.as_ref().map(|client| &*client.capabilities);
        capabilities.is_some_and(|declared| declared != b"{}")
    }

    /// Sends the server a message of the client's. Nothing if there is no connection.
    pub fn tell(&self, message: &[u8]) {
        if let Some(server) = self.server() {
            server.deliver(message);
        }
    }

    /// Refuses what the server asked.
    pub fn refuse(&self, id: &[u8], why: &str) {
        self.tell(&message::refuse(id, INTERNAL_ERROR, why));
    }

    /// The server waits for the client, so calls to the server do not time out meanwhile.
    pub fn keeps_the_server_waiting(&self) {
        if let Some(server) = self.server() {
            server.renew_calls();
        }
    }

    /// The notes of a call under way that has a reader, if there is one. A message for the client may go there.
    pub fn any_call(&self) -> Option<NoteSink> {
        self.server()?.any_call()
    }
}
