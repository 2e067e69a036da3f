//! What one caller may see and use of a snapshot. Lists, searches and routes are made of what is here and of nothing else, so
//! that what a caller is shown is what it can call.

use std::ops::Deref;
use std::sync::Arc;

use countersign_config::ItemKind;
use countersign_inspect::{ClientEra, Listing};
use countersign_login::{AccessDecision, Item, RulePath};

use super::tools::joined;
use crate::state::{Caller, Endpoint, Naming, Server, Snapshot, Tool, Tools};

/// A snapshot as one caller sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallerView<'a> {
    snapshot: &'a Snapshot,
    caller: &'a Caller,
}

/// A tool that a caller may see. Only [`CallerView`] makes it.
#[derive(Clone, Debug)]
pub(crate) struct VisibleTool<'a> {
    server: &'a Server,
    tool: Arc<Tool>,
    /// The rule whose scopes the caller's token lacks; nothing if it may call the tool.
    needs: Option<RulePath>,
}

/// Something that a caller may use: a tool, or the stand-in of a prompt or resource. Only [`CallerView`] makes it.
#[derive(Clone, Debug)]
pub(crate) struct Permitted<'a> {
    server: &'a Server,
    tool: Arc<Tool>,
}

/// A list of tools as one caller may see them.
#[derive(Debug)]
pub(crate) enum CallerList<'a> {
    /// The list that every caller sees.
    Shared(&'a Listing),
    Own(Listing),
}

impl Deref for CallerList<'_> {
    type Target = Listing;

    fn deref(&self) -> &Listing {
        match self {
            Self::Shared(listing) => listing,
            Self::Own(listing) => listing,
        }
    }
}

/// What was decided against a caller, and about what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denial {
    pub(crate) by: RulePath,
    pub(crate) server: Arc<str>,
    /// The tool, prompt or resource.
    pub(crate) name: String,
}

/// Why a caller does not see a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// There is none.
    Unknown,
    /// A rule denies it.
    Denied(Denial),
}

/// Why a caller may not use a prompt or a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// A rule denies it.
    Denied(Denial),
    /// The caller's token lacks scopes of this rule.
    Needs(Denial),
}

impl Snapshot {
    /// What this caller may see and use.
    pub(crate) fn for_caller<'a>(&'a self, caller: &'a Caller) -> CallerView<'a> {
        CallerView {
            snapshot: self,
            caller,
        }
    }
}

