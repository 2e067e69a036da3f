//! The first words with a server, over either transport: which era it speaks and what it calls
//! itself. A modern request goes first; whoever does not understand it is greeted the legacy way.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::Era;
use countersign_tape::{Span, elements};
use thiserror::Error;

use super::exchange::{Fault, Reply};
use super::json::member;
use super::message::{LEGACY, MODERN, Outgoing, initialize_params, own_params};
use super::{Options, Transport};

/// A legacy server may keep silent about a method it does not know.
const PROBE: Duration = Duration::from_secs(3);

/// What a server calls itself; empty if it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Why there is no client.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The program cannot be started.
    #[error("the program cannot be started")]
    Start(#[source] io::Error),
    /// The greeting was not answered.
    #[error("the server could not be greeted")]
    Greeting(#[source] Fault),
    /// The greeting was refused, or answered with something that is not MCP.
    #[error("the server answered the greeting with an error or with something that is not MCP")]
    Refused,
    /// The server speaks a version that we do not.
    #[error("the server speaks protocol version {0:?}, which is not supported")]
    Version(String),
}

/// What a server said about itself.
#[derive(Clone, Debug)]
pub(super) struct Hello {
    pub(super) era: Era,
    pub(super) version: String,
    pub(super) identity: Identity,
}

/// Greets the server.
pub(super) async fn greet(transport: &Transport, options: &Options) -> Result<Hello, ConnectError> {
    let hello = match options.era {
        Some(Era::Modern) => discover(transport, options.greeting)
            .await?
            .ok_or(ConnectError::Refused)?,
        Some(Era::Legacy) => initialize(transport, options.greeting).await?,
        None => match discover(transport, PROBE.min(options.greeting)).await? {
            Some(hello) => hello,
            None => initialize(transport, options.greeting).await?,
        },
    };
    Ok(hello)
}

/// The modern way; nothing if the server does not know it.
async fn discover(transport: &Transport, wait: Duration) -> Result<Option<Hello>, ConnectError> {
    transport.agree(Era::Modern, MODERN);
    let params = own_params(Era::Modern, "");
    let asked = Outgoing::plain("server/discover", params.as_bytes());
    match transport.exchange(&asked, wait).await.reply {
        Ok(Reply::Result(result)) => Ok(discovered(&result)),
        Ok(Reply::Error(error)) if matches!(error.code, Some(-32020 | -32021)) => {
            Err(ConnectError::Refused)
        }
        Err(Fault::Status(status @ (401 | 403 | 500..))) => {
            Err(ConnectError::Greeting(Fault::Status(status)))
        }
        Ok(Reply::Error(_)) | Err(Fault::TimedOut | Fault::Malformed | Fault::Status(_)) => {
            Ok(None)
        }
        Err(fault) => Err(ConnectError::Greeting(fault)),
    }
}

fn discovered(result: &Bytes) -> Option<Hello> {
    let whole = Span::whole(result);
    let versions = member(result, whole, "supportedVersions")?;
    elements(result, versions)
        .any(|version| version.string(result).is_some_and(|text| text == MODERN))
        .then(|| Hello {
            era: Era::Modern,
            version: MODERN.to_owned(),
            identity: member(result, whole, "_meta")
                .and_then(|meta| member(result, meta, "io.modelcontextprotocol/serverInfo"))
                .map(|info| identity(result, info))
                .unwrap_or_default(),
        })
}

async fn initialize(transport: &Transport, wait: Duration) -> Result<Hello, ConnectError> {
    transport.agree(Era::Legacy, "");
    let params = initialize_params();
    let asked = Outgoing::plain("initialize", params.as_bytes());
    let result = match transport.exchange(&asked, wait).await.reply {
        Ok(Reply::Result(result)) => result,
        Ok(Reply::Error(_)) => return Err(ConnectError::Refused),
        Err(fault) => return Err(ConnectError::Greeting(fault)),
    };
    let whole = Span::whole(&result);
    let version = member(&result, whole, "protocolVersion")
        .and_then(|version| version.string(&result))
        .ok_or(ConnectError::Refused)?
        .into_owned();
    if !LEGACY.contains(&version.as_str()) {
        return Err(ConnectError::Version(version));
    }
    transport.agree(Era::Legacy, &version);
    transport.notify("notifications/initialized").await;
    Ok(Hello {
        era: Era::Legacy,
        version,
        identity: member(&result, whole, "serverInfo")
            .map(|info| identity(&result, info))
            .unwrap_or_default(),
    })
}

fn identity(bytes: &[u8], info: Span) -> Identity {
    let text = |name| {
        member(bytes, info, name)
            .and_then(|value| value.string(bytes))
            .unwrap_or_default()
            .into_owned()
    };
    Identity {
        name: text("name"),
        version: text("version"),
    }
}
