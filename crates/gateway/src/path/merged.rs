//! Prompts, resources and completions on the endpoints that merge servers. Lists are asked of every server that has any,
//! by the path that every call takes, and joined; a name or an address that a client sends leads back to its server. A
//! server that does not answer in time is left out of the list.

mod item;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_client::NoteSink;
use countersign_inspect::Listing;
use countersign_tape::{Kind, ScanLimits, elements, scan};
use countersign_wire::json::member;
use countersign_wire::{Capability, Method};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::call::{self, Call};
use super::client::Client;
use super::visible::{VisibleItems, list_members};
use crate::services::Services;
use crate::state::names::{looks_wrapped, split_wire_name, unwrap_uri, wire_name, wrap_uri};
use crate::state::{Endpoint, Snapshot, names};
use item::Item;

/// How long a server may take for its whole list.
const WHOLE: Duration = Duration::from_secs(10);
const MAX_PAGES: usize = 1_000;
const MAX_ITEMS: usize = 10_000;
const MAX_BYTES: usize = 16 << 20;

/// Whether an endpoint shows several servers as one.
pub(crate) fn is_merged(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Router | Endpoint::Direct => true,
        Endpoint::Server(_) => false,
    }
}

/// A list of all servers.
#[derive(Debug)]
pub(crate) struct MergedList {
    /// The member of the result that has the list.
    pub(crate) member: &'static str,
    /// A JSON array.
    pub(crate) items: Listing,
    /// How long clients may keep it: the shortest time that a server allows.
    pub(crate) ttl_ms: u64,
}

/// The servers as one client of a merged endpoint sees them.
#[derive(Clone, Debug)]
pub(crate) struct MergedServers {
    pub(crate) services: Arc<Services>,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) client: Client,
}

impl MergedServers {
    /// The list of all servers. Nothing for a method that does not list.
    pub(crate) async fn list(&self, method: Method) -> Option<MergedList> {
        let (member, key) = list_members(method)?;
        let lists = self.fetch(method, |_| true).await;
        let ttl_ms = lists.iter().map(|list| list.ttl_ms).min().unwrap_or(0);
        let mut items = vec![b'['];
        for list in &lists {
            let view = self.view(&list.server);
            let (settings, caller) = (&self.snapshot.settings, &self.client.caller);
            let visible = VisibleItems::of_list(settings, caller, &list.server, method);
            let is_seen = |item: &Item<'_>| visible.as_ref().is_none_or(|it| it.has(&item.text));
            let all = list.items.iter().filter_map(|raw| Item::read(raw, key));
            for item in all.filter(is_seen) {
                let shown = view.shown_key(method, &item.text);
                if items.len() > 1 {
                    items.push(b',');
                }
                items.extend(item.with_text(&shown));
            }
        }
        items.push(b']');
        Some(MergedList {
            member,
            items: Listing::admit(items),
            ttl_ms,
        })
    }

    /// The server that a prompt's name leads to, and the name it has there.
    pub(crate) async fn find_prompt(&self, shown: &str) -> Option<(Arc<str>, String)> {
        let (server, rest) = split_wire_name(shown)?;
        let server = self.snapshot.server(server)?.upstream.name();
        if !names::may_be_marked(shown) {
            return Some((Arc::clone(server), rest.to_owned()));
        }
        let directory = &self.services.directory;
        let mut found = directory.marked_prompt(server, shown);
        if found.is_none() {
            // The list is not known, or may have changed since.
            self.fetch(Method::ListPrompts, |name| *name == **server)
                .await;
            found = directory.marked_prompt(server, shown);
        }
        Some((Arc::clone(server), found.unwrap_or_else(|| rest.to_owned())))
    }

    /// The server that the address of a resource, or a template, leads to, and the address it has there.
    pub(crate) async fn find_resource(&self, shown: &str) -> Option<(Arc<str>, String)> {
        if looks_wrapped(shown) {
            let (server, uri) = unwrap_uri(shown)?;
            let server = self.snapshot.server(server)?.upstream.name();
            return Some((Arc::clone(server), uri.to_owned()));
        }
        let directory = &self.services.directory;
        let owner = || {
            let owner = directory.owner(shown);
            owner.filter(|owner| self.snapshot.server(owner).is_some())
        };
        let mut found = self.sole_server().cloned().or_else(owner);
        if found.is_none() {
            self.fetch(Method::ListResources, |_| true).await;
            self.fetch(Method::ListTemplates, |_| true).await;
            found = owner();
        }
        Some((found?, shown.to_owned()))
    }

    /// How the client is shown what a server has.
    pub(crate) fn view(&self, server: &Arc<str>) -> ServerView {
        ServerView {
            services: Arc::clone(&self.services),
            server: Arc::clone(server),
            is_sole: self.sole_server().is_some_and(|sole| sole == server),
        }
    }

    /// The one server that has resources, if only one has.
    fn sole_server(&self) -> Option<&Arc<str>> {
        let mut able = self.able_servers(Capability::Resources);
        let first = able.next()?;
        able.next().is_none().then_some(first)
    }

    /// The servers with a capability, as far as they are there.
    fn able_servers(&self, capability: Capability) -> impl Iterator<Item = &Arc<str>> {
        let servers = self.snapshot.servers().iter();
        let able = servers.filter(move |server| {
            let capabilities = server.upstream.capabilities();
            capabilities.is_some_and(|capabilities| capabilities.has(capability))
        });
        able.map(|server| server.upstream.name())
    }

