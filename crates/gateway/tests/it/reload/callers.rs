//! Callers that the file names: what their keys open, and what happens when they are revoked.

use countersign_audit::{Options, Reader, Revocation};
use countersign_config::{ConfigLocation, LocationSource, Overrides, Source};
use countersign_fixture::client::{Exchange, HttpClient, initialize_params};
use countersign_gateway::Gateway;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{FileGateway, child};
use crate::support::Rig;

const LIST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn entry(name: &str, key: &str, more: &Value) -> Value {
    let digest = countersign_inspect::encode_hex(&Sha256::digest(key));
    let mut entry = json!({"name": name, "key_sha256": digest});
    super::merge(&mut entry, more);
    entry
}

async fn gateway(callers: &Value) -> FileGateway {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    FileGateway::over(folder, &servers, &json!({"callers": callers})).await
}

fn client(gateway: &FileGateway, path: &str, key: &str) -> HttpClient {
    gateway.rig.stranger(path).with_header("X-API-Key", key)
}

/// The statuses of a list of tools, of reading and of a change.
async fn opened(gateway: &FileGateway, key: &str) -> [u16; 3] {
    let list = client(gateway, "/mcp", key).post(LIST).await;
    let read = client(gateway, "/api/v1/servers", key)
        .send("GET", b"")
        .await;
    let change = client(gateway, "/api/v1/config/reload", key);
    let change = change.send("POST", b"").await;
    [list, read, change].map(|answer| answer.expect("an answer").status)
}

#[tokio::test]
async fn a_key_opens_what_its_caller_has_the_right_to() {
    let gateway = gateway(&json!([
        entry("ci", "key-of-ci", &json!({"groups": ["build"]})),
        entry("eyes", "key-of-eyes", &json!({"rights": ["read"]})),
        entry(
            "boss",
            "key-of-boss",
            &json!({"rights": ["call", "read", "manage"]})
        ),
        entry(
            "old",
            "key-of-old",
            &json!({"expires": "2020-01-01T00:00:00Z"})
        ),
    ]))
    .await;
    assert_eq!(opened(&gateway, "key-of-ci").await, [200, 403, 403]);
    assert_eq!(opened(&gateway, "key-of-eyes").await, [403, 200, 403]);
    assert_eq!(opened(&gateway, "key-of-boss").await, [200, 200, 200]);
    assert_eq!(opened(&gateway, "key-of-old").await, [401, 401, 401]);
    assert_eq!(opened(&gateway, "key-of-none").await, [401, 401, 401]);
    // The metrics and the events are read, too.
    for path in ["/metrics", "/events"] {
        let answer = client(&gateway, path, "key-of-ci").open("GET", b"").await;
        assert_eq!(answer.expect("an answer").status, 403, "{path}");
    }
    let ci = client(&gateway, "/mcp/s/x", "key-of-ci");
    let call = ci.call("conforming", "{}").await;
    assert_eq!(call.expect("an answer").status, 200);
    let calls = gateway.rig.activities("type=tool_call").await;
    assert_eq!(calls[0]["caller"], "key:ci");
    // The change tells who made it.
    let changes = gateway.rig.activities("type=config_change").await;
    assert_eq!(changes[0]["caller"], "key:boss");
    let shown = gateway.rig.get("/api/v1/config").await;
    let digest = entry("ci", "key-of-ci", &json!({}))["key_sha256"].to_string();
    assert!(!shown.to_string().contains(digest.trim_matches('"')));
}

#[tokio::test]
async fn refused_credentials_are_counted_and_recorded_once() {
    let gateway = gateway(&json!([])).await;
    for _ in 0..20 {
        let refused = client(&gateway, "/mcp", "a guess").post(LIST).await;
        assert_eq!(refused.expect("an answer").status, 401);
    }
    let metrics = gateway.rig.client("/metrics").send("GET", b"").await;
    let metrics = metrics.expect("an answer");
    let metrics = String::from_utf8_lossy(&metrics.body);
    let counted = r#"countersign_refused_requests_total{reason="credential"} 20"#;
    assert!(metrics.contains(counted), "{metrics}");
    // One, or two if a minute began in between.
    let records = gateway.rig.activities("type=access_refusal").await;
    assert!((1..=2).contains(&records.len()), "{records:?}");
    assert!(!records[0].to_string().contains("a guess"));
}

/// Reads a stream to its end.
async fn end(mut stream: Exchange) {
    while let Ok(Some(_)) = stream.event().await {}
}

/// A session of a caller, its stream, and a stream of events.
struct Opened {
    session: HttpClient,
    news: Exchange,
    events: Exchange,
}

impl Opened {
    async fn with(gateway: &FileGateway, key: &str) -> Self {
        let new = client(gateway, "/mcp/s/x", key);
        let opened = new
            .request("initialize", &initialize_params("2025-11-25"))
            .await;
        let opened = opened.expect("an answer");
        let id = opened.header("mcp-session-id").expect("a session");
        let session = new.with_header("Mcp-Session-Id", id);
        let news = session.open("GET", b"").await.expect("a stream");
        let events = client(gateway, "/events", key).open("GET", b"").await;
        let events = events.expect("a stream");
        assert_eq!((news.status, events.status), (200, 200));
        Self {
            session,
            news,
            events,
        }
    }

