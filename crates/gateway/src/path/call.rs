//! The life of a call, top to bottom: route, examine the arguments, forward, inspect, record,
//! reply. Every call takes this path: a reply can be made of a `Recorded` only,
//! which only the store makes, around an `Inspected`, which only inspection makes.
//!
//! A call runs in the task of its client's connection. A client that goes away cancels it, and a task of its own
//! finishes it, so that it is recorded like any other.

mod caller_route;
mod ledger;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use countersign_client::NoteSink;
use countersign_config::ItemKind;
use countersign_inspect::{
    InputVerdict, Inspected, NotePolicy, RawReply, Refusal, Screening, SkipReason, examine,
    examine_arguments,
};
use countersign_tape::{Span, members};
use countersign_telemetry::CallTrace;
use countersign_wire::Method;
use countersign_wire::Subject;
use countersign_wire::message::{Hop, HopTrace, call_params};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::client::Client;
use super::isolation::private_server;
use super::needed_login::{NeededLogin, caller_grant, without_own_responses};
use crate::catch_panic::catch_panic;
use crate::detach_on_drop::DetachOnDrop;
use crate::path::reply::{self, Reply};
use crate::path::route::{Route, Target, Unroutable, route};
use crate::path::screen;
use crate::random::ProcessRandomness;
use crate::services::{CallSignals, Phase, Services};
use crate::state::{Endpoint, Settings, Snapshot};
use caller_route::{CallerRoute, Unanswered};
use ledger::Ledger;

/// A call as a client made it, of a tool or of something else a server has. `downstream` makes it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The client's own id token.
    pub(crate) id: Bytes,
    pub(crate) endpoint: Endpoint,
    pub(crate) client: Client,
    pub(crate) method: Method,
    /// What is called: a tool, a prompt, a resource.
    pub(crate) name: String,
    pub(crate) params: Bytes,
    pub(crate) arguments: Option<Bytes>,
    /// Where progress and log messages go while the call is under way.
    pub(crate) notes: NoteSink,
    /// What is known for signals about the call; nothing if none are sent.
    pub(crate) signals: Option<Arc<CallSignals>>,
}

impl Call {
    /// The prompts and resources that it names. A completion may name several, and its server may take any of them.
    pub(crate) fn items(&self) -> Vec<(ItemKind, String)> {
        match self.method {
            Method::GetPrompt => vec![(ItemKind::Prompt, self.name.clone())],
            Method::ReadResource | Method::Subscribe | Method::Unsubscribe => {
                vec![(ItemKind::Resource, self.name.clone())]
            }
            Method::Complete => completed_items(&self.params),
            Method::CallTool
            | Method::ListPrompts
            | Method::ListResources
            | Method::ListTemplates => Vec::new(),
        }
    }
}

/// Everything that `ref` of a completion names.
fn completed_items(params: &[u8]) -> Vec<(ItemKind, String)> {
    let mut items = Vec::new();
    let named = |key: Span, name: &str| key.is_text(params, name);
    let refs = members(params, Span::whole(params)).filter(|(key, _)| named(*key, "ref"));
    for (key, value) in refs.flat_map(|(_, value)| members(params, value)) {
        let kind = if named(key, "name") {
            ItemKind::Prompt
        } else if named(key, "uri") {
            ItemKind::Resource
        } else {
            continue;
        };
        items.extend(value.string(params).map(|text| (kind, text.into_owned())));
    }
    items
}

/// What a call came to.
#[derive(Debug)]
pub(crate) enum Conclusion {
    Result(Box<Inspected>),
    /// The client named a tool that is not there, or not for its caller.
    UnknownTool,
    /// The caller's token lacks one of these scopes.
    LacksScopes(Vec<String>),
    /// The caller has to log in to the server first.
    NeedsLogin(Box<NeededLogin>),
}

impl From<Inspected> for Conclusion {
    fn from(inspected: Inspected) -> Self {
        Self::Result(Box::new(inspected))
    }
}

/// Resolves when the client is gone, which its end of the channel says by being dropped.
pub(crate) type ClientGone = oneshot::Receiver<()>;

