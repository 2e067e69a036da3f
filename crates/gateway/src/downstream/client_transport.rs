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

/// The transport that a message came by.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClientTransport<'a> {
    Http(&'a HeaderMap),
    Pipe(&'a Pipe),
}

/// The client at the end of a pipe.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) session: Arc<Session>,
    /// What it calls itself, once it has said hello the legacy way.
    pub(super) introduced: OnceLock<Option<Arc<str>>>,
    /// Whether it asked for the version that has several messages in one.
    batches: AtomicBool,
}

impl Pipe {
    pub(super) fn new(session: Arc<Session>) -> Self {
        Self {
            session,
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

impl ClientTransport<'_> {
    /// Whether the client can hear more than one message in reply.
    pub(super) fn hears_notes(self) -> bool {
        match self {
            Self::Http(headers) => hears_events(headers),
            Self::Pipe(_) => true,
        }
    }

    /// How several messages in reply are told apart.
    pub(super) fn framing(self) -> Framing {
        match self {
            Self::Http(_) => Framing::Events,
            Self::Pipe(_) => Framing::Bare,
        }
    }
}
