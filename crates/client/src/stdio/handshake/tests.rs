//! A child that answers the greetings in one way or another, on a clock that stands still.

use countersign_dial::Budget;
use countersign_dial::{Line, Lines};
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::net::unix::pipe;

use super::*;
use crate::stdio::outbox::Outbox;

const DISCOVERED: &str = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
const INITIALIZED: &str = r#""result":{"protocolVersion":"2025-06-18","capabilities":{}}"#;
const REFUSED: &str = r#""error":{"code":-32601,"message":"no"}"#;

/// The other side: what it is asked, and where it answers.
struct Child {
    lines: Lines<pipe::Receiver>,
    out: DuplexStream,
}

impl Child {
    /// The id of the next request, which is of this kind.
    async fn expect_request(&mut self, method: &str) -> String {
        let Line::Whole(line) = self.lines.next().await.expect("a pipe") else {
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

fn started() -> (Arc<StdioConnection>, Child) {
    let (sender, receiver) = pipe::pipe().expect("a pipe");
    let (ours, theirs) = duplex(1 << 16);
    let outbox = Outbox::new(sender, 1 << 16);
    let connection = Arc::new(StdioConnection::new(
        outbox,
        1 << 16,
        "x".into(),
        Arc::new(()),
        None,
    ));
    let lines = Lines::new(ours, 1 << 16, Budget::new(1 << 20));
    let (flusher, listener) = (Arc::clone(&connection), Arc::clone(&connection));
    tokio::spawn(async move { flusher.flush().await });
    tokio::spawn(async move { listener.listen(lines).await });
    let lines = Lines::new(receiver, 1 << 16, Budget::new(1 << 20));
    (connection, Child { lines, out: theirs })
}

/// What a server that said nothing for a while is taken for, by its answers to both greetings.
async fn late(discover: Option<&str>, initialize: &str) -> Result<Era, ServerError> {
    let (connection, mut child) = started();
    let greeting =
        tokio::spawn(
            async move { greet(&connection, EraPreference::First(Era::Modern), b"{}").await },
        );
    let first = child.expect_request("server/discover").await;
    // The clock stands still, and jumps ahead when every task waits.
    let second = child.expect_request("initialize").await;
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
    assert!(matches!(neither, Err(ServerError::NotMcp)));
}

/// What a server is taken for that is greeted the legacy way first and answers at once.
async fn for_a_legacy_client(initialize: &str, discover: Option<&str>) -> Result<Era, ServerError> {
    let (connection, mut child) = started();
    let greeting = EraPreference::First(Era::Legacy);
    let greeting = tokio::spawn(async move { greet(&connection, greeting, b"{}").await });
    let first = child.expect_request("initialize").await;
    child.answer(&first, initialize).await;
    if let Some(answer) = discover {
        let second = child.expect_request("server/discover").await;
        child.answer(&second, answer).await;
    }
    let hello = greeting.await.expect("no panic")?;
    Ok(hello.era)
}

#[tokio::test(start_paused = true)]
async fn a_server_that_knows_initialize_is_not_asked_to_discover() {
    let legacy = for_a_legacy_client(INITIALIZED, None).await;
    assert_eq!(legacy.expect("greeted"), Era::Legacy);
    let modern = for_a_legacy_client(REFUSED, Some(DISCOVERED)).await;
    assert_eq!(modern.expect("greeted"), Era::Modern);
    let newer = r#""result":{"protocolVersion":"2026-07-28","capabilities":{}}"#;
    let modern = for_a_legacy_client(newer, Some(DISCOVERED)).await;
    assert_eq!(modern.expect("greeted"), Era::Modern);
    let neither = for_a_legacy_client(REFUSED, Some(REFUSED)).await;
    assert!(matches!(neither, Err(ServerError::NotMcp)));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_about_initialize_is_asked_to_discover_too() {
    for (discover, initialize, era) in [
        (DISCOVERED, None, Era::Modern),
        (REFUSED, Some(INITIALIZED), Era::Legacy),
    ] {
        let (connection, mut child) = started();
        let greeting = EraPreference::First(Era::Legacy);
        let greeting = tokio::spawn(async move { greet(&connection, greeting, b"{}").await });
        let first = child.expect_request("initialize").await;
        let second = child.expect_request("server/discover").await;
        child.answer(&second, discover).await;
        if let Some(answer) = initialize {
            child.answer(&first, answer).await;
        }
        let hello = greeting.await.expect("no panic").expect("greeted");
        assert_eq!(hello.era, era);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fixed_era_is_the_only_one_that_is_tried() {
    for (era, method) in [
        (Era::Modern, "server/discover"),
        (Era::Legacy, "initialize"),
    ] {
        let (connection, mut child) = started();
        let greeting = EraPreference::Only(era);
        let greeting = tokio::spawn(async move { greet(&connection, greeting, b"{}").await });
        let request = child.expect_request(method).await;
        child.answer(&request, REFUSED).await;
        let refused = greeting.await.expect("no panic").expect_err("another era");
        assert!(matches!(refused, ServerError::OtherEra(other) if other == era));
    }
}
