//! Everything a call is decided by, at one moment: the configuration, the servers and their tools.
//! Immutable. A call is decided by one snapshot and sees nothing newer; a change makes a new one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use countersign_audit::KeyDigest;
use countersign_client::ServerHandle;
use countersign_inspect::{ClientEra, Listing};

use super::tools::joined;
use crate::state::{Endpoint, Naming, Settings, Tool, Tools};

/// The kinds of clients: each is shown a list of its own.
const ERAS: [ClientEra; 3] = [
    ClientEra::Legacy,
    ClientEra::Modern,
    ClientEra::Unnegotiated,
];

/// The state of the gateway at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) settings: Arc<Settings>,
    servers: Vec<Server>,
    by_name: HashMap<Arc<str>, usize>,
    /// Tools by their `server__tool` names.
    by_wire_name: HashMap<String, (usize, Arc<Tool>)>,
    lists: ListCache,
    /// Changes when servers come or go, which the revisions of the servers do not show.
    revision: u64,
}

/// A server at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) upstream: Arc<ServerHandle>,
    pub(crate) tools: Arc<Tools>,
    /// What it says about itself, as a JSON string.
    pub(crate) instructions: Option<Bytes>,
    /// Whether its list has been asked for in this run, with or without success.
    pub(crate) settled: bool,
    /// Counts up with every change of its list.
    revision: u64,
    lists: Arc<ListCache>,
}

impl Server {
    pub(crate) fn new(upstream: Arc<ServerHandle>, tools: Arc<Tools>) -> Self {
        Self {
            upstream,
            tools,
            instructions: None,
            settled: false,
            revision: 0,
            lists: Arc::default(),
        }
    }

    /// The same server with other tools.
    pub(crate) fn with_tools(
        &self,
        tools: Arc<Tools>,
        instructions: Option<Bytes>,
        changed: bool,
    ) -> Self {
        let server = if changed {
            self.relisted()
        } else {
            self.clone()
        };
        Self {
            tools,
            instructions,
            settled: true,
            ..server
        }
    }

    /// The server that replaces this one: another server of its name, or the same one under other policies. Clients are
    /// told of a new list only if the list differs.
    pub(crate) fn succeeded_by(&self, mut next: Self) -> Self {
        next.revision = self.revision;
        let same = |era: &ClientEra| self.list(*era).bytes() == next.list(*era).bytes();
        if ERAS.iter().all(same) {
            return next;
        }
        next.relisted()
    }

    /// The same server under other limits and policies.
    pub(crate) fn with_policy(
        &self,
        upstream: Arc<ServerHandle>,
        tools: Arc<Tools>,
        instructions: Option<Bytes>,
    ) -> Self {
        self.succeeded_by(Self {
            instructions,
            settled: self.settled,
            ..Self::new(upstream, tools)
        })
    }

    /// A server that is not in `before`. Its revision differs from that of every list in `before`.
    pub(crate) fn appearing_after(mut self, before: &Snapshot) -> Self {
        self.revision = before.revision(&Endpoint::Direct).wrapping_add(1);
        self
    }

    /// The same server whose tools are listed differently.
    pub(crate) fn relisted(&self) -> Self {
        Self {
            revision: self.revision + 1,
            lists: Arc::default(),
            ..self.clone()
        }
    }

    /// The server's tools under their own names, for callers that may see all of them.
    pub(super) fn list(&self, client: ClientEra) -> &Listing {
        self.lists.get(client, || {
            let tools = self.tools.all().iter();
            joined(tools.map(|tool| tool.list_entry(Naming::Original, client)))
        })
    }
}

impl Snapshot {
    pub(crate) fn new(settings: Arc<Settings>, servers: Vec<Server>) -> Self {
        Self::assemble(settings, servers, 0)
    }

    /// The next snapshot, with other settings or servers.
    pub(crate) fn succeeded_by(&self, settings: Arc<Settings>, servers: Vec<Server>) -> Self {
        // Under other rules a caller's list is another one, although the servers list the same.
        let has_same_access = self.settings.has_same_access(&settings);
        let servers = if has_same_access {
            servers
        } else {
            servers.iter().map(Server::relisted).collect()
        };
        let mut next = Self::assemble(settings, servers, 0);
        let same = |era: &ClientEra| self.list(*era).bytes() == next.list(*era).bytes();
        let news = !(ERAS.iter().all(same) && has_same_access);
        let before = self.revision(&Endpoint::Direct);
        let after = next.revision(&Endpoint::Direct);
        next.revision = before.wrapping_add(u64::from(news)).wrapping_sub(after);
        next
    }

    /// The same snapshot, in which these keys and certificates open nothing.
    pub(crate) fn without_revoked(&self, keys: &HashSet<KeyDigest>) -> Self {
        let settings = Arc::new(self.settings.without_revoked(keys));
        self.succeeded_by(settings, self.servers.clone())
    }

