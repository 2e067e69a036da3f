//! What is written down about one call: the call itself, and each decision about it. Opened when
//! the call begins, committed before the reply leaves.

mod records;
mod signals;
mod subject;

use std::sync::Arc;
use std::time::Instant;

use countersign_audit as audit;
use countersign_audit::{NewId, PendingCall, Recorded, Ulid};
use countersign_inspect::{
    ClientEra, Decision, Finding, InputVerdict, Inspected, Listing, Mode, Refusal,
};
use countersign_login::RulePath;
use countersign_tape::Span;
use countersign_wire::Method;

use super::{Call, Conclusion};
use crate::events;
use crate::path::route::Route;
use crate::services::{CallSignals, Services, Session};
use crate::state::{Denial, Endpoint, Settings};
use signals::ServerExchange;
use subject::CallSubject;

/// The records of one call, under way.
pub(super) struct Ledger {
    services: Arc<Services>,
    /// Until it is dropped, the store knows that records of this call will come.
    _under_way: PendingCall,
    /// The id of the call's record, and when the call began.
    id: NewId,
    started: Instant,
    client: ClientEra,
    method: Method,
    /// What every record of the call says.
    common: CommonFields,
    route: Option<Arc<Route>>,
    /// What the call is held to.
    settings: Arc<Settings>,
    input: Option<InputVerdict>,
    /// Why there is no result, if there is none.
    refusal: Option<Refusal>,
    /// What was decided against the caller.
    denied: Option<DeniedCall>,
    /// The gateway itself has the answer.
    own: bool,
    request: bytes::Bytes,
    /// What is known for signals about the call; nothing if none are sent.
    signals: Option<Arc<CallSignals>>,
    exchange: Option<ServerExchange>,
}

/// What was decided against a caller.
struct DeniedCall {
    /// The rule of the finding.
    rule: &'static str,
    /// The rule of the configuration.
    by: RulePath,
}

/// What all records of a call say. Only [`Ledger::fill`] makes copies of the texts.
struct CommonFields {
    server: Option<Arc<str>>,
    tool: Option<String>,
    client: Option<Arc<str>>,
    caller: Arc<str>,
    session: Option<Arc<Session>>,
    request: String,
}

impl Ledger {
    pub(super) fn open(services: &Arc<Services>, settings: Arc<Settings>, call: &Call) -> Self {
        let is_server = |name: &str| settings.config.server(name).is_some();
        let subject = CallSubject::from_call(call, is_server);
        Self {
            _under_way: services.store.begin_call(),
            id: services.store.next_id(),
            started: Instant::now(),
            client: call.client.era,
            method: call.method,
            common: CommonFields {
                server: subject.server.map(Arc::from),
                tool: Some(subject.name),
                client: call.client.name.clone(),
                caller: Arc::clone(&call.client.caller.name),
                session: call.client.session.clone(),
                request: plain(&call.id),
            },
            route: None,
            settings,
            input: None,
            refusal: None,
            denied: None,
            own: false,
            request: call.params.clone(),
            signals: call.signals.clone(),
            exchange: None,
            services: Arc::clone(services),
        }
    }

    /// What the call is recorded under.
    pub(super) fn id(&self) -> Ulid {
        self.id.id
    }

    /// The call goes to this tool.
    pub(super) fn routed(&mut self, route: &Arc<Route>) {
        self.common.server = Some(Arc::clone(route.upstream.name()));
        if let Some(name) = route.name() {
            self.common.tool = Some(name.to_owned());
        }
        self.route = Some(Arc::clone(route));
    }

    /// The arguments were looked at.
    pub(super) fn examined(&mut self, verdict: InputVerdict) {
        self.input = Some(verdict);
    }

    /// There is no result for this reason.
    pub(super) fn unanswered(&mut self, refusal: Refusal) -> Inspected {
        self.refusal = Some(refusal);
        Inspected::from_refusal(refusal, self.client)
    }

    /// The call never got as far as a tool.
    pub(super) fn refused(&mut self, refusal: Refusal) -> Conclusion {
        self.unanswered(refusal).into()
    }

    /// A rule denies the caller what it asked for. The answer is the one for what does not exist.
    pub(super) fn denied(&mut self, denial: &Denial, call: &Call) -> Conclusion {
        self.note_denial(denial, "access.denied");
        if call.method == Method::CallTool && call.endpoint == Endpoint::Router {
            self.unknown_tool(call)
        } else {
            Conclusion::UnknownTool
        }
    }

