//! Calls and decisions as a gateway would tell them.

use std::time::{Duration, SystemTime};

use countersign_telemetry::{
    Call, CallTrace, Decision, ErrorType, Exchange, Options, Severity, Target, Transport,
};

pub(crate) fn options(endpoint: &str) -> Options {
    Options {
        endpoint: endpoint.to_owned(),
        headers: vec![("X-Token".to_owned(), "secret".to_owned())],
        traces: true,
        metrics: true,
        logs: true,
        resource: vec![("service.name".to_owned(), "tested".to_owned())],
        metrics_interval: Duration::from_hours(1),
    }
}

pub(crate) fn exchange(millis: u64, error: Option<ErrorType<'_>>) -> Exchange<'_> {
    Exchange {
        start: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        duration: Duration::from_millis(millis),
        version: Some("2025-11-25"),
        transport: Transport::Tcp,
        request_number: None,
        error,
    }
}

pub(crate) fn call(trace: Option<&CallTrace>) -> Call<'_> {
    Call {
        trace,
        method: "tools/call",
        target: Target::Tool("search"),
        is_known_target: true,
        server: Some("docs"),
        caller: Some("key:ci"),
        session: Some("s-1"),
        request_id: "7",
        activity_id: "01ACTIVITY",
        decision: "allowed",
        towards_client: exchange(15, None),
        towards_server: Some(Exchange {
            transport: Transport::Pipe,
            request_number: Some(42),
            ..exchange(10, None)
        }),
    }
}

pub(crate) fn decision(trace: Option<&CallTrace>) -> Decision<'_> {
    Decision {
        trace,
        time: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_001),
        decision: "blocked",
        severity: Severity::Warn,
        activity_id: "01DECISION",
        parent_id: Some("01ACTIVITY"),
        method: Some("tools/call"),
        target: Target::Tool("search"),
        server: Some("docs"),
        caller: Some("key:ci"),
        session: Some("s-1"),
        request_id: Some("7"),
        mode: Some("strict"),
        rules: &["schema.type", "guard.bytes"],
    }
}
