//! Unix sockets, and several sockets at once.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use countersign_config::Listen;
use countersign_fixture::script::Step;
use countersign_fixture::{Answer, Entry, LogListener, Script, Tool};
use countersign_gateway::{Gateway, StartError};
use tokio::net::TcpStream;

use crate::support::{ADMIN_KEY, Rig, WAIT, config, fixture, preset, scripted};
use crate::wire::{bare, exchange, exchange_unix, key, tool_call};

async fn rig(listen: &str) -> (Rig, PathBuf) {
    let listen = Listen::parse_list(listen).expect("places");
    let rig = Rig::with(vec![preset("x", "demo")], |config| config.listen = listen).await;
    let path = rig.folder.path().join("g.sock");
    (rig, path)
}

async fn head(path: &Path, sent: &str) -> String {
    let answer = exchange_unix(path, sent).await.expect("an answer");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_socket_serves_its_owner_whatever_the_host_is_called() {
    let (rig, path) = rig("unix:g.sock").await;
    let mode = std::fs::symlink_metadata(&path).expect("a socket").mode();
    assert_eq!(mode & 0o777, 0o600);
    let call = tool_call("text_only", &key());
    assert_eq!(head(&path, &call).await, "HTTP/1.1 200 OK");
    for host in ["gateway.sock", "evil.example:80", ""] {
        let call = call.replace("Host: localhost", &format!("Host: {host}"));
        assert_eq!(head(&path, &call).await, "HTTP/1.1 200 OK", "{host:?}");
    }
    let place = rig.gateway.addresses()[0].to_string();
    assert_eq!(place, format!("unix:{}", path.display()));
    rig.gateway.stop(std::future::pending()).await;
    assert!(!path.exists(), "it is removed");
}

#[tokio::test]
async fn a_second_gateway_does_not_take_the_socket_of_the_first() {
    let (rig, path) = rig("unix:g.sock").await;
    let mut second = config(rig.folder.path(), Vec::new());
    second.listen = Listen::parse_list("unix:g.sock").expect("a place");
    let refused = Gateway::start(second).await.expect_err("it is in use");
    assert!(
        matches!(&refused, StartError::Listen { listen, .. } if listen.to_string().ends_with("g.sock")),
        "{refused:?}"
    );
    let call = tool_call("text_only", &key());
    assert_eq!(head(&path, &call).await, "HTTP/1.1 200 OK");
}

#[tokio::test]
async fn all_sockets_serve_and_all_of_them_drain() {
    let slow = Tool::named("slow").steps(vec![Step::DelayMs(300), Step::Answer(Answer::default())]);
    let mut log = LogListener::bind().await.expect("a port");
    let (_, written) = scripted("x", &Script::new("slow").tool(slow));
    let script = written.path().join("script.json");
    let script = script.to_str().expect("a path in UTF-8");
    let target = log.target().expect("an address");
    let server = fixture("x", &["--script", script, "--log", &target]);
    let listen = Listen::parse_list("127.0.0.1:0,[::1]:0,unix:g.sock").expect("places");
    let rig = Rig::with(vec![server], |config| config.listen = listen).await;
    let path = rig.folder.path().join("g.sock");
    let call = tool_call("slow", &key());
    let mut calls = Vec::new();
    for place in rig.gateway.addresses() {
        let (address, path, call) = (place.tcp(), path.clone(), call.clone());
        calls.push(tokio::spawn(async move {
            match address {
                Some(address) => {
                    let stream = TcpStream::connect(address).await.expect("it listens");
                    exchange(stream, &call).await.expect("an answer")
                }
                None => exchange_unix(&path, &call).await.expect("an answer"),
            }
        }));
    }
    assert_eq!(calls.len(), 3);
    let addresses = rig.gateway.addresses().to_vec();
    let is_call = |entry: &Entry| String::from_utf8_lossy(entry.body()).contains("tools/call");
    for _ in &calls {
        log.find(WAIT, is_call).await.expect("a call under way");
    }
    rig.gateway.stop(std::future::pending()).await;
    for call in calls {
        let answer = call.await.expect("a call");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    for address in addresses
        .iter()
        .filter_map(countersign_config::ListenAddress::tcp)
    {
        TcpStream::connect(address).await.expect_err("it is closed");
    }
    assert!(!path.exists());
}

#[tokio::test]
async fn our_own_user_is_a_caller_without_a_key() {
    let (_rig, path) = rig("unix:g.sock").await;
    assert_eq!(
        head(&path, &tool_call("text_only", "")).await,
        "HTTP/1.1 200 OK"
    );
    let listed = exchange_unix(&path, &bare("GET", "/api/v1/activity?type=tool_call", "")).await;
    let listed = listed.expect("an answer");
    let uid = rustix::process::geteuid().as_raw();
    assert!(
        listed.contains(&format!(r#""caller":"local:{uid}""#)),
        "{listed}"
    );
    // A credential in the headers says who the caller is, also if it is wrong.
    let wrong = tool_call("text_only", "X-API-Key: wrong\r\n");
    assert_eq!(head(&path, &wrong).await, "HTTP/1.1 401 Unauthorized");
}

#[tokio::test]
async fn a_change_over_a_socket_needs_the_admin_key() {
    let (_rig, path) = rig("unix:g.sock").await;
    let change = |headers: &str| bare("POST", "/api/v1/servers/x/restart", headers);
    assert_eq!(head(&path, &change("")).await, "HTTP/1.1 403 Forbidden");
    let client = change(&key());
    assert_eq!(head(&path, &client).await, "HTTP/1.1 403 Forbidden");
    let admin = change(&format!("X-API-Key: {ADMIN_KEY}\r\n"));
    // Let in; this gateway has no file that a change could be written to.
    assert_eq!(head(&path, &admin).await, "HTTP/1.1 409 Conflict");
}
