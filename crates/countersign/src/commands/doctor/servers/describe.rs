//! The lines about a server that was checked, and what might help one that cannot be used.

use countersign_config::{Isolation, Protocol, Server, Transport};
use countersign_gateway::health::{ClientState, Failure, PROTOCOL_VERSIONS, ServerError, Tally};

use super::NAME;
use crate::commands::doctor::check::Check;

/// A server that can be called.
pub(super) fn healthy(server: &Server, how: &str, tally: &Tally) -> Vec<Check> {
    let name = &server.name;
    let Tally {
        tools,
        output_schemas,
        unenforceable,
        skipped,
    } = tally;
    let message = format!("{name}: {how}, {tools} tools, {output_schemas} with an output schema");
    let mut checks = vec![Check::ok(NAME, message)];
    checks.extend(unenforceable.iter().map(|(tool, reason)| {
        let message = format!("{name}: the output schema of {tool} cannot be enforced: {reason}");
        let hint = format!("its results are not checked against it; tell the author of {name}");
        Check::warning(NAME, message, hint)
    }));
    if *skipped > 0 {
        let message = format!("{name}: {skipped} entries of its list are no tools");
        let hint = format!("they are left out; tell the author of {name}");
        checks.push(Check::warning(NAME, message, hint));
    }
    checks
}

/// What it means for a server with something for each client that its clients share it; nothing if they do not.
pub(super) fn sharing(server: &Server, client_state: &[ClientState]) -> Option<Check> {
    let is_http = matches!(server.transport, Transport::Http { .. });
    let is_shared = match server.isolation {
        Some(Isolation::Shared) => true,
        Some(Isolation::Client) => false,
        None => !is_http,
    };
    let what = if is_http { "session" } else { "process" };
    let shared: Vec<_> = client_state.iter().map(ToString::to_string).collect();
    let message = format!(
        "{}: all clients share one {what}, though it has {} for each client: they share its state, and it cannot ask them anything. \"isolation\": \"client\" gives each one of its own",
        server.name,
        shared.join(", ")
    );
    (is_shared && !shared.is_empty()).then(|| Check::ok(NAME, message))
}

/// A server that cannot be called, and what might help.
pub(super) fn unhealthy(server: &Server, failure: &Failure, other: Option<Protocol>) -> Check {
    let name = &server.name;
    if let (Some(other), Transport::Http { protocol, .. }) = (other, &server.transport) {
        let message = format!("{name}: it speaks {other}, and the configuration says {protocol}");
        let hint = format!("set \"protocol\": \"{other}\" for {name}");
        return Check::error(NAME, message, hint);
    }
    let mut message = format!("{name}: {}", failure.error);
    if let Some(line) = failure.stderr.lines().last() {
        message.push_str("; its last words: ");
        message.extend(line.chars().take(200));
    }
    let command = match &server.transport {
        Transport::Stdio { command, .. } => Some(command),
        Transport::Http { .. } => None,
    };
    let by_hand = |what: &str| match command {
        Some(command) => format!(
            "{what}; see whether `{command}`, with the arguments of {name}, runs by itself and waits for input"
        ),
        None => format!("{what}; check its \"url\", and that it runs"),
    };
    if let ServerError::Unauthorized(_) = &failure.error {
        let hint = format!("`countersign auth status {name}` asks the running gateway");
        return Check::warning(NAME, message, hint);
    }
    let hint = match &failure.error {
        ServerError::Spawn(_) => by_hand("it cannot be run"),
        ServerError::Unreachable | ServerError::NoConnection(_) if command.is_none() => format!(
            "check the \"url\" of {name}, that the server runs, and that this machine can connect to it"
        ),
        ServerError::Exited(_) | ServerError::Unreachable => by_hand("it should wait for messages"),
        ServerError::Version(_) => format!(
            "update the server: {} are supported",
            PROTOCOL_VERSIONS.join(", ")
        ),
        ServerError::Status(401 | 403) => {
            format!("give {name} \"headers\": {{\"Authorization\": \"Bearer ${{env:NAME}}\"}}")
        }
        ServerError::OtherEra(_) => format!("remove \"era\" from {name}"),
        ServerError::ModernError(_) => {
            format!(
                "it needs something of its client that the gateway lacks; tell the author of {name}"
            )
        }
        ServerError::Silent => by_hand("it may need longer, see --timeout"),
        ServerError::List(_) => {
            format!("it can be greeted and not used; tell the author of {name}")
        }
        ServerError::Address(_) => format!("correct the \"url\" of {name}"),
        _ => by_hand("it does not speak MCP there"),
    };
    Check::error(NAME, message, hint)
}
