//! Which tool a call means, and which policy holds for it. A call names its tool in one of three ways, depending on the
//! endpoint it came in by; after routing they are all the same.

use std::sync::Arc;

use bytes::Bytes;
use countersign_client::ServerHandle;
use countersign_inspect::{Listing, Policy, Refusal};
use countersign_tape::{Edits, Kind, ScanLimits, Span, scan};
use countersign_wire::Method;
use countersign_wire::json::member;

use crate::path::call::Call;
use crate::path::router::{self, NotFound, RouterTool};
use crate::state::{
    Denial, Endpoint, Hidden, Permitted, Server, Settings, Snapshot, Tool, Unusable, VisibleTool,
};

/// Where a call goes, and which policy and settings decide it to its end.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) upstream: Arc<ServerHandle>,
    pub(crate) method: Method,
    /// The tool. A prompt, resource or completion has a stand-in that declares nothing.
    pub(crate) tool: Arc<Tool>,
    /// The name of the tool, prompt or resource, if the method names one.
    name: Option<String>,
    pub(crate) policy: Policy,
    pub(crate) settings: Arc<Settings>,
    /// The `params` to send, before they are fitted to the upstream.
    pub(crate) params: Bytes,
    pub(crate) arguments: Option<Bytes>,
}

/// What a call means.
#[derive(Debug)]
pub(crate) enum Target {
    /// A server's tool.
    Tool(Arc<Route>),
    /// A question the gateway answers itself.
    Answered(Listing),
}

impl From<Route> for Target {
    fn from(route: Route) -> Self {
        Self::Tool(Arc::new(route))
    }
}

/// Why a call goes nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unroutable {
    /// The endpoint has no such tool: a mistake of the client's.
    UnknownTool,
    /// A rule denies it to the caller, which is told that there is no such thing.
    Denied(Denial),
    /// The caller's token lacks scopes of a rule.
    Needs(Denial),
    /// A router tool was used in a way the model can correct.
    Refused(Refusal),
}

impl From<Hidden> for Unroutable {
    fn from(hidden: Hidden) -> Self {
        match hidden {
            Hidden::Unknown => Self::UnknownTool,
            Hidden::Denied(denial) => Self::Denied(denial),
        }
    }
}

impl From<NotFound> for Unroutable {
    fn from(not_found: NotFound) -> Self {
        match not_found {
            NotFound::Refused(refusal) => Self::Refused(refusal),
            NotFound::Denied(denial) => Self::Denied(denial),
        }
    }
}

impl From<Unusable> for Unroutable {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Denied(denial) => Self::Denied(denial),
            Unusable::Needs(denial) => Self::Needs(denial),
        }
    }
}

/// Whether a call has to wait for servers that have not listed their tools yet: it searches their tools, or names a tool
/// that is not known. One that is denied waits like one that is not known.
pub(crate) fn waits_for_lists(snapshot: &Snapshot, call: &Call) -> bool {
    let searches = call.endpoint == Endpoint::Router
        && RouterTool::from_name(&call.name) == Some(RouterTool::Retrieve);
    let is_unknown = || {
        let found = route(snapshot, call);
        matches!(
            found,
            Err(Unroutable::UnknownTool
                | Unroutable::Denied(_)
                | Unroutable::Refused(Refusal::UnknownTool))
        )
    };
    !snapshot.is_settled(&call.endpoint) && (searches || is_unknown())
}

/// Finds the tool a call means.
pub(crate) fn route(snapshot: &Snapshot, call: &Call) -> Result<Target, Unroutable> {
    if call.method != Method::CallTool {
        return other(snapshot, call);
    }
    if call.endpoint == Endpoint::Router {
        let router_tool = RouterTool::from_name(&call.name).ok_or(Unroutable::UnknownTool)?;
        return by_router(snapshot, router_tool, call);
    }
    let permitted = find(snapshot, call)?.permit();
    let permitted = permitted.map_err(Unroutable::Needs)?;
    Ok(Route::as_called(snapshot, &permitted, call).into())
}

/// The tool that a call names. A client with a connection of its own may be shown tools that others are not.
pub(crate) fn find<'a>(snapshot: &'a Snapshot, call: &'a Call) -> Result<VisibleTool<'a>, Hidden> {
    let own = call.client.session.as_ref().and_then(|session| {
        let Endpoint::Server(name) = &call.endpoint else {
            return None;
        };
        let server = snapshot.server(name)?;
        session.private_server(&server.upstream)?.tools()
    });
    let view = snapshot.for_caller(&call.client.caller);
    view.tool(&call.endpoint, &call.name, own.as_ref())
}

/// The server that a call of a tool goes to, if there is such a tool for the caller.
pub(crate) fn server_of<'a>(snapshot: &'a Snapshot, call: &'a Call) -> Option<&'a Server> {
    if call.endpoint != Endpoint::Router {
        return find(snapshot, call).ok().map(|tool| tool.server());
    }
    let requested = RouterCall::read(call.arguments.as_ref()?)?;
    let view = snapshot.for_caller(&call.client.caller);
    let tool = router::find(view, &requested.name).ok()?;
    Some(tool.server())
}