    /// Asks servers for their lists and takes note of them; in the order of the configuration.
    async fn fetch(&self, method: Method, is_wanted: impl Fn(&str) -> bool) -> Vec<ServerList> {
        let Some((member, key)) = list_members(method) else {
            return Vec::new();
        };
        let directory = &self.services.directory;
        directory.retain(|server| self.snapshot.server(server).is_some());
        let mut asked = JoinSet::new();
        let servers = self.able_servers(method.capability());
        for (index, server) in servers.filter(|name| is_wanted(name)).enumerate() {
            let (this, server) = (self.clone(), Arc::clone(server));
            asked.spawn(async move {
                let list = this.pages(&server, method, member);
                (index, timeout(WHOLE, list).await.ok().flatten())
            });
        }
        let mut lists = asked.join_all().await;
        lists.sort_by_key(|(index, _)| *index);
        let lists: Vec<ServerList> = lists.into_iter().filter_map(|(_, list)| list).collect();
        for list in &lists {
            let items = list.items.iter().filter_map(|raw| Item::read(raw, key));
            let keys: Vec<String> = items.map(|item| item.text).collect();
            directory.replace(&list.server, method, keys.iter().map(String::as_str));
        }
        lists
    }

    /// Every page of one server's list; nothing if the server does not answer.
    async fn pages(&self, server: &Arc<str>, method: Method, member: &str) -> Option<ServerList> {
        let mut list = ServerList {
            server: Arc::clone(server),
            items: Vec::new(),
            ttl_ms: u64::MAX,
        };
        let (mut cursor, mut bytes) = (None, 0);
        for _ in 0..MAX_PAGES {
            let page = self.page(server, method, cursor.as_deref()).await;
            let page = Page::read(&page, member)?;
            bytes += page.bytes;
            list.ttl_ms = list.ttl_ms.min(page.ttl_ms);
            list.items.extend(page.items);
            let is_full = list.items.len() > MAX_ITEMS || bytes > MAX_BYTES;
            if is_full || page.next.is_none() || page.next == cursor {
                break;
            }
            cursor = page.next;
        }
        list.items.truncate(MAX_ITEMS);
        Some(list)
    }

    /// One page, asked for by the path that every call takes; the cursor is a raw JSON token.
    async fn page(&self, server: &Arc<str>, method: Method, cursor: Option<&[u8]>) -> Bytes {
        let params = match cursor {
            None => Bytes::from_static(b"{}"),
            Some(cursor) => [b"{\"cursor\":", cursor, b"}"].concat().into(),
        };
        let call = Call {
            id: Bytes::from_static(b"0"),
            endpoint: Endpoint::Server(Arc::clone(server)),
            client: self.client.clone(),
            method,
            name: method.as_str().to_owned(),
            params,
            arguments: None,
            notes: NoteSink::closed(),
            // A request of the gateway itself, of which signals tell nothing.
            signals: None,
        };
        // When the client goes away this is dropped, and the call learns it.
        let (_keep, gone) = oneshot::channel();
        let (services, snapshot) = (Arc::clone(&self.services), Arc::clone(&self.snapshot));
        let reply = call::make(services, snapshot, call, gone).await;
        reply.body.into_bytes()
    }
}

/// One server's whole list.
#[derive(Debug)]
struct ServerList {
    server: Arc<str>,
    items: Vec<Bytes>,
    ttl_ms: u64,
}

/// One page of a list, taken apart.
struct Page {
    items: Vec<Bytes>,
    /// The token of the next cursor.
    next: Option<Vec<u8>>,
    ttl_ms: u64,
    bytes: usize,
}

impl Page {
    fn read(reply: &Bytes, list: &str) -> Option<Self> {
        let hard = ScanLimits {
            max_bytes: usize::MAX,
            ..ScanLimits::default()
        };
        let result = scan(reply, &hard).ok()?.result()?;
        let items = member(reply, result, list)?;
        if items.kind(reply) != Some(Kind::Array) {
            return None;
        }
        let next = member(reply, result, "nextCursor");
        let next = next.filter(|next| next.kind(reply) == Some(Kind::String));
        let ttl_ms = member(reply, result, "ttlMs");
        let ttl_ms =
            ttl_ms.and_then(|ttl| std::str::from_utf8(ttl.bytes(reply)).ok()?.parse().ok());
        Some(Self {
            items: elements(reply, items)
                .map(|item| reply.slice_ref(item.bytes(reply)))
                .collect(),
            next: next.map(|next| next.bytes(reply).to_vec()),
            ttl_ms: ttl_ms.unwrap_or(0),
            bytes: reply.len(),
        })
    }
}

/// How clients of the merged endpoints are shown what one server has. Holds no snapshot, so that it may live as long as a
/// call.
#[derive(Debug)]
pub(crate) struct ServerView {
    services: Arc<Services>,
    server: Arc<str>,
    /// Whether it is the only server that has resources: its addresses lead to it whatever they are.
    is_sole: bool,
}

impl ServerView {
    /// The address of a resource.
    pub(crate) fn shown_uri(&self, uri: &str) -> String {
        self.shown_key(Method::ListResources, uri)
    }

    /// A prompt's name, a resource's address or a template.
    fn shown_key(&self, method: Method, key: &str) -> String {
        let (server, directory) = (&*self.server, &self.services.directory);
        match method {
            Method::ListPrompts => wire_name(server, key),
            _ if self.is_sole && looks_wrapped(key) => wrap_uri(server, key),
            _ if self.is_sole => key.to_owned(),
            Method::ListTemplates => directory.shown_template(server, key),
            _ => directory.shown_uri(server, key),
        }
    }
}