    /// The caller's token lacks scopes for what it asked for.
    pub(super) fn lacks_scopes(&mut self, denial: &Denial) -> Conclusion {
        self.note_denial(denial, "access.scope");
        let rules = self.settings.access.as_ref();
        let scopes = rules.map_or(&[][..], |rules| rules.scopes(denial.by));
        Conclusion::LacksScopes(scopes.to_vec())
    }

    fn note_denial(&mut self, denial: &Denial, rule: &'static str) {
        self.common.server = Some(Arc::clone(&denial.server));
        self.common.tool = Some(subject::escaped(&denial.name));
        self.denied = Some(DeniedCall {
            rule,
            by: denial.by,
        });
    }

    /// A router tool was asked for a tool that does not exist.
    pub(super) fn unknown_tool(&mut self, call: &Call) -> Conclusion {
        self.refusal = Some(Refusal::UnknownTool);
        Inspected::unknown_tool(&subject::asked_tool(call), self.client).into()
    }

    /// The call was a question about the tools there are.
    pub(super) fn conclude_with_listing(&mut self, listing: &Listing) -> Conclusion {
        self.own = true;
        Inspected::from_listing(listing, self.client).into()
    }

    /// Writes everything down, and only then gives the conclusion back.
    pub(super) async fn commit(self, conclusion: Conclusion) -> Recorded<Conclusion> {
        let records = self.records(&conclusion);
        self.withdraw(&conclusion);
        self.services.metrics.observe(&records);
        let setting = self.settings.config.activity.on_store_error;
        let mode = self.mode(&conclusion);
        self.announce(&conclusion);
        let signals = self.pending_signals(&conclusion, &records);
        let recorded = self.services.store.commit(conclusion, records).await;
        if let Some(signals) = signals {
            self.tell(&signals, recorded.evidence());
        }
        if recorded.evidence() == audit::Evidence::StoreDown {
            self.complain(setting.refuses(mode));
        }
        recorded.or_refuse(setting, mode, |_| {
            Inspected::from_refusal(Refusal::Unrecorded, self.client).into()
        })
    }

    /// A contract that was broken may not be advertised any longer: clients that validate throw away
    /// what breaks it, and a result without the content it promised.
    fn withdraw(&self, conclusion: &Conclusion) {
        let (Some(route), Conclusion::Result(inspected)) = (&self.route, conclusion) else {
            return;
        };
        let broke = |finding: &Finding| {
            finding.rule.starts_with("schema.") || finding.rule == "contract.missing"
        };
        if inspected.findings().iter().any(broke) && route.tool.broke_contract() {
            let relisting = &self.services.relisting;
            relisting.relist(route.upstream.name(), route.tool.name());
        }
    }

    fn mode(&self, conclusion: &Conclusion) -> Mode {
        match (&self.route, conclusion) {
            (Some(route), _) => route.policy.output.mode,
            (None, Conclusion::Result(inspected)) => inspected.mode(),
            (
                None,
                Conclusion::UnknownTool | Conclusion::LacksScopes(_) | Conclusion::NeedsLogin(_),
            ) => Mode::Off,
        }
    }

    fn announce(&self, conclusion: &Conclusion) {
        events::CallAnswered {
            server: self.common.server.as_deref().unwrap_or_default(),
            tool: self.common.tool.as_deref().unwrap_or_default(),
            decision: match conclusion {
                Conclusion::Result(inspected) => inspected.decision().as_str(),
                Conclusion::UnknownTool if self.denied.is_none() => "unknown_tool",
                Conclusion::NeedsLogin(_) => "needs_login",
                Conclusion::UnknownTool | Conclusion::LacksScopes(_) => Decision::Blocked.as_str(),
            },
            micros: u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX),
        }
        .emit(&self.services.events);
    }

    fn complain(&self, refused: bool) {
        events::Unrecorded {
            server: self.common.server.as_deref().unwrap_or_default(),
            tool: self.common.tool.as_deref().unwrap_or_default(),
            refused,
        }
        .emit(&self.services.events);
    }
}

/// A request id as people write it: a string without its quotes, a number as it is.
fn plain(id: &[u8]) -> String {
    let text = Span::whole(id).string(id);
    text.unwrap_or_else(|| String::from_utf8_lossy(id))
        .into_owned()
}
