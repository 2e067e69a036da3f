//! TLS: the certificate and its change, the certificates of clients, and what does not speak TLS.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use countersign_config::{CallerConfig, CallerCredential, CallerRight, ClientAuth, Tls};
use countersign_fixture::certificates::{
    AGENT, AGENTS, EXPIRED, Pair, RENEWED, SERVER, STRANGER, UNLISTED,
};
use countersign_gateway::{Gateway, StartError, TlsError, check_certificate};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::reload::{FileGateway, child};
use crate::support::{ADMIN_KEY, Rig, WAIT, config, preset, raise_file_limit};
use crate::wire::{TlsClient, bare, certificate, exchange, key, tool_call};

const HTTP_1: &[&[u8]] = &[b"http/1.1"];

/// Files of TLS, and the configuration that names them.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new(pair: Pair) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let files = Self { folder };
        files.write("agents.pem", AGENTS);
        files.replace(pair);
        files
    }

    fn write(&self, name: &str, text: &str) {
        // In one step, as tools that renew certificates do.
        let new = self.folder.path().join("new");
        std::fs::write(&new, text).expect("written");
        std::fs::rename(new, self.folder.path().join(name)).expect("renamed");
    }

    fn replace(&self, pair: Pair) {
        self.write("tls.crt", pair.certificate);
        self.write("tls.key", pair.key);
    }

    fn config(&self, client_auth: ClientAuth) -> Tls {
        let path = |name: &str| Some(self.folder.path().join(name));
        Tls {
            cert_file: path("tls.crt"),
            key_file: path("tls.key"),
            client_ca_file: path("agents.pem"),
            client_auth,
        }
    }

    async fn serve(&self, client_auth: ClientAuth) -> Rig {
        let tls = self.config(client_auth);
        Rig::with(vec![preset("x", "demo")], |config| config.tls = tls).await
    }
}

fn client(pair: Option<Pair>) -> TlsClient {
    TlsClient::new(pair, HTTP_1)
}

async fn status(client: &TlsClient, address: SocketAddr) -> serde_json::Value {
    let sent = bare("GET", "/api/v1/status", &key());
    let answer = client.exchange(address, &sent).await.expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

/// The certificate that a new connection gets.
async fn shown(client: &TlsClient, address: SocketAddr) -> Vec<u8> {
    let stream = client.connect(address).await.expect("a connection");
    let shown = stream.get_ref().1.peer_certificates();
    shown.expect("certificates")[0].to_vec()
}

#[tokio::test]
async fn a_call_goes_over_tls_and_http_1_1() {
    let files = Files::new(SERVER);
    let rig = files.serve(ClientAuth::Off).await;
    let address = rig.gateway.address();
    let both = TlsClient::new(None, &[b"h2", b"http/1.1"]);
    let stream = both.connect(address).await.expect("a connection");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let answer = exchange(stream, &tool_call("text_only", &key())).await;
    let answer = answer.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let without = TlsClient::new(None, &[]);
    let sent = tool_call("text_only", "");
    let answer = without.exchange(address, &sent).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let only_http_2 = TlsClient::new(None, &[b"h2"]);
    only_http_2
        .connect(address)
        .await
        .expect_err("no protocol in common");
    rig.counted("handshake_failures", 1).await;
}

#[tokio::test]
async fn what_is_not_tls_is_closed_and_plain_http_is_told_why() {
    let files = Files::new(SERVER);
    let rig = files.serve(ClientAuth::Off).await;
    let address = rig.gateway.address();
    let plain = TcpStream::connect(address).await.expect("it listens");
    let answer = exchange(plain, &tool_call("text_only", &key())).await;
    let answer = answer.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.ends_with("this port speaks TLS: use https\n"));
    for garbage in ["\0\0\0\0", "\u{16}\u{3}\u{1}\0\u{5}aaaaa", "\u{16}xx"] {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(garbage.as_bytes()).await.expect("sent");
        stream.shutdown().await.expect("sent");
        // Perhaps an alert, in any case an end.
        drop(exchange(stream, "").await);
    }
    rig.counted("handshake_failures", 4).await;
    assert!(status(&client(None), address).await["version"].is_string());
}