impl<'a> CallerView<'a> {
    /// The snapshot itself.
    pub(crate) fn snapshot(self) -> &'a Snapshot {
        self.snapshot
    }

    /// Whether there are no rules, so that the caller sees everything.
    pub(crate) fn is_open(self) -> bool {
        self.snapshot.settings.access.is_none()
    }

    /// Whether the caller may see anything of a server.
    pub(crate) fn may_reach(self, server: &str) -> bool {
        self.snapshot.settings.may_reach(self.caller, server)
    }

    /// A tool of a server, if the caller may see it.
    pub(crate) fn see(
        self,
        server: &'a Server,
        tool: &Arc<Tool>,
    ) -> Result<VisibleTool<'a>, Hidden> {
        let name = server.upstream.name();
        let item = Item {
            server: name,
            kind: ItemKind::Tool,
            name: tool.name(),
            hints: Some(tool.hints()),
        };
        let needs = match self.snapshot.settings.decide(self.caller, item) {
            AccessDecision::Permit(_) => None,
            AccessDecision::Needs(by) => Some(by),
            AccessDecision::Denied(by) => {
                return Err(Hidden::Denied(denial(by, server, item.name)));
            }
        };
        Ok(VisibleTool {
            server,
            tool: Arc::clone(tool),
            needs,
        })
    }

    /// The tool that an endpoint has under a name. `own`: the tools that the server of the endpoint shows this client alone.
    pub(crate) fn tool(
        self,
        endpoint: &Endpoint,
        name: &str,
        own: Option<&Arc<Tools>>,
    ) -> Result<VisibleTool<'a>, Hidden> {
        let shared = self.snapshot.tool(endpoint, name);
        let own = own.and_then(|tools| match endpoint {
            Endpoint::Server(name) => Some((self.snapshot.server(name)?, tools)),
            Endpoint::Router | Endpoint::Direct => None,
        });
        let Some((server, tools)) = own else {
            let (server, tool) = shared.ok_or(Hidden::Unknown)?;
            return self.see(server, tool);
        };
        let own = tools.get(name).ok_or(Hidden::Unknown)?;
        match shared {
            Some((_, tool)) if Arc::ptr_eq(tool, own) || tool.raw() == own.raw() => {
                self.see(server, tool)
            }
            _ => {
                let config = &self.snapshot.settings.config;
                let visible = self.see(server, own)?;
                let tool = own.under_policy_of(config, server.upstream.name());
                Ok(VisibleTool { tool, ..visible })
            }
        }
    }

    /// The tool that a server has under its own name.
    pub(crate) fn server_tool(
        self,
        server: &'a Server,
        name: &str,
    ) -> Result<VisibleTool<'a>, Hidden> {
        let tool = server.tools.get(name).ok_or(Hidden::Unknown)?;
        self.see(server, tool)
    }

    /// Prompts or resources of a server, all of which the caller may use; none for a request that names none, such as for a
    /// list. `stand_in` makes what the path of a call needs in place of a tool.
    pub(crate) fn items(
        self,
        server: &'a Server,
        named: &[(ItemKind, String)],
        stand_in: impl FnOnce() -> Tool,
    ) -> Result<Permitted<'a>, Unusable> {
        for (kind, name) in named {
            let item = Item {
                server: server.upstream.name(),
                kind: *kind,
                name,
                hints: None,
            };
            match self.snapshot.settings.decide(self.caller, item) {
                AccessDecision::Permit(_) => {}
                AccessDecision::Needs(by) => {
                    return Err(Unusable::Needs(denial(by, server, name)));
                }
                AccessDecision::Denied(by) => {
                    return Err(Unusable::Denied(denial(by, server, name)));
                }
            }
        }
        Ok(Permitted {
            server,
            tool: Arc::new(stand_in()),
        })
    }

    /// The list of an endpoint's tools; nothing for a server that is not there, and for the router, whose tools are the
    /// gateway's own. `own`: the tools that the server of the endpoint shows this client alone.
    pub(crate) fn list(
        self,
        endpoint: &Endpoint,
        own: Option<&Arc<Tools>>,
        client: ClientEra,
    ) -> Option<CallerList<'a>> {
        let Self { snapshot, .. } = self;
        match endpoint {
            Endpoint::Router => None,
            Endpoint::Direct if self.is_open() => Some(CallerList::Shared(snapshot.list(client))),
            Endpoint::Direct => {
                let tools = snapshot.merged_tools();
                let seen = tools.filter_map(|(server, tool)| self.see(server, tool).ok());
                Some(listing(seen, Naming::Prefixed, client))
            }
            Endpoint::Server(name) => {
                let server = snapshot.server(name)?;
                match own {
                    None if self.is_open() => Some(CallerList::Shared(server.list(client))),
                    own => {
                        let tools = own.map_or(&server.tools, |own| own).all().iter();
                        let seen = tools.filter_map(|tool| self.see(server, tool).ok());
                        Some(listing(seen, Naming::Original, client))
                    }
                }
            }
        }
    }
}

fn denial(by: RulePath, server: &Server, name: &str) -> Denial {
    Denial {
        by,
        server: Arc::clone(server.upstream.name()),
        name: name.to_owned(),
    }
}

fn listing<'a>(
    tools: impl Iterator<Item = VisibleTool<'a>>,
    naming: Naming,
    client: ClientEra,
) -> CallerList<'a> {
    let entries = tools.map(|tool| tool.list_entry(naming, client));
    CallerList::Own(Listing::admit(joined(entries)))
}

impl<'a> VisibleTool<'a> {
    /// Its server.
    pub(crate) fn server(&self) -> &'a Server {
        self.server
    }

    /// The tool as a client sees it.
    pub(crate) fn list_entry(&self, naming: Naming, client: ClientEra) -> Vec<u8> {
        self.tool.list_entry(naming, client)
    }

    /// The same tool to be called, or what the caller's token lacks.
    pub(crate) fn permit(self) -> Result<Permitted<'a>, Denial> {
        let Self {
            server,
            tool,
            needs,
        } = self;
        match needs {
            None => Ok(Permitted { server, tool }),
            Some(by) => Err(denial(by, server, tool.name())),
        }
    }
}

impl Deref for VisibleTool<'_> {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl<'a> Permitted<'a> {
    pub(crate) fn server(&self) -> &'a Server {
        self.server
    }

    pub(crate) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }
}
