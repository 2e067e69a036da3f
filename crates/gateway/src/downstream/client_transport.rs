//! The transport that a client's message came by. Over HTTP, headers repeat parts of the message and are compared with
//! it; over a pipe there is one client, and everything is in the message itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hyper::HeaderMap;

use super::batch;
use super::client::client_name;
use super::message::{Message, text};
use crate::http::hears_events;
use crate::path::reply::Framing;
use crate::services::Session;
use crate::state::Caller;

/// The transport that a message came by.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClientTransport<'a> {
    /// A request's headers, and its caller.
    Http(&'a HeaderMap, &'a Arc<Caller>),
    Pipe(&'a Pipe),
}

/// The client at the end of a pipe.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) session: Arc<Session>,
    pub(super) caller: Arc<Caller>,
    /// What it calls itself, once it has said hello the legacy way.
    pub(super) introduced: OnceLock<Option<Arc<str>>>,
    /// Whether it asked for the version that has several messages in one.
    batches: AtomicBool,
}

impl Pipe {
    pub(super) fn new(session: Arc<Session>, caller: Arc<Caller>) -> Self {
        Self {
            session,
            caller,
            introduced: OnceLock::new(),
            batches: AtomicBool::new(false),
        }
    }

    /// The client says hello the legacy way. The first time holds.
    pub(super) fn introduce(&self, message: &Message) {
        let info = message.param("clientInfo");
        let name = info.as_ref().and_then(client_name);
        let _again = self.introduced.set(name);
        let version = message.param("protocolVersion");
        let version = version.as_ref().and_then(text);
        let batches = version.as_deref() == Some(batch::VERSION);
        self.batches.store(batches, Ordering::Relaxed);
    }

    /// Whether several messages may come in one.
    pub(super) fn batches(&self) -> bool {
        self.batches.load(Ordering::Relaxed)
    }
}

impl<'a> ClientTransport<'a> {
    /// Who sends the message.
    pub(super) fn caller(self) -> &'a Arc<Caller> {
        match self {
            Self::Http(_, caller) => caller,
            Self::Pipe(pipe) => &pipe.caller,
        }
    }

    /// Whether the client can hear more than one message in reply.
    pub(super) fn hears_notes(self) -> bool {
        match self {
            Self::Http(headers, _) => hears_events(headers),
            Self::Pipe(_) => true,
        }
    }

    /// How several messages in reply are told apart.
    pub(super) fn framing(self) -> Framing {
        match self {
            Self::Http(..) => Framing::Events,
            Self::Pipe(_) => Framing::Bare,
        }
    }
}
