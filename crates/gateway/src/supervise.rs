//! Connects the configuration with the client: makes the supervisor of each configured server.

use std::sync::Arc;

use countersign_client::{
    Authorizer, Diagnostics, HttpServer, HttpTransport, Inheritance, KnownEras, Limits, Observer,
    OwnConnection, Program, ServerTransport, State, StdioServer, Supervision, Supervisor,
};
use countersign_config::{Config, Protocol, Server, Transport};
use countersign_dial::{Budget, Site, SiteError};
use tokio::sync::watch;

/// What a supervisor needs besides the configuration of its server.
#[derive(Debug)]
pub(crate) struct SupervisorResources {
    pub(crate) budget: Budget,
    pub(crate) events: Arc<dyn Observer>,
    pub(crate) known: KnownEras,
    pub(crate) diagnostics: Arc<Diagnostics>,
    pub(crate) state: watch::Sender<State>,
    /// Where tokens for the server come from, if it needs any.
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
    /// The client that the connection belongs to, if it belongs to one.
    pub(crate) own: Option<OwnConnection>,
}

/// The supervisor of a server. Starts nothing yet.
pub(crate) fn supervisor(
    config: &Config,
    server: &Server,
    resources: SupervisorResources,
) -> Result<Supervisor, SiteError> {
    let name: Arc<str> = server.name.as_str().into();
    // The shared connection has found out which era the server speaks.
    let known_era = resources.own.as_ref().map(|own| own.beside.protocol().0);
    let place = match &server.transport {
        Transport::Stdio { command, args, .. } => format!("{command} {}", args.join(" ")),
        Transport::Http { url, .. } => url.clone(),
    };
    let supervision = Supervision {
        eras: resources.known.for_server(&name, &place),
        server: name,
        max_message_bytes: config.max_message_bytes,
        budget: resources.budget,
        observer: resources.events,
        state: resources.state,
        era: known_era.or(server.era),
        start_timeout: server.start_timeout(),
        diagnostics: resources.diagnostics,
    };
    let transport = match &server.transport {
        Transport::Stdio {
            command,
            args,
            env,
            working_dir,
        } => ServerTransport::Stdio(StdioServer {
            program: Program {
                command: command.clone(),
                args: args.clone(),
                env: env
                    .iter()
                    .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                    .collect(),
                working_dir: working_dir.clone(),
                inheritance: Inheritance::default(),
            },
            peer: resources.own.map(|own| own.peer),
        }),
        Transport::Http {
            url,
            headers,
            protocol,
        } => ServerTransport::Http(HttpServer {
            site: Site {
                connect_timeout: server.connect_timeout,
                ..Site::new(
                    url,
                    headers.iter().map(|(name, value)| (name, value.expose())),
                )?
            },
            transport: match protocol {
                Protocol::StreamableHttp => HttpTransport::Streamable,
                Protocol::Sse => HttpTransport::Sse,
            },
            authorizer: resources.authorizer,
            own: resources.own,
        }),
    };
    Ok(Supervisor::new(supervision, transport))
}

/// The limits that a configuration sets for a server.
pub(crate) fn limits(config: &Config, server: &Server) -> Limits {
    let timeout = server.timeout.unwrap_or(config.call_tool_timeout);
    Limits {
        timeout,
        total_timeout: server.total_timeout(timeout),
        max_concurrent_requests: server.max_concurrent_requests,
        queue_size: server.queue_size,
    }
}

/// Diagnostics that do not show the values of a server's variables.
pub(crate) fn diagnostics(transport: &Transport) -> Diagnostics {
    let secrets = match transport {
        Transport::Stdio { env, .. } => env
            .values()
            .map(|value| value.expose().to_owned())
            .collect(),
        Transport::Http { .. } => Vec::new(),
    };
    Diagnostics::new(secrets)
}
