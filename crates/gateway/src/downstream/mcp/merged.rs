//! Prompts, resources and completions where several servers are shown as one. A request is made one to the server that it
//! leads to, as if it had come in at the endpoint of that server.

use std::sync::Arc;

use countersign_inspect::ClientEra;
use countersign_tape::{Kind, Span};
use countersign_wire::{Capabilities, Capability, Method};

use super::{Request, ServeResult};
use crate::path::call::Call;
use crate::path::merged::{MergedServers, ServerView, is_merged};
use crate::path::reply::{self, Problem};
use crate::path::route;
use crate::services::{Services, WatchedResource};
use crate::state::{Endpoint, Snapshot};

/// What the merged endpoints offer besides tools, whatever the servers have at the moment: servers come and go.
pub(super) fn capabilities() -> Capabilities {
    let mut all: Capabilities = [
        Capability::Logging,
        Capability::Prompts,
        Capability::Resources,
        Capability::Completions,
    ]
    .into_iter()
    .collect();
    all.prompt_changes = true;
    all.resource_changes = true;
    all.resource_updates = true;
    all
}

/// How the addresses of one server's resources are written for a client of a merged endpoint.
pub(super) struct Links {
    view: ServerView,
    /// The server's own address of the resource that the client asked for, and the address that the client used.
    asked: Option<(String, String)>,
}

impl Links {
    /// Those in the result of a tool. Nothing if the endpoint is one server's, or the server has no resources.
    pub(super) fn of_tool(
        services: &Arc<Services>,
        snapshot: &Arc<Snapshot>,
        call: &Call,
    ) -> Option<Self> {
        if !is_merged(&call.endpoint) {
            return None;
        }
        let server = route::server_of(snapshot, call)?;
        let capabilities = server.upstream.capabilities()?;
        if !capabilities.has(Capability::Resources) {
            return None;
        }
        let servers = MergedServers {
            services: Arc::clone(services),
            snapshot: Arc::clone(snapshot),
            client: call.client.clone(),
        };
        let view = servers.view(server.upstream.name());
        Some(Self { view, asked: None })
    }

    /// An address as the client knows it.
    pub(super) fn shown(&self, uri: &str) -> String {
        match &self.asked {
            Some((own, shown)) if own == uri => shown.clone(),
            _ => self.view.shown_uri(uri),
        }
    }
}

impl Request<'_> {
    /// The servers as the client sees them.
    fn merged_servers(&self) -> MergedServers {
        MergedServers {
            services: Arc::clone(self.services),
            snapshot: Arc::clone(&self.snapshot),
            client: self.client.clone(),
        }
    }

    /// Answers a list, or makes the request one to the server that it leads to.
    pub(super) async fn call_merged(mut self, method: Method) -> ServeResult {
        let is_subscription = matches!(method, Method::Subscribe | Method::Unsubscribe);
        if is_subscription && self.client.era == ClientEra::Modern {
            return Err((self.id, Problem::Method));
        }
        self.snapshot = self
            .tool_list_wait
            .wait(Arc::clone(&self.snapshot), &self.endpoint)
            .await;
        let servers = self.merged_servers();
        if let Some(cursor) = self.message.param("cursor")
            && Span::whole(&cursor).kind(&cursor) != Some(Kind::Null)
            && method.named_by().is_none()
        {
            // The gateway answers with one page, so it never gave out a cursor.
            return Err((self.id, Problem::Params("unknown cursor")));
        }
        if let Some(list) = servers.list(method).await {
            let era = self.client.era;
            return Ok(reply::list(&self.id, list.member, &list.items, list.ttl_ms, era).into());
        }
        let Some(key) = self.key(method) else {
            return Err((self.id, Problem::Params("name, uri or ref is missing")));
        };
        let found = if key.is_prompt {
            servers.find_prompt(&key.text).await
        } else {
            servers.find_resource(&key.text).await
        };
        let Some((server, own)) = found else {
            let problem = if key.is_prompt {
                Problem::Params("unknown prompt")
            } else {
                Problem::Resource
            };
            return Err((self.id, problem));
        };
        let Some(message) = self.message.replacing(key.path, &own) else {
            return Err((self.id, Problem::Params("name, uri or ref cannot be read")));
        };
        self.message = message;
        self.endpoint = Endpoint::Server(Arc::clone(&server));
        let asked = (!key.is_prompt).then_some((own, key.text));
        let view = servers.view(&server);
        drop(servers);
        let links = Links { view, asked };
        self.forward(method, Some(links)).await
    }

    /// The name or address that says which server a request is for.
    fn key(&self, method: Method) -> Option<Key> {
        if let Some(member) = method.named_by() {
            return Some(Key {
                text: self.message.name_param(member)?,
                is_prompt: method == Method::GetPrompt,
                path: match method {
                    Method::GetPrompt => &["name"],
                    _ => &["uri"],
                },
            });
        }
        let is_prompt = self.message.text_at(&["ref", "type"])? == "ref/prompt";
        let path: &[&str] = if is_prompt {
            &["ref", "name"]
        } else {
            &["ref", "uri"]
        };
        Some(Key {
            text: self.message.text_at(path)?,
            is_prompt,
            path,
        })
    }

    /// The resources that a modern client subscribes to, of servers that can tell of them.
    pub(super) async fn watched_resources(&self, uris: &[String]) -> Vec<WatchedResource> {
        let mut watched = Vec::new();
        let servers = self.merged_servers();
        for shown in uris {
            let found = match &self.endpoint {
                Endpoint::Server(name) => Some((Arc::clone(name), shown.clone())),
                Endpoint::Router | Endpoint::Direct => servers.find_resource(shown).await,
            };
            if let Some((server, uri)) = found
                && self.tells_of_resources(&server)
                && self.may_use_resource(&server, &uri)
            {
                let shown = shown.clone();
                watched.push(WatchedResource { server, uri, shown });
            }
        }
        watched
    }
}

/// What says which server a request is for.
struct Key {
    text: String,
    is_prompt: bool,
    /// Where it stands in `params`.
    path: &'static [&'static str],
}