    /// Waits until the streams have ended, and looks at the session.
    async fn wait_for_end(self) {
        end(self.news).await;
        end(self.events).await;
        let refused = self.session.post(LIST).await.expect("an answer");
        assert_eq!(refused.status, 401);
    }
}

/// Two callers that may call and read.
fn two() -> [Value; 2] {
    let rights = json!({"rights": ["call", "read"]});
    [
        entry("ci", "key-of-ci", &rights),
        entry("other", "key-of-other", &rights),
    ]
}

#[tokio::test]
async fn revoking_a_key_closes_its_streams_and_no_other() {
    let [ci, other] = two();
    let gateway = gateway(&json!([ci, other])).await;
    let revoked = Opened::with(&gateway, "key-of-ci").await;
    let stays = Opened::with(&gateway, "key-of-other").await;
    gateway.edit(&json!({"callers": [other]})).await;
    revoked.wait_for_end().await;
    let Opened {
        mut news,
        mut events,
        ..
    } = stays;
    // The first event of each is its opening; the record of the change reaches the stream that stays.
    assert!(news.event().await.expect("a stream").is_some());
    assert!(events.event().await.expect("a stream").is_some());
    let told = events.event().await.expect("a stream");
    assert!(told.is_some(), "the stream of the other caller goes on");
}

/// Another process revokes the key in the store that both share; this gateway's file still has it.
#[tokio::test]
async fn a_key_that_is_revoked_in_the_store_is_refused_although_the_file_has_it() {
    let [ci, other] = two();
    let gateway = gateway(&json!([ci, other])).await;
    let revoked = Opened::with(&gateway, "key-of-ci").await;
    let options = Options::new(gateway.rig.folder.path().join("data"));
    let store = Reader::open(&options).expect("the store");
    let key = Sha256::digest("key-of-ci").into();
    let caller = "key:ci";
    assert!(store.revoke(Revocation { caller, key }).expect("revoked"));
    revoked.wait_for_end().await;
    assert_eq!(opened(&gateway, "key-of-other").await, [200, 200, 403]);
    // A reload does not bring it back, and neither does another name.
    gateway.edit(&json!({"trusted_hosts": ["a.example"]})).await;
    assert_eq!(opened(&gateway, "key-of-ci").await, [401, 401, 401]);
    let renamed = entry("cd", "key-of-ci", &json!({}));
    gateway.edit(&json!({"callers": [renamed]})).await;
    assert_eq!(opened(&gateway, "key-of-ci").await, [401, 401, 401]);
    // A new key of the same caller works.
    let renewed = entry("ci", "another-key-of-ci", &json!({}));
    gateway.edit(&json!({"callers": [renewed]})).await;
    assert_eq!(opened(&gateway, "another-key-of-ci").await, [200, 403, 403]);
}

#[tokio::test]
async fn a_key_is_revoked_over_the_api_and_stays_so_after_a_restart() {
    let [ci, other] = two();
    let gateway = gateway(&json!([ci, other])).await;
    let revoked = Opened::with(&gateway, "key-of-ci").await;
    let (status, said) = gateway.send("POST", "/api/v1/callers/ci/revoke", "").await;
    assert_eq!((status, &said["revoked"]), (200, &json!(true)), "{said}");
    assert_eq!(opened(&gateway, "key-of-ci").await, [401, 401, 401]);
    revoked.wait_for_end().await;
    let (status, _) = gateway.send("POST", "/api/v1/callers/cj/revoke", "").await;
    assert_eq!(status, 404);
    let read_only = client(&gateway, "/api/v1/callers/other/revoke", "key-of-other");
    let refused = read_only.send("POST", b"").await.expect("an answer");
    assert_eq!(refused.status, 403);
    let changes = gateway.rig.activities("type=config_change").await;
    assert_eq!(changes[0]["reason"], "revoked the key of key:ci");
    assert_eq!(changes[0]["caller"], "key:operator");
    let FileGateway { rig, file } = gateway;
    let Rig { gateway, folder } = rig;
    gateway.stop(std::future::pending()).await;
    let flags = Overrides {
        data_dir: Some(folder.path().join("data")),
        ..Overrides::default()
    };
    let located = ConfigLocation {
        path: Some(file.clone()),
        source: LocationSource::Flag,
    };
    let loaded = Source::from_located(&located, flags).open();
    let again = Gateway::start(loaded.expect("a configuration")).await;
    let rig = Rig {
        gateway: again.expect("the gateway starts"),
        folder,
    };
    let again = FileGateway { rig, file };
    assert_eq!(opened(&again, "key-of-ci").await, [401, 401, 401]);
    assert_eq!(opened(&again, "key-of-other").await[1], 200);
}