/// Makes a call and waits for the reply. `snapshot` decides everything about it. A caller that stops waiting does not stop
/// the call: what is left of it runs on.
pub(crate) fn make(
    services: Arc<Services>,
    snapshot: Arc<Snapshot>,
    call: Call,
    gone: ClientGone,
) -> impl Future<Output = Reply> + Send + 'static {
    let call = async move {
        let _work = services.drain.work();
        // Boxed: the future is moved as a whole more than once, and this is most of it.
        let settings = Arc::clone(&snapshot.settings);
        if let Ok(reply) = catch_panic(Box::pin(run(&services, snapshot, &call, gone))).await {
            return reply;
        }
        let answer = Box::pin(answer_panic(&services, settings, &call));
        let answer = catch_panic(answer).await;
        answer.unwrap_or_else(|_| reply::internal_error(&call.id))
    };
    DetachOnDrop::new(call)
}

/// Answers a call that panicked. A bug of the gateway ends this call and no other, and it is recorded too.
async fn answer_panic(services: &Arc<Services>, settings: Arc<Settings>, call: &Call) -> Reply {
    let mut ledger = Ledger::open(services, settings, call);
    let conclusion = ledger.refused(Refusal::Internal);
    reply::call(ledger.commit(conclusion).await, call)
}

async fn run(
    services: &Arc<Services>,
    snapshot: Arc<Snapshot>,
    call: &Call,
    gone: ClientGone,
) -> Reply {
    let settings = Arc::clone(&snapshot.settings);
    let mut ledger = Ledger::open(services, Arc::clone(&settings), call);
    let counted = match call.method {
        Method::CallTool => services
            .call_limits
            .begin(&settings.config, &call.client.caller),
        _ => Ok(None),
    };
    // Held to the end of the call.
    let _counted = match counted {
        Ok(counted) => counted,
        Err(refusal) => {
            let conclusion = ledger.refused(refusal);
            return reply::call(ledger.commit(conclusion).await, call);
        }
    };
    let target = route(&snapshot, call);
    // Held longer, it would keep servers alive that are to end.
    drop(snapshot);
    let conclusion = match target {
        Ok(Target::Tool(route)) => answer(services, route, call, gone, &mut ledger).await,
        Ok(Target::Answered(listing)) => ledger.conclude_with_listing(&listing),
        Err(Unroutable::UnknownTool) => Conclusion::UnknownTool,
        Err(Unroutable::Denied(denial)) => ledger.denied(&denial, call),
        Err(Unroutable::Needs(denial)) => ledger.lacks_scopes(&denial),
        Err(Unroutable::Refused(Refusal::UnknownTool)) => ledger.unknown_tool(call),
        Err(Unroutable::Refused(refusal)) => ledger.refused(refusal),
    };
    let recorded = ledger.commit(conclusion).await;
    reply::call(recorded, call)
}

/// Examines the arguments, forwards the call and inspects the result.
async fn answer(
    services: &Arc<Services>,
    route: Arc<Route>,
    call: &Call,
    gone: ClientGone,
    ledger: &mut Ledger,
) -> Conclusion {
    ledger.routed(&route);
    let verdict = arguments(&route).await;
    let refused = verdict.refusal();
    ledger.examined(verdict);
    if let Some(refused) = refused {
        return refused.into();
    }
    let notes = call.notes.with_policy(NotePolicy::from(&route.policy));
    let start = Instant::now();
    let reply = match forward(services, &route, call, &notes, gone).await {
        Ok(raw) => Ok(raw),
        Err(Unanswered::Refused(refusal)) => Err(refusal),
        Err(Unanswered::NeedsLogin) => {
            let login = NeededLogin::new(services, &route, call);
            return Conclusion::NeedsLogin(Box::new(login));
        }
    };
    ledger.forwarded(start, &reply);
    let inspected = match reply {
        Ok(raw) => inspect(services, raw, &route, (start, &notes), ledger).await,
        Err(refusal) => Err(refusal),
    };
    let inspected = inspected.unwrap_or_else(|refusal| ledger.unanswered(refusal));
    inspected.into()
}

