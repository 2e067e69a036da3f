//! A connection to a server that belongs to one client: a session of its own at an HTTP server, or a process of its own. It
//! lives as long as the client's session, or until the server is configured differently.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use countersign_client::{self as client, Peer, ServerHandle};
use countersign_dial::lock;
use tokio::sync::watch;

use crate::state::Tools;

/// A connection that belongs to one client.
#[derive(Debug)]
pub(crate) struct PrivateServer {
    pub(crate) upstream: Arc<ServerHandle>,
    /// The client, as the server sees it.
    pub(crate) peer: Arc<Peer>,
    /// The state of the shared connection to the same server.
    shared: watch::Receiver<client::State>,
    /// The tools that the server shows this client; nothing before they were asked for.
    tools: watch::Sender<ToolList>,
    /// Whether the client wants to see them.
    list_wanted: watch::Sender<bool>,
    /// Whether the server may show this client tools of its own.
    has_own_list: bool,
    _place: Place,
}

/// The tools that a server shows one client.
#[derive(Clone, Debug, Default)]
pub(crate) enum ToolList {
    /// They have not been asked for yet, or there is no answer yet.
    #[default]
    Unknown,
    /// The server cannot be asked at the moment.
    Unavailable,
    Known(Arc<Tools>),
}

impl PrivateServer {
    pub(crate) fn new(
        upstream: Arc<ServerHandle>,
        peer: Arc<Peer>,
        shared: &ServerHandle,
        place: Place,
        has_own_list: bool,
    ) -> Self {
        Self {
            has_own_list,
            upstream,
            peer,
            shared: shared.state(),
            tools: watch::Sender::default(),
            list_wanted: watch::Sender::default(),
            _place: place,
        }
    }

    /// Whether the server may show this client tools of its own.
    pub(crate) fn has_own_list(&self) -> bool {
        self.has_own_list
    }

    /// Whether it is a connection to the server behind this shared one, and not to one that has been replaced.
    pub(crate) fn belongs_to(&self, shared: &ServerHandle) -> bool {
        shared.has_state_channel(&self.shared)
    }

    /// The tools that the server shows the client, as far as they are known.
    pub(crate) fn tools(&self) -> Option<Arc<Tools>> {
        match &*self.tools.borrow() {
            ToolList::Known(tools) => Some(Arc::clone(tools)),
            ToolList::Unknown | ToolList::Unavailable => None,
        }
    }

    /// The tools that the server shows the client. Waits for the list, and gives nothing if it cannot be had.
    pub(crate) async fn listed_tools(&self) -> Option<Arc<Tools>> {
        self.list_wanted.send_replace(true);
        let mut tools = self.tools.subscribe();
        let listed = tools.wait_for(|list| !matches!(list, ToolList::Unknown));
        // The sender is part of `self`, so it is there.
        match &*listed.await.ok()? {
            ToolList::Known(tools) => Some(Arc::clone(tools)),
            ToolList::Unknown | ToolList::Unavailable => None,
        }
    }

    /// Tells when the client wants to see the tools.
    pub(crate) fn list_wanted(&self) -> watch::Receiver<bool> {
        self.list_wanted.subscribe()
    }

    /// Takes note of the list.
    pub(crate) fn list(&self, tools: ToolList) {
        self.tools.send_replace(tools);
    }
}

/// How many connections of their own clients have, by server.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<HashMap<Arc<str>, Arc<AtomicUsize>>>);

impl Places {
    /// A place for one more connection to a server; nothing if there are `most` already.
    pub(crate) fn take(&self, server: &Arc<str>, most: usize) -> Option<Place> {
        let count = Arc::clone(lock(&self.0).entry(Arc::clone(server)).or_default());
        let taken = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            (count < most).then_some(count + 1)
        });
        taken.is_ok().then_some(Place(count))
    }
}

/// A place, given back on drop.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_by_server_and_given_back() {
        let places = Places::default();
        let (one, other): (Arc<str>, Arc<str>) = ("one".into(), "other".into());
        let first = places.take(&one, 2).expect("room");
        let _second = places.take(&one, 2).expect("room");
        assert!(places.take(&one, 2).is_none() && places.take(&other, 2).is_some());
        drop(first);
        assert!(places.take(&one, 2).is_some());
    }
}