#[tokio::test]
async fn a_client_shows_a_certificate_that_can_be_verified() {
    let files = Files::new(SERVER);
    for (client_auth, served, refused) in [
        (
            ClientAuth::Off,
            &[None, Some(AGENT), Some(STRANGER), Some(EXPIRED)][..],
            &[][..],
        ),
        (
            ClientAuth::Optional,
            &[None, Some(AGENT), Some(UNLISTED)],
            &[Some(STRANGER), Some(EXPIRED)],
        ),
        (
            ClientAuth::Required,
            &[Some(AGENT), Some(UNLISTED)],
            &[None, Some(STRANGER), Some(EXPIRED)],
        ),
    ] {
        let rig = files.serve(client_auth).await;
        let address = rig.gateway.address();
        let sent = tool_call("text_only", &key());
        for pair in served {
            let answer = client(*pair).exchange(address, &sent).await;
            let answer = answer.expect("an answer");
            assert!(answer.starts_with("HTTP/1.1 200"), "{pair:?}: {answer}");
        }
        for pair in refused {
            let answer = client(*pair).exchange(address, &sent).await;
            answer.expect_err(client_auth.as_str());
        }
        rig.counted("handshake_failures", refused.len() as u64)
            .await;
    }
}

fn mesh(certificate: &str) -> CallerConfig {
    CallerConfig {
        name: "mesh".to_owned(),
        credential: CallerCredential::Certificate(certificate.to_owned()),
        groups: Vec::new(),
        rights: vec![CallerRight::Call],
        expires: None,
    }
}

