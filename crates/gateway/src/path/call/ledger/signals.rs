//! What is told about a call over OpenTelemetry, once its records are committed. Spans and log records are made of what
//! the records say, so the two agree.

use std::sync::atomic::Ordering;
use std::time::Duration;

use countersign_audit::{Evidence, Record};
use countersign_client as upstream;
use countersign_config::Transport as Configured;
use countersign_inspect::{RawReply, Refusal};
use countersign_telemetry::{Call, EncodedDecision, ErrorType, Exchange, Target, Transport};
use countersign_wire::Method;
use countersign_wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST};
use tokio::time::Instant;

use super::Ledger;
use crate::path::call::Conclusion;
use crate::services::{CallSignals, DecisionSubject, Session};

/// The exchange with the server.
#[derive(Debug)]
pub(super) struct ServerExchange {
    /// From the beginning of the call.
    began_after: Duration,
    duration: Duration,
    /// Why there is no reply, if there is none.
    refusal: Option<Refusal>,
}

/// What is to be told once the records are committed.
pub(super) struct PendingSignals {
    decisions: Vec<EncodedDecision>,
    decision: &'static str,
    towards_client: Option<ErrorType<'static>>,
    towards_server: Option<ErrorType<'static>>,
}

impl Ledger {
    /// The server has answered, or it is known that it does not.
    pub(in crate::path::call) fn forwarded(
        &mut self,
        start: Instant,
        reply: &Result<RawReply, Refusal>,
    ) {
        if self.signals.is_some() {
            self.exchange = Some(ServerExchange {
                began_after: start.into_std().duration_since(self.started),
                duration: start.elapsed(),
                refusal: reply.as_ref().err().copied(),
            });
        }
    }

    /// What the conclusion and its records say, in so far as signals tell it. Nothing if none are sent.
    pub(super) fn pending_signals(
        &self,
        conclusion: &Conclusion,
        records: &[Record],
    ) -> Option<PendingSignals> {
        let signals = self.signals.as_ref()?;
        let subject = DecisionSubject {
            trace: signals.trace.as_ref(),
            method: self.method.as_str(),
            target: self.target(),
        };
        Some(PendingSignals {
            decisions: self.services.signals.encode(records, subject),
            decision: match conclusion {
                Conclusion::Result(inspected) => inspected.decision().as_str(),
                Conclusion::UnknownTool if self.denied.is_none() => "unknown_tool",
                Conclusion::NeedsLogin(_) => "needs_login",
                Conclusion::UnknownTool | Conclusion::LacksScopes(_) => "blocked",
            },
            towards_client: self.error_towards_client(conclusion),
            towards_server: self.error_towards_server(conclusion),
        })
    }

    /// Tells what has been recorded.
    pub(super) fn tell(&self, pending: &PendingSignals, evidence: Evidence) {
        let Some(signals) = &self.signals else {
            return;
        };
        let state = self.route.as_ref().map(|route| route.upstream.state());
        let state = state.as_ref().map(tokio::sync::watch::Receiver::borrow);
        let connection = state.as_deref().and_then(|state| match state {
            upstream::State::Ready(connection) => Some(connection),
            _ => None,
        });
        let towards_server = self.server_exchange(signals, connection.map(|one| &**one), pending);
        let id = self.id.id.to_string();
        self.services.signals.observe(&Call {
            trace: signals.trace.as_ref(),
            method: self.method.as_str(),
            target: self.target(),
            is_known_target: self.own || (self.route.is_some() && self.method == Method::CallTool),
            server: self.common.server.as_deref(),
            caller: Some(&*self.common.caller),
            session: self.common.session.as_deref().map(Session::public),
            request_id: &self.common.request,
            activity_id: &id,
            decision: pending.decision,
            towards_client: Exchange {
                start: signals.start,
                duration: self.started.elapsed(),
                version: signals.version,
                transport: signals.transport,
                request_number: None,
                error: pending.towards_client,
            },
            towards_server,
        });
        self.services.signals.log(&pending.decisions, evidence);
    }

    fn server_exchange<'a>(
        &self,
        signals: &CallSignals,
        connection: Option<&'a upstream::Connection>,
        pending: &PendingSignals,
    ) -> Option<Exchange<'a>> {
        let exchange = self.exchange.as_ref()?;
        let number = signals.request_number.load(Ordering::Relaxed);
        Some(Exchange {
            start: signals.start + exchange.began_after,
            duration: exchange.duration,
            version: connection.map(|connection| connection.protocol().1),
            transport: match connection {
                Some(connection) if connection.is_stdio() => Transport::Pipe,
                Some(_) => Transport::Tcp,
                None => self.configured_transport(),
            },
            request_number: (number > 0).then_some(number),
            error: pending.towards_server,
        })
    }

    fn target(&self) -> Target<'_> {
        let name = self.common.tool.as_deref();
        match (self.method, name) {
            (Method::CallTool, Some(name)) => Target::Tool(name),
            (Method::GetPrompt, Some(name)) => Target::Prompt(name),
            _ => Target::Other,
        }
    }

    /// How the server is reached, while it is not there to be asked.
    fn configured_transport(&self) -> Transport {
        let route = self.route.as_ref();
        let server = route.and_then(|route| self.settings.config.server(route.upstream.name()));
        match server.map(|server| &server.transport) {
            Some(Configured::Stdio { .. }) => Transport::Pipe,
            _ => Transport::Tcp,
        }
    }

    /// What is wrong with the reply to the client: a JSON-RPC error, or a result that says `isError`.
    fn error_towards_client(&self, conclusion: &Conclusion) -> Option<ErrorType<'static>> {
        let inspected = match conclusion {
            Conclusion::UnknownTool => return Some(code(INVALID_PARAMS)),
            Conclusion::LacksScopes(_) => return Some(code(INVALID_REQUEST)),
            Conclusion::NeedsLogin(_) => return Some(ErrorType::Tool),
            Conclusion::Result(inspected) => inspected,
        };
        let is_refused = inspected.is_authored() && !self.own;
        if inspected.is_rpc_error() {
            let received = inspected.received_error_code();
            Some(received.map_or(code(INTERNAL_ERROR), ErrorType::Code))
        } else if self.method != Method::CallTool {
            is_refused.then(|| code(INTERNAL_ERROR))
        } else {
            (is_refused || inspected.is_error()).then_some(ErrorType::Tool)
        }
    }

    /// What is wrong with the answer of the server, or why there is none.
    fn error_towards_server(&self, conclusion: &Conclusion) -> Option<ErrorType<'static>> {
        let exchange = self.exchange.as_ref()?;
        if let Some(refusal) = exchange.refusal {
            return Some(ErrorType::Other(refusal.kind()));
        }
        let Conclusion::Result(inspected) = conclusion else {
            return None;
        };
        let received = inspected.received_error_code().map(ErrorType::Code);
        received.or_else(|| inspected.is_error().then_some(ErrorType::Tool))
    }
}

fn code(code: i32) -> ErrorType<'static> {
    ErrorType::Code(i64::from(code))
}
