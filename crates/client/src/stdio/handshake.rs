//! The first words with a child: which era it speaks, and what it says about itself. It is greeted in the era that is chosen
//! for it; if it does not understand that, or does not answer, in the other.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::Era;
use countersign_wire::message;
use countersign_wire::version::LEGACY;
use tokio::time::timeout;

use super::connection::StdioConnection;
use crate::era_preference::EraPreference;
use crate::error::Error;
use crate::hello::{Discovery, Hello, initialize_params};
use crate::notes::NoteSink;
use crate::server_error::ServerError;

/// A legacy server may keep silent about a method it does not know; a modern one may still be
/// starting, so it is greeted both ways from then on, and its answer decides.
const PROBE: Duration = Duration::from_secs(3);
/// The same for `initialize`. Longer: package runners download first, and a modern server does not keep silent about a
/// method it does not know.
const START_UP: Duration = Duration::from_secs(20);

/// Greets the server. `declared` is what a legacy server may ask of the client.
pub(crate) async fn greet(
    connection: &Arc<StdioConnection>,
    preference: EraPreference,
    declared: &[u8],
) -> Result<Hello, ServerError> {
    match preference {
        EraPreference::First(Era::Modern) => modern_first(connection, declared).await,
        EraPreference::First(Era::Legacy) => legacy_first(connection, declared).await,
        EraPreference::Only(Era::Modern) => match discover(connection).await? {
            Discovery::Modern(hello) => Ok(hello),
            Discovery::Legacy(_) => Err(ServerError::OtherEra(Era::Modern)),
        },
        EraPreference::Only(Era::Legacy) => match initialize(connection, LEGACY[0], declared).await
        {
            Err(ServerError::NotMcp) => Err(ServerError::OtherEra(Era::Legacy)),
            settled => settled,
        },
    }
}

async fn modern_first(
    connection: &Arc<StdioConnection>,
    declared: &[u8],
) -> Result<Hello, ServerError> {
    let mut discovering = pin!(discover(connection));
    match timeout(PROBE, &mut discovering).await {
        Ok(Ok(Discovery::Modern(hello))) => Ok(hello),
        Ok(Ok(Discovery::Legacy(version))) => initialize(connection, version, declared).await,
        Ok(Err(error)) => Err(error),
        Err(_) => {
            either(
                discovering,
                pin!(initialize(connection, LEGACY[0], declared)),
            )
            .await
        }
    }
}

async fn legacy_first(
    connection: &Arc<StdioConnection>,
    declared: &[u8],
) -> Result<Hello, ServerError> {
    let mut initializing = pin!(initialize(connection, LEGACY[0], declared));
    match timeout(START_UP, &mut initializing).await {
        Ok(Err(refused @ (ServerError::NotMcp | ServerError::Version(_)))) => {
            match discover(connection).await? {
                Discovery::Modern(hello) => Ok(hello),
                Discovery::Legacy(_) => Err(refused),
            }
        }
        Ok(settled) => settled,
        Err(_) => either(pin!(discover(connection)), initializing).await,
    }
}

/// The first greeting that the server takes; the second refusal if it takes none.
async fn either(
    mut modern: Pin<&mut impl Future<Output = Result<Discovery, ServerError>>>,
    mut legacy: Pin<&mut impl Future<Output = Result<Hello, ServerError>>>,
) -> Result<Hello, ServerError> {
    tokio::select! {
        biased;
        discovery = &mut modern => match discovery? {
            Discovery::Modern(hello) => Ok(hello),
            Discovery::Legacy(_) => legacy.await,
        },
        hello = &mut legacy => match hello {
            // It is up, and was asked the other thing too.
            Err(ServerError::NotMcp) => match timeout(PROBE, modern).await {
                Ok(Ok(Discovery::Modern(hello))) => Ok(hello),
                Ok(Err(error)) => Err(error),
                _ => Err(ServerError::NotMcp),
            },
            settled => settled,
        },
    }
}

/// The modern way.
async fn discover(connection: &Arc<StdioConnection>) -> Result<Discovery, ServerError> {
    let params = message::own_params(Era::Modern, b"");
    match ask(connection, "server/discover", params).await {
        Ok(answer) => Discovery::read(&answer),
        Err(ServerError::NotMcp) => Ok(Discovery::Legacy(LEGACY[0])),
        Err(error) => Err(error),
    }
}

/// The legacy way, asking for this version.
async fn initialize(
    connection: &Arc<StdioConnection>,
    version: &str,
    declared: &[u8],
) -> Result<Hello, ServerError> {
    let bytes = ask(
        connection,
        "initialize",
        initialize_params(version, declared),
    )
    .await?;
    let hello = Hello::initialized(&bytes)?;
    connection.tell(&message::notification("notifications/initialized"));
    Ok(hello)
}

async fn ask(
    connection: &Arc<StdioConnection>,
    method: &str,
    params: Vec<u8>,
) -> Result<Bytes, ServerError> {
    let slot = connection.ask(&NoteSink::closed(), |id| {
        Ok(message::line(id, method, &params))
    });
    let answer = match slot {
        Ok(slot) => slot.answer().await,
        Err(refusal) => Err(refusal),
    };
    answer.map_err(|refusal| match refusal {
        Error::Lost | Error::NotSent(_) => ServerError::Unreachable,
        _ => ServerError::NotMcp,
    })
}

#[cfg(test)]
mod tests;
