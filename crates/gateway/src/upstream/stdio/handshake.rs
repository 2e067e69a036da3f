//! The first words with a child: which era it speaks, and what it says about itself. A modern
//! request goes first; whoever does not understand it, or does not answer, is greeted the legacy way.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::{Era, Refusal};
use tokio::time::timeout;

use super::wire::Wire;
use crate::upstream::NoteSink;
use crate::upstream::hello::{Discovery, HandshakeError, Hello, initialize_params};
use crate::upstream::request::{self, LEGACY};

/// A legacy server may keep silent about a method it does not know; a modern one may still be
/// starting, so it is greeted both ways from then on, and its answer decides.
const PROBE: Duration = Duration::from_secs(3);

/// Greets the server. `known` is what it spoke the last time, `declared` what a legacy server may ask of the client.
pub(super) async fn greet(
    wire: &Arc<Wire>,
    known: Option<Era>,
    declared: &[u8],
) -> Result<Hello, HandshakeError> {
    if known == Some(Era::Legacy) {
        return initialize(wire, LEGACY[0], declared).await;
    }
    let mut discovering = pin!(discover(wire));
    match timeout(PROBE, &mut discovering).await {
        Ok(Ok(Discovery::Modern(hello))) => Ok(hello),
        Ok(Ok(Discovery::Legacy(version))) => initialize(wire, version, declared).await,
        Ok(Err(error)) => Err(error),
        Err(_) => either(discovering, pin!(initialize(wire, LEGACY[0], declared))).await,
    }
}

/// The first greeting that the server takes; the second refusal if it takes none.
async fn either(
    mut modern: Pin<&mut impl Future<Output = Result<Discovery, HandshakeError>>>,
    mut legacy: Pin<&mut impl Future<Output = Result<Hello, HandshakeError>>>,
) -> Result<Hello, HandshakeError> {
    tokio::select! {
        // In the order they were sent, if both are there.
        biased;
        discovery = &mut modern => match discovery? {
            Discovery::Modern(hello) => Ok(hello),
            Discovery::Legacy(_) => legacy.await,
        },
        hello = &mut legacy => match hello {
            // It is up, and was asked the other thing first.
            Err(HandshakeError::Refused) => match timeout(PROBE, modern).await {
                Ok(Ok(Discovery::Modern(hello))) => Ok(hello),
                Ok(Err(error)) => Err(error),
                _ => Err(HandshakeError::Refused),
            },
            settled => settled,
        },
    }
}

/// The modern way.
async fn discover(wire: &Arc<Wire>) -> Result<Discovery, HandshakeError> {
    let params = request::own_params(Era::Modern, "");
    match ask(wire, "server/discover", params).await {
        Ok(answer) => Discovery::read(&answer),
        Err(HandshakeError::Refused) => Ok(Discovery::Legacy(LEGACY[0])),
        Err(error) => Err(error),
    }
}

/// The legacy way, asking for this version.
async fn initialize(
    wire: &Arc<Wire>,
    version: &str,
    declared: &[u8],
) -> Result<Hello, HandshakeError> {
    let bytes = ask(wire, "initialize", initialize_params(version, declared)).await?;
    let hello = Hello::initialized(&bytes)?;
    wire.tell(&request::notification("notifications/initialized"));
    Ok(hello)
}

async fn ask(wire: &Arc<Wire>, method: &str, params: String) -> Result<Bytes, HandshakeError> {
    let slot = wire.ask(&NoteSink::closed(), |id| {
        Ok(request::line(id, method, params.as_bytes()))
    });
    let answer = match slot {
        Ok(slot) => slot.answer().await,
        Err(refusal) => Err(refusal),
    };
    answer.map_err(|refusal| match refusal {
        Refusal::Lost => HandshakeError::Lost,
        _ => HandshakeError::Refused,
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
    use tokio::net::unix::pipe;

    use super::*;
    use crate::upstream::stdio::lines::{Line, Lines};
    use crate::upstream::stdio::outbox::Outbox;
    use countersign_dial::Budget;

    const DISCOVERED: &str = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    const INITIALIZED: &str = r#""result":{"protocolVersion":"2025-06-18","capabilities":{}}"#;
    const REFUSED: &str = r#""error":{"code":-32601,"message":"no"}"#;

    /// The other side: what it is asked, and where it answers.
    struct Child {
        asked: Lines<pipe::Receiver>,
        out: DuplexStream,
    }

    impl Child {
        /// The id of the next request, which is of this kind.
        async fn asked(&mut self, method: &str) -> String {
            let Line::Whole(line) = self.asked.next().await.expect("a pipe") else {
                panic!("no {method}");
            };
            let line = String::from_utf8_lossy(&line);
            assert!(line.contains(&format!(r#""method":"{method}""#)), "{line}");
            let (_, rest) = line.split_once(r#""id":"#).expect("an id");
            rest.split([',', '}']).next().expect("a number").to_owned()
        }

        async fn answer(&mut self, id: &str, what: &str) {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{what}}}\n");
            self.out.write_all(line.as_bytes()).await.expect("written");
        }
    }

    fn started() -> (Arc<Wire>, Child) {
        let (sender, receiver) = pipe::pipe().expect("a pipe");
        let (ours, theirs) = duplex(1 << 16);
        let outbox = Outbox::new(sender, 1 << 16);
        let wire = Arc::new(Wire::new(outbox, 1 << 16, "x".into(), Arc::default(), None));
        let lines = Lines::new(ours, 1 << 16, Budget::new(1 << 20));
        let (flusher, listener) = (Arc::clone(&wire), Arc::clone(&wire));
        tokio::spawn(async move { flusher.flush().await });
        tokio::spawn(async move { listener.listen(lines).await });
        let asked = Lines::new(receiver, 1 << 16, Budget::new(1 << 20));
        (wire, Child { asked, out: theirs })
    }

    /// What a server that said nothing for a while is taken for, by its answers to both greetings.
    async fn late(discover: Option<&str>, initialize: &str) -> Result<Era, HandshakeError> {
        let (wire, mut child) = started();
        let greeting = tokio::spawn(async move { greet(&wire, None, b"{}").await });
        let first = child.asked("server/discover").await;
        // The clock stands still, and jumps when nobody has anything to do.
        let second = child.asked("initialize").await;
        if let Some(answer) = discover {
            child.answer(&first, answer).await;
        }
        child.answer(&second, initialize).await;
        let hello = greeting.await.expect("no panic")?;
        Ok(hello.era)
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_starts_slowly_is_greeted_in_its_own_era() {
        let modern = late(Some(DISCOVERED), REFUSED).await;
        assert_eq!(modern.expect("greeted"), Era::Modern);
        let legacy = late(Some(REFUSED), INITIALIZED).await;
        assert_eq!(legacy.expect("greeted"), Era::Legacy);
        let silent = late(None, INITIALIZED).await;
        assert_eq!(silent.expect("greeted"), Era::Legacy);
        let neither = late(None, REFUSED).await;
        assert!(matches!(neither, Err(HandshakeError::Refused)));
    }
}
