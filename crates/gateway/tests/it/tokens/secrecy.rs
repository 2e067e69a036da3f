//! A token stops at the door: nothing of it reaches a server, a log, a record or a metric.

use std::io;
use std::sync::{Arc, Mutex};

use countersign_dial::lock;
use tracing_subscriber::fmt::MakeWriter;

use super::{Entry, PUBLIC_URL, TokenRig};
use crate::support::text;

/// Collects what is logged.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<u8>>>);

impl io::Write for Collector {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Collector {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn a_canary_token_shows_nowhere() {
    let logged = Collector::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(logged.clone())
        .finish();
    // With only one subscriber alive, `tracing` asks the thread that first reaches an event whether it is wanted, and
    // remembers the answer for all threads. The threads of other tests have none; with two, all are asked.
    let _second = tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish());
    // The test has one thread, so that every task of the gateway logs here.
    let _guard = tracing::subscriber::set_default(subscriber);
    tracing::callsite::rebuild_interest_cache();
    let mut rig = TokenRig::with(|config| {
        config.activity.payloads = countersign_audit::Payloads::Full;
        config.auth.read_groups = vec!["sales".to_owned()];
    })
    .await;
    let good = rig.token();
    let wrong = rig.token_with(&serde_json::json!({"aud": "https://other.example"}));
    rig.works(&good).await;
    rig.works(&good).await;
    rig.refuses(&wrong, "audience").await;
    let in_query = rig.rig.stranger(&format!("/mcp/s/x?access_token={good}"));
    assert_eq!(
        in_query.call("ok", "{}").await.expect("an answer").status,
        400
    );
    let opaque = "opaque-canary-0123456789";
    rig.refuses(opaque, "not a signed JWT").await;

    let parts: Vec<&str> = good
        .split('.')
        .chain(wrong.split('.'))
        .chain([opaque])
        .collect();
    let check = |what: &str, seen: &str| {
        for part in &parts {
            assert!(!seen.contains(part), "{what}: {seen}");
        }
    };
    let mut forwarded = 0;
    while let Ok(entry) = rig.log.try_recv() {
        if let Entry::Message { head, body } = &entry {
            check("upstream", &text(head));
            check("upstream", &text(body));
            assert!(!text(head).to_ascii_lowercase().contains("authorization"));
            forwarded += usize::from(text(body).contains("tools/call"));
        }
    }
    assert_eq!(forwarded, 2);
    let admin = rig
        .key
        .sign(&rig.issuer.claims(&format!("{PUBLIC_URL}/mcp")));
    for path in [
        "/metrics",
        "/api/v1/activity?limit=200",
        "/api/v1/config",
        "/api/v1/status",
    ] {
        let seen = rig
            .client(path, &admin)
            .send("GET", b"")
            .await
            .expect("an answer");
        check(path, &text(&seen.body));
    }
    let logs = text(&lock(&logged.0));
    assert!(logs.contains("refused a token"), "{logs}");
    check("log", &logs);
    for entry in std::fs::read_dir(rig.rig.folder.path())
        .expect("a folder")
        .flatten()
    {
        if let Ok(bytes) = std::fs::read(entry.path()) {
            check("data directory", &text(&bytes));
        }
    }
}