#[tokio::test]
async fn a_listed_name_in_a_certificate_is_a_caller() {
    let files = Files::new(SERVER);
    for name in ["spiffe://example.com/agent", "Agent.example.com"] {
        let tls = files.config(ClientAuth::Optional);
        let rig = Rig::with(vec![preset("x", "demo")], |config| {
            config.tls = tls;
            config.callers = vec![mesh(name)];
        });
        let rig = rig.await;
        let address = rig.gateway.address();
        let status = async |pair: Option<Pair>, sent: &str| {
            let answer = client(pair).exchange(address, sent).await;
            answer.expect("an answer")[..12].to_owned()
        };
        let call = tool_call("text_only", "");
        assert_eq!(status(Some(AGENT), &call).await, "HTTP/1.1 200", "{name}");
        assert_eq!(status(Some(UNLISTED), &call).await, "HTTP/1.1 401");
        assert_eq!(status(None, &call).await, "HTTP/1.1 401");
        // It may call, and nothing else.
        let read = bare("GET", "/api/v1/status", "");
        assert_eq!(status(Some(AGENT), &read).await, "HTTP/1.1 403");
        // A key in the headers says who the caller is, also if it is wrong.
        let wrong = tool_call("text_only", "X-API-Key: wrong\r\n");
        assert_eq!(status(Some(AGENT), &wrong).await, "HTTP/1.1 401");
        let keyed = tool_call("text_only", &key());
        assert_eq!(status(Some(AGENT), &keyed).await, "HTTP/1.1 200");
        let listed = bare("GET", "/api/v1/activity?type=tool_call", &key());
        let listed = client(None).exchange(address, &listed).await;
        let listed = listed.expect("an answer");
        for caller in ["cert:mesh", "key:client"] {
            let expected = format!(r#""caller":"{caller}""#);
            assert_eq!(listed.matches(&expected).count(), 1, "{listed}");
        }
    }
}

/// A stream of events that a caller has open by its certificate.
async fn open_events(address: SocketAddr) -> impl AsyncRead + Unpin {
    let mut stream = client(Some(AGENT)).connect(address).await.expect("open");
    let sent = bare("GET", "/events", "");
    stream.write_all(sent.as_bytes()).await.expect("sent");
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.expect("an answer");
    assert_eq!(status, *b"HTTP/1.1 200");
    stream
}

/// Each gateway asks the store twice a second. Its own configuration goes on naming the caller.
#[tokio::test]
async fn a_revoked_certificate_is_refused_by_every_gateway_that_shares_the_store() {
    let files = Files::new(SERVER);
    let name = "spiffe://example.com/agent";
    let path = |file: &str| files.folder.path().join(file);
    let settings = json!({
        "tls": {
            "cert_file": path("tls.crt"), "key_file": path("tls.key"), "client_ca_file": path("agents.pem"),
            "client_auth": "optional",
        },
        "callers": [{"name": "mesh", "certificate": name, "rights": ["call", "read"]}],
    });
    let servers = json!({"x": child(&["--preset", "demo"])});
    let folder = tempfile::tempdir().expect("a folder");
    let one = FileGateway::over(folder, &servers, &settings).await;
    let data = one.rig.folder.path().join("data");
    let beside = async |caller: &str| {
        let mut config = config(&data, vec![preset("x", "demo")]);
        config.tls = files.config(ClientAuth::Optional);
        let mut named = mesh(name);
        caller.clone_into(&mut named.name);
        named.rights.push(CallerRight::Read);
        config.callers = vec![named];
        let gateway = Gateway::start(config).await.expect("the gateway starts");
        gateway.settled().await;
        gateway
    };
    let other = beside("mesh").await;
    let addresses = [one.rig.gateway.address(), other.address()];
    let status = async |address, sent: &str| {
        let answer = client(Some(AGENT)).exchange(address, sent).await;
        answer.expect("an answer")[..12].to_owned()
    };
    let call = tool_call("text_only", "");
    let mut streams = Vec::new();
    for address in addresses {
        assert_eq!(status(address, &call).await, "HTTP/1.1 200");
        streams.push(open_events(address).await);
    }
    let admin = format!("X-API-Key: {ADMIN_KEY}\r\nContent-Length: 0\r\n");
    let revoke = bare("POST", "/api/v1/callers/cert:mesh/revoke", &admin);
    assert_eq!(status(addresses[0], &revoke).await, "HTTP/1.1 200");
    assert_eq!(status(addresses[0], &call).await, "HTTP/1.1 401");
    for mut stream in streams {
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        let ended = tokio::time::timeout(WAIT, ended).await;
        drop(ended.expect("the stream is closed"));
    }
    let keyed = tool_call("text_only", &key());
    for address in addresses {
        assert_eq!(status(address, &call).await, "HTTP/1.1 401");
        assert_eq!(status(address, &keyed).await, "HTTP/1.1 200");
    }
    let changes = bare("GET", "/api/v1/activity?type=config_change", &key());
    let changes = client(None).exchange(addresses[0], &changes).await;
    let changes = changes.expect("an answer");
    assert!(
        changes.contains("revoked the certificate of cert:mesh"),
        "{changes}"
    );
    // It stays so for gateways that start later; under another name the caller comes back.
    for (caller, expected) in [("mesh", "HTTP/1.1 401"), ("mesh-2", "HTTP/1.1 200")] {
        let later = beside(caller).await;
        assert_eq!(status(later.address(), &call).await, expected, "{caller}");
    }
}

/// A gateway whose certificate changes while clients come all the time.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_changes_without_a_failed_handshake() {
    let files = Files::new(SERVER);
    let rig = files.serve(ClientAuth::Off).await;
    let address = rig.gateway.address();
    let (done, calls) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let mut load = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (client, done, calls) = (client(None), Arc::clone(&done), Arc::clone(&calls));
        load.spawn(async move {
            let sent = tool_call("text_only", &key());
            while !done.load(Ordering::Relaxed) {
                let answer = client.exchange(address, &sent).await.expect("an answer");
                assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
                calls.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    // One connection lives through all of it.
    let mut kept = client(None).connect(address).await.expect("a connection");
    for (number, pair) in [(1, RENEWED), (2, SERVER), (3, RENEWED)] {
        let before = calls.load(Ordering::Relaxed);
        files.replace(pair);
        rig.counted("certificate_reloads", number).await;
        let new = shown(&client(None), address).await;
        assert_eq!(new, certificate(pair.certificate).to_vec());
        while calls.load(Ordering::Relaxed) < before + 8 {
            tokio::task::yield_now().await;
        }
    }
    done.store(true, Ordering::Relaxed);
    while let Some(ended) = load.join_next().await {
        ended.expect("no call failed");
    }
    kept.write_all(b"").await.expect("open");
    let answer = exchange(kept, &tool_call("text_only", &key())).await;
    assert!(answer.expect("an answer").starts_with("HTTP/1.1 200"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_that_cannot_be_used_leaves_the_one_before() {
    let files = Files::new(SERVER);
    let rig = files.serve(ClientAuth::Optional).await;
    let (client, address) = (client(None), rig.gateway.address());
    let error = async || status(&client, address).await["config"]["certificate_error"].clone();
    assert!(error().await.is_null());
    let ours = certificate(SERVER.certificate).to_vec();
    for (number, (name, content, why)) in [
        (
            "tls.crt",
            RENEWED.certificate,
            "cannot be used with the key",
        ),
        ("tls.crt", "none", "has no certificate in PEM"),
        (
            "tls.crt",
            EXPIRED.certificate,
            "cannot be used with the key",
        ),
        ("tls.key", "none", "has no private key in PEM"),
        ("agents.pem", "none", "has no certificate in PEM"),
    ]
    .into_iter()
    .enumerate()
    {
        files.replace(SERVER);
        files.write("agents.pem", AGENTS);
        files.write(name, content);
        let refusals = number as u64 + 1;
        rig.counted("certificate_refusals", refusals).await;
        assert_eq!(shown(&client, address).await, ours, "{name}");
        let said = error().await;
        assert!(
            said.as_str().is_some_and(|said| said.contains(why)),
            "{said}"
        );
    }
    std::fs::remove_file(files.folder.path().join("tls.crt")).expect("removed");
    rig.counted("certificate_refusals", 6).await;
    assert_eq!(shown(&client, address).await, ours);
    // Key and certificate may come one after the other.
    let reloads = rig.gateway.counts();
    let reloads = reloads
        .iter()
        .find(|(name, _)| *name == "certificate_reloads");
    let reloads = reloads.expect("a counter").1;
    files.write("agents.pem", AGENTS);
    files.replace(RENEWED);
    rig.counted("certificate_reloads", reloads + 1).await;
    let renewed = certificate(RENEWED.certificate).to_vec();
    assert_eq!(shown(&client, address).await, renewed);
    assert!(error().await.is_null());
}

/// An expired certificate with its own key.
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_certificate_is_not_taken_over() {
    let files = Files::new(SERVER);
    let rig = files.serve(ClientAuth::Off).await;
    files.replace(EXPIRED);
    rig.counted("certificate_refusals", 1).await;
    let found = check_certificate(&files.config(ClientAuth::Off));
    assert!(matches!(found, Err(TlsError::Time { .. })), "{found:?}");
    let ours = certificate(SERVER.certificate).to_vec();
    assert_eq!(shown(&client(None), rig.gateway.address()).await, ours);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_begin_no_handshake_keep_no_client_out() {
    raise_file_limit();
    let files = Files::new(SERVER);
    let rig = files.serve(ClientAuth::Off).await;
    let address = rig.gateway.address();
    let mut silent = Vec::new();
    for number in 0..2200 {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        if number % 2 == 0 {
            // The beginning of a handshake without its end.
            drop(stream.write_all(&[22, 3, 1, 2, 0, 1]).await);
        }
        silent.push(stream);
    }
    rig.counted("evicted", 2200 - 2048).await;
    let sent = tool_call("text_only", &key());
    let answer = client(None).exchange(address, &sent).await;
    assert!(answer.expect("an answer").starts_with("HTTP/1.1 200"));
    // Nor do they keep the gateway from stopping.
    let stopped = tokio::time::timeout(WAIT, rig.gateway.stop(std::future::pending()));
    stopped.await.expect("it stops");
}

#[tokio::test]
async fn a_gateway_does_not_start_with_files_that_cannot_be_used() {
    let files = Files::new(SERVER);
    let start = async || {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = config(folder.path(), Vec::new());
        config.tls = files.config(ClientAuth::Required);
        match Gateway::start(config).await {
            Err(StartError::Tls(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    files.write("tls.key", RENEWED.key);
    assert!(matches!(start().await, TlsError::Pair { .. }));
    files.write("tls.key", SERVER.certificate);
    assert!(matches!(start().await, TlsError::NoKey { .. }));
    files.write("tls.crt", "");
    assert!(matches!(start().await, TlsError::NoCertificate { .. }));
    files.replace(SERVER);
    files.write("agents.pem", SERVER.key);
    assert!(matches!(start().await, TlsError::NoCertificate { .. }));
    let gone: &Path = &files.folder.path().join("agents.pem");
    std::fs::remove_file(gone).expect("removed");
    assert!(matches!(start().await, TlsError::Read { path, .. } if path == gone));
}
