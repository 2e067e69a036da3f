//! What a legacy server has for each client: state of a session, and questions to the client. Clients that share the server
//! share that state, and cannot be asked.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_client::{Connection, OwnConnection, Peer, State, ready};
use countersign_config::{Config, Isolation, Server, Transport};
use countersign_inspect::Era;
use countersign_wire::Capability;
use tokio::sync::watch;

use super::{Failure, with_server};
use crate::catalogue::tool_names;

/// What the client of the second look can be asked for.
const EVERYTHING: &[u8] = br#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;

/// Something that a legacy server has for each of its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientState {
    /// A log level.
    LogLevel,
    /// The resources that a client watches.
    Subscriptions,
    /// Tools that it shows only to clients that it can ask for something.
    Tools,
    /// Questions to its client: for samples, for answers of the user, or for roots.
    Questions,
}

impl fmt::Display for ClientState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LogLevel => "a log level",
            Self::Subscriptions => "resource subscriptions",
            Self::Tools => "tools for clients that it can ask",
            Self::Questions => "questions to its client",
        })
    }
}

/// Finds what a server has for each client. `tools` are the names of those that it shows to a client that it cannot ask.
pub(super) async fn find(
    (config, server): (&Config, &Server),
    (connection, tools): (&Arc<Connection>, &BTreeSet<String>),
    patience: Duration,
) -> Vec<ClientState> {
    let (era, _) = connection.protocol();
    if era != Era::Legacy {
        return Vec::new();
    }
    let capabilities = connection.capabilities();
    let declared = [
        (ClientState::LogLevel, capabilities.has(Capability::Logging)),
        (ClientState::Subscriptions, capabilities.resource_updates),
    ];
    let declared = declared.into_iter().filter(|(_, is_declared)| *is_declared);
    let mut found: Vec<_> = declared.map(|(state, _)| state).collect();
    let is_command = matches!(server.transport, Transport::Stdio { .. });
    if is_command && server.isolation != Some(Isolation::Client) {
        found.extend(ask_everything((config, server), (connection, tools), patience).await);
    }
    found
}

/// Starts the server once more, for a client that can be asked for everything. A server that cannot be started twice shows
/// nothing more.
async fn ask_everything(
    (config, server): (&Config, &Server),
    (shared, tools): (&Arc<Connection>, &BTreeSet<String>),
    patience: Duration,
) -> Vec<ClientState> {
    let (peer, mut said) = Peer::new();
    peer.initialize(Some(&Bytes::from_static(EVERYTHING)));
    let own = OwnConnection {
        peer: Arc::clone(&peer),
        beside: Arc::clone(shared),
    };
    let has_tools = shared.capabilities().has(Capability::Tools);
    let look = |mut state: watch::Receiver<State>| async move {
        let Ok(connection) = ready(&mut state).await else {
            // The supervisor tells how it ended.
            return std::future::pending::<Result<_, Failure>>().await;
        };
        let mut found = Vec::new();
        if has_tools
            && let Ok(shown) = tool_names(&connection).await
            && !shown.is_subset(tools)
        {
            found.push(ClientState::Tools);
        }
        Ok(found)
    };
    let looked = with_server((config, server), Some(own), patience, look).await;
    let mut found = looked.unwrap_or_default();
    while let Ok(message) = said.try_recv() {
        if message.id.is_some() && !found.contains(&ClientState::Questions) {
            found.push(ClientState::Questions);
        }
    }
    found
}
