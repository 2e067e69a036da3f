//! The prompts and resources of one server that a caller may see. Holds no snapshot, so that it may live as long as a call.

use std::sync::Arc;

use countersign_config::ItemKind;
use countersign_login::{AccessDecision, Item};
use countersign_wire::Method;

use super::call::Call;
use super::reply::{Reply, show_visible};
use crate::state::{Caller, Endpoint, Settings, Snapshot};

/// What a caller may see in lists of one server.
#[derive(Debug)]
pub(crate) struct VisibleItems {
    settings: Arc<Settings>,
    caller: Arc<Caller>,
    server: Arc<str>,
    method: Method,
}

impl VisibleItems {
    /// What may be seen in the reply to a request of one server. Nothing if that is everything.
    pub(crate) fn of_reply(snapshot: &Snapshot, call: &Call) -> Option<Self> {
        let (Endpoint::Server(server), true) = (&call.endpoint, call.method != Method::CallTool)
        else {
            return None;
        };
        Self::of_list(&snapshot.settings, &call.client.caller, server, call.method)
    }

    /// What may be seen in a list of one server. Nothing if that is everything.
    pub(crate) fn of_list(
        settings: &Arc<Settings>,
        caller: &Arc<Caller>,
        server: &Arc<str>,
        method: Method,
    ) -> Option<Self> {
        settings.access.as_ref()?;
        Some(Self {
            settings: Arc::clone(settings),
            caller: Arc::clone(caller),
            server: Arc::clone(server),
            method,
        })
    }

    /// The reply without what may not be seen.
    pub(crate) fn show(&self, reply: Reply) -> Reply {
        show_visible(reply, list_members(self.method), |name| self.has(name))
    }

    /// Whether an element of the list may be seen: by the name of a prompt, the address of a resource or a template.
    pub(crate) fn has(&self, name: &str) -> bool {
        let item = Item {
            server: &self.server,
            kind: match self.method {
                Method::ListPrompts => ItemKind::Prompt,
                _ => ItemKind::Resource,
            },
            name,
            hints: None,
        };
        let decided = self.settings.decide(&self.caller, item);
        !matches!(decided, AccessDecision::Denied(_))
    }
}

/// The member of a result that has the list, and the member of its elements that names them.
pub(crate) fn list_members(method: Method) -> Option<(&'static str, &'static str)> {
    Some(match method {
        Method::ListPrompts => ("prompts", "name"),
        Method::ListResources => ("resources", "uri"),
        Method::ListTemplates => ("resourceTemplates", "uriTemplate"),
        _ => return None,
    })
}