    fn assemble(settings: Arc<Settings>, servers: Vec<Server>, revision: u64) -> Self {
        let by_name = servers.iter().enumerate();
        let by_name = by_name.map(|(index, server)| (Arc::clone(server.upstream.name()), index));
        let mut by_wire_name = HashMap::new();
        for (index, server) in servers.iter().enumerate() {
            for tool in server.tools.all() {
                let name = tool.wire_name().to_owned();
                by_wire_name
                    .entry(name)
                    .or_insert((index, Arc::clone(tool)));
            }
        }
        Self {
            by_name: by_name.collect(),
            by_wire_name,
            settings,
            servers,
            lists: ListCache::default(),
            revision,
        }
    }

    /// The same state with one server changed.
    pub(crate) fn replacing(&self, name: &str, change: impl FnOnce(&Server) -> Server) -> Self {
        let mut servers = self.servers.clone();
        if let Some(server) = self
            .by_name
            .get(name)
            .and_then(|index| servers.get_mut(*index))
        {
            *server = change(server);
        }
        Self::assemble(Arc::clone(&self.settings), servers, self.revision)
    }

    /// Every server, in the order of the configuration.
    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The server of this name.
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.get(*self.by_name.get(name)?)
    }

    /// Changes whenever the list of the endpoint changes. Compare for equality only.
    pub(crate) fn revision(&self, endpoint: &Endpoint) -> u64 {
        let servers = self.servers_behind(endpoint).map(|server| server.revision);
        match endpoint {
            Endpoint::Direct => servers.fold(self.revision, u64::wrapping_add),
            Endpoint::Router | Endpoint::Server(_) => servers.fold(0, u64::wrapping_add),
        }
    }

    /// How long clients may keep the list behind an endpoint: the shortest time that one of
    /// its servers allows.
    pub(crate) fn ttl_ms(&self, endpoint: &Endpoint) -> u64 {
        let ttls = self
            .servers_behind(endpoint)
            .map(|server| server.tools.ttl_ms);
        ttls.min().unwrap_or(0)
    }

    /// The servers whose lists an endpoint shows. The router has a list of its own.
    fn servers_behind<'a>(&'a self, endpoint: &'a Endpoint) -> impl Iterator<Item = &'a Server> {
        self.servers.iter().filter(move |server| match endpoint {
            Endpoint::Router => false,
            Endpoint::Direct => true,
            Endpoint::Server(name) => server.upstream.name() == name,
        })
    }

    /// The servers whose prompts and resources an endpoint shows: the router shows all of them.
    pub(crate) fn reachable_servers<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> impl Iterator<Item = &'a Server> {
        self.servers.iter().filter(move |server| match endpoint {
            Endpoint::Router | Endpoint::Direct => true,
            Endpoint::Server(name) => server.upstream.name() == name,
        })
    }

    /// The tool that an endpoint has under this name, and its server. None on the router, whose tools are the gateway's own.
    pub(super) fn tool(&self, endpoint: &Endpoint, name: &str) -> Option<(&Server, &Arc<Tool>)> {
        match endpoint {
            Endpoint::Router => None,
            Endpoint::Direct => {
                let (index, tool) = self.by_wire_name.get(name)?;
                Some((self.servers.get(*index)?, tool))
            }
            Endpoint::Server(server) => {
                let server = self.server(server)?;
                Some((server, server.tools.get(name)?))
            }
        }
    }

    /// Whether the servers behind an endpoint have been asked for their tools in this run, with or without success.
    pub(crate) fn is_settled(&self, endpoint: &Endpoint) -> bool {
        match endpoint {
            Endpoint::Server(name) => self.server(name).is_none_or(|server| server.settled),
            Endpoint::Router | Endpoint::Direct => self.servers.iter().all(|server| server.settled),
        }
    }

    /// Every tool of every server, under `server__tool` names, for callers that may see all of them.
    pub(super) fn list(&self, client: ClientEra) -> &Listing {
        self.lists.get(client, || {
            let tools = self.merged_tools();
            joined(tools.map(|(_, tool)| tool.list_entry(Naming::Prefixed, client)))
        })
    }

    /// Every tool that its `server__tool` name leads to, with its server.
    pub(super) fn merged_tools(&self) -> impl Iterator<Item = (&Server, &Arc<Tool>)> {
        let servers = self.servers.iter();
        let tools =
            servers.flat_map(|server| server.tools.all().iter().map(move |tool| (server, tool)));
        tools.filter(|(_, tool)| {
            let winner = self.by_wire_name.get(tool.wire_name());
            winner.is_some_and(|(_, winner)| Arc::ptr_eq(winner, tool))
        })
    }
}

/// Lists as they were last written, one per kind of client.
#[derive(Debug, Default)]
struct ListCache {
    legacy: OnceLock<Listing>,
    modern: OnceLock<Listing>,
    unnegotiated: OnceLock<Listing>,
}

impl ListCache {
    fn get(&self, client: ClientEra, write: impl FnOnce() -> Vec<u8>) -> &Listing {
        let list = match client {
            ClientEra::Legacy => &self.legacy,
            ClientEra::Modern => &self.modern,
            ClientEra::Unnegotiated => &self.unnegotiated,
        };
        list.get_or_init(|| Listing::admit(write()))
    }
}