/// Whether a call names a tool that its endpoint does not have for the caller.
pub(crate) fn is_unknown_tool(snapshot: &Snapshot, call: &Call) -> bool {
    let names_tool = call.method == Method::CallTool && call.endpoint != Endpoint::Router;
    names_tool && find(snapshot, call).is_err()
}

/// Prompts, resources and completions: sent to the one server of the endpoint as they are.
fn other(snapshot: &Snapshot, call: &Call) -> Result<Target, Unroutable> {
    let Endpoint::Server(name) = &call.endpoint else {
        return Err(Unroutable::UnknownTool);
    };
    let server = snapshot.server(name).ok_or(Unroutable::UnknownTool)?;
    let stand_in = || {
        let policy = snapshot.settings.config.policy(name, call.method.as_str());
        Tool::undeclared(call.method.as_str(), name, policy)
    };
    let view = snapshot.for_caller(&call.client.caller);
    let permitted = view.items(server, &call.items(), stand_in)?;
    Ok(Route::as_called(snapshot, &permitted, call).into())
}

fn by_router(
    snapshot: &Snapshot,
    router_tool: RouterTool,
    call: &Call,
) -> Result<Target, Unroutable> {
    let bad_arguments = Unroutable::Refused(Refusal::BadArguments);
    let given = call.arguments.as_ref().ok_or(bad_arguments.clone())?;
    let view = snapshot.for_caller(&call.client.caller);
    let client = call.client.era;
    let router = match router_tool {
        RouterTool::Retrieve => {
            let found = router::retrieve(view, given, client);
            return Ok(Target::Answered(found.map_err(Unroutable::Refused)?));
        }
        RouterTool::Describe => {
            return Ok(Target::Answered(router::describe(view, given, client)?));
        }
        RouterTool::Call(router) => router,
    };
    let requested = RouterCall::read(given).ok_or(bad_arguments)?;
    let tool = router::find(view, &requested.name)?;
    if !tool.may_be_called_with(router) {
        let instead = tool.access();
        return Err(Unroutable::Refused(Refusal::WrongRouter { instead }));
    }
    let permitted = tool.permit().map_err(Unroutable::Needs)?;
    let route = Route::as_called(snapshot, &permitted, call);
    Ok(requested.route(route).into())
}

impl Route {
    /// A route whose `params` are the client's own.
    fn as_called(snapshot: &Snapshot, permitted: &Permitted<'_>, call: &Call) -> Self {
        let tool = permitted.tool();
        Self {
            upstream: Arc::clone(&permitted.server().upstream),
            method: call.method,
            tool: Arc::clone(tool),
            name: call.method.named_by().map(|_| match call.method {
                Method::CallTool => tool.name().to_owned(),
                _ => call.name.clone(),
            }),
            policy: tool.policy(call.client.era),
            settings: Arc::clone(&snapshot.settings),
            params: call.params.clone(),
            arguments: call.arguments.clone(),
        }
    }

    /// The name of the tool, prompt or resource, as its server knows it.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name that replaces the client's name in `params`; only for tools.
    pub(crate) fn renamed(&self) -> Option<&str> {
        self.name().filter(|_| self.method == Method::CallTool)
    }
}

/// What a router tool was asked to call.
struct RouterCall {
    name: String,
    /// The arguments, as JSON text.
    arguments: Bytes,
}

impl RouterCall {
    fn read(given: &Bytes) -> Option<Self> {
        let whole = Span::whole(given);
        let name = member(given, whole, "name")?.string(given)?.into_owned();
        let arguments = match member(given, whole, "args") {
            Some(args) => given.slice_ref(args.bytes(given)),
            None => match member(given, whole, "args_json") {
                Some(text) => Bytes::from(text.string(given)?.into_owned()),
                None => Bytes::from_static(b"{}"),
            },
        };
        let checked = scan(&arguments, &ScanLimits::default()).ok()?;
        if checked.kind() == Kind::Null {
            let arguments = Bytes::from_static(b"{}");
            return Some(Self { name, arguments });
        }
        (checked.kind() == Kind::Object).then_some(Self { name, arguments })
    }

    /// The same route with the arguments for the tool in place of those for the router tool. The rest of what the client
    /// said about its call goes on as it is.
    fn route(self, called: Route) -> Route {
        let mut edits = Edits::new(&called.params);
        if let Some(given) = member(&called.params, Span::whole(&called.params), "arguments") {
            edits.replace(given, self.arguments.to_vec());
        }
        let params = edits.apply().map(|edited| Bytes::from(edited.to_vec()));
        Route {
            params: params.unwrap_or_else(|_| called.params.clone()),
            arguments: Some(self.arguments),
            ..called
        }
    }
}