/// Once this has sent the request, the call is recorded whatever happens.
async fn forward(
    services: &Arc<Services>,
    route: &Route,
    call: &Call,
    notes: &NoteSink,
    gone: ClientGone,
) -> Result<RawReply, Unanswered> {
    let signals = &call.signals;
    let trace = signals.as_ref().and_then(|signals| signals.trace.as_ref());
    let traceparent = trace.and_then(CallTrace::traceparent);
    let trace = traceparent.as_deref().map(|traceparent| HopTrace {
        traceparent,
        keeps_state: trace.is_some_and(CallTrace::keeps_state),
    });
    let grant = caller_grant(services, route, call);
    let own = grant.as_ref().map(|_| without_own_responses(&route.params));
    let given = own.as_ref().unwrap_or(&route.params);
    let params = |era, id| {
        if let Some(signals) = signals {
            signals.request_number.store(id, Ordering::Relaxed);
        }
        let hop = Hop {
            era,
            id,
            log_level: notes.log_level(),
            trace,
        };
        call_params(given, route.renamed(), hop)
            .map_err(|_| countersign_client::Error::BadArguments)
    };
    let subject = Subject {
        method: route.method.as_str(),
        name: route.name(),
        arguments: route.arguments.as_deref(),
        mirrored: Some(route.tool.mirrored()),
    };
    let reply = async {
        let Some(grant) = &grant else {
            let private =
                private_server(services, &route.settings, &route.upstream, &call.client).await?;
            let upstream = private
                .as_ref()
                .map_or(&route.upstream, |private| &private.upstream);
            return Ok(upstream.call(&subject, params, notes).await?);
        };
        // Boxed: most servers have one token for all callers.
        let reply = CallerRoute {
            services,
            route,
            client: &call.client,
            grant,
        };
        Box::pin(reply.call(&subject, params, notes)).await
    };
    tokio::select! {
        biased;
        reply = reply => reply,
        _ = gone => Err(Refusal::Cancelled.into()),
        () = services.drain.wait_for_phase(Phase::Cancelling) => Err(Refusal::ShuttingDown.into()),
    }
}

async fn arguments(route: &Arc<Route>) -> InputVerdict {
    let size = route.arguments.as_ref().map_or(0, Bytes::len);
    let examine = |route: &Route| {
        examine_arguments(
            route.arguments.as_deref(),
            route.tool.contract(),
            &route.policy,
        )
    };
    off_thread(size, route, examine).await
}

/// Classifiers stand between the two halves; without any, the halves are one. The halves have the time that the reply
/// left of the call's time-out; classifiers have a budget of their own, which does not count.
async fn inspect(
    services: &Services,
    raw: RawReply,
    route: &Arc<Route>,
    (start, notes): (Instant, &NoteSink),
    ledger: &Ledger,
) -> Result<Inspected, Refusal> {
    let size = raw.len();
    let look = |route: &Route| examine(raw, route.tool.contract(), &route.policy);
    if !screen::applies(route) {
        let skipped = Screening::skipped(SkipReason::NotConfigured);
        let inspect = |route: &Route| look(route).conclude_with(skipped, &ProcessRandomness);
        let inspected = off_thread(size, route, inspect);
        return Ok(route
            .upstream
            .with_call_timeout(start, notes, inspected)
            .await?);
    }
    let examined = off_thread(size, route, look);
    let examined = route
        .upstream
        .with_call_timeout(start, notes, examined)
        .await?;
    let asked = Instant::now();
    // Boxed: most calls are not screened, and every call would carry the room for it.
    let id = ledger.id().to_string();
    let screening = Box::pin(screen::screen(&services.events, route, &id, &examined)).await;
    let concluded = off_thread(size, route, |_| {
        examined.conclude_with(screening, &ProcessRandomness)
    });
    let start = start + asked.elapsed();
    Ok(route
        .upstream
        .with_call_timeout(start, notes, concluded)
        .await?)
}

/// The largest value that is looked at where the call runs. It takes about half a millisecond, and handing it to another
/// thread would cost a fifth of that again.
const INLINE_BYTES: usize = 512 * 1024;

/// Runs work on large values on a thread of its own, so that it does not hold up other calls.
async fn off_thread<T: Send + 'static>(
    size: usize,
    route: &Arc<Route>,
    work: impl FnOnce(&Route) -> T + Send + 'static,
) -> T {
    if size <= INLINE_BYTES {
        return work(route);
    }
    let route = Arc::clone(route);
    match tokio::task::spawn_blocking(move || work(&route)).await {
        Ok(done) => done,
        Err(failed) => std::panic::resume_unwind(failed.into_panic()),
    }
}
