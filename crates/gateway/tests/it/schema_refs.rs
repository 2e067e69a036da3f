//! Schemas that refer to other documents: fetched only from the hosts that the operator allows, within limits, and recorded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_config::SchemaRefs;
use countersign_fixture::{Script, Tool};
use countersign_inspect::Mode;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Rig, refusal, result, scripted};

/// A host with documents, which counts the requests for each.
struct Host {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Host {
    /// Serves whole responses by their paths; `slow` never ends, and whatever is not known is a schema of an integer.
    async fn start(responses: &[(&str, String)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let responses: BTreeMap<String, String> = responses
            .iter()
            .map(|(path, response)| ((*path).to_owned(), response.clone()))
            .collect();
        let (responses, log) = (Arc::new(responses), Arc::clone(&requests));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&responses), Arc::clone(&log)));
            }
        });
        Self { port, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("a lock").clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    responses: Arc<BTreeMap<String, String>>,
    log: Arc<Mutex<Vec<String>>>,
) {
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return,
            Ok(read) => head.extend_from_slice(&part[..read]),
        }
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    assert!(
        !head.contains("authorization") && !head.contains("cookie"),
        "{head}"
    );
    let path = head.split_whitespace().nth(1).unwrap_or_default();
    let path = path.trim_start_matches('/').to_owned();
    log.lock().expect("a lock").push(path.clone());
    let integer = || json(r#"{"type":"integer"}"#);
    let response = responses.get(&path).cloned().unwrap_or_else(integer);
    // The client may have gone.
    drop(stream.write_all(response.as_bytes()).await);
    if path == "slow" {
        std::future::pending::<()>().await;
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn json(body: &str) -> String {
    response("200 OK", "Content-Type: application/schema+json\r\n", body)
}

/// A tool whose structured content is `n`, held to what the address says.
fn tool(name: &str, address: &str, n: &str) -> Tool {
    let schema = format!(r#"{{"type":"object","properties":{{"n":{{"$ref":"{address}"}}}}}}"#);
    let result = format!(r#"{{"content":[],"structuredContent":{{"n":{n}}}}}"#);
    Tool::with_output_schema(name, &schema).result(&result)
}

fn allowing(port: u16) -> SchemaRefs {
    SchemaRefs {
        hosts: vec![format!("127.0.0.1:{port}")],
        allow_private: true,
        ..SchemaRefs::default()
    }
}

/// A gateway over a server with these tools, in strict mode.
async fn rig(tools: Vec<Tool>, refs: SchemaRefs) -> (Rig, tempfile::TempDir) {
    let script = tools.into_iter().fold(Script::new("x"), Script::tool);
    let (server, folder) = scripted("x", &script);
    let rig = Rig::with(vec![server], |config| {
        config.output.mode = Some(Mode::Strict);
        config.schema_refs = refs;
    });
    (rig.await, folder)
}

/// Why the schema of each tool cannot be enforced.
async fn reasons(rig: &Rig) -> BTreeMap<String, String> {
    let servers = rig.get("/api/v1/servers").await;
    let listed = servers["servers"][0]["unenforceable"].as_array();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let listed = listed.expect("a list").iter();
    listed
        .map(|one| (text(&one["tool"]), text(&one["reason"])))
        .collect()
}

#[tokio::test]
async fn nothing_is_fetched_by_default() {
    let host = Host::start(&[]).await;
    let (rig, _folder) = rig(vec![tool("t", &host.url("a"), "1")], SchemaRefs::default()).await;
    let reasons = reasons(&rig).await;
    assert!(reasons["t"].contains("external $ref"), "{reasons:?}");
    assert_eq!(host.requests(), [""; 0]);
}

#[tokio::test]
async fn an_allowed_document_is_fetched_once_recorded_and_enforced() {
    // Documents that refer to each other, and by a relative reference.
    let circle = |next: &str| {
        json(&format!(
            r##"{{"$defs":{{"n":{{"type":"integer"}},"deep":{{"type":"object","properties":{{"n":{{"$ref":"{next}#/$defs/deep"}},"v":{{"$ref":"#/$defs/n"}}}}}}}}}}"##
        ))
    };
    let host = Host::start(&[("a", circle("b")), ("b", circle("a"))]).await;
    let tools = vec![
        tool("good", &host.url("int"), "1"),
        tool("bad", &host.url("int"), "\"x\""),
        tool("deep", &host.url("a#/$defs/deep"), r#"{"n":{"n":{"v":1}}}"#),
        tool(
            "deep-bad",
            &host.url("a#/$defs/deep"),
            r#"{"n":{"n":{"v":"x"}}}"#,
        ),
    ];
    let (rig, _folder) = rig(tools, allowing(host.port)).await;
    assert_eq!(reasons(&rig).await, BTreeMap::new());
    let client = rig.client("/mcp/s/x");
    for good in ["good", "deep"] {
        let answer = client.call(good, "{}").await.expect("an answer");
        assert!(result(&answer).contains("structuredContent"), "{good}");
    }
    for bad in ["bad", "deep-bad"] {
        let said = refusal(&client.call(bad, "{}").await.expect("an answer"));
        assert!(said.contains("output schema validation failed"), "{said}");
    }
    let mut requests = host.requests();
    requests.sort();
    assert_eq!(requests, ["a", "b", "int"]);
    let mut recorded: Vec<String> = Vec::new();
    for record in rig.activities("type=schema_diagnostic").await {
        recorded.push(record["reason"].as_str().expect("a reason").to_owned());
    }
    for path in ["a", "b", "int"] {
        let words = format!("fetched {} (", host.url(path));
        assert!(
            recorded.iter().any(|reason| reason.starts_with(&words)),
            "{recorded:?}"
        );
    }
}

#[tokio::test]
async fn hostile_documents_leave_only_their_own_schema_unenforceable() {
    let other = Host::start(&[]).await;
    let elsewhere = format!("Location: {}\r\n", other.url("a"));
    let plain = "Content-Type: text/html\r\n";
    let zipped = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
    let endless = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n";
    let huge = format!("{{\"x\":\"{}\"}}", "x".repeat(300 << 10));
    let host = Host::start(&[
        ("redirect", response("302 Found", &elsewhere, "")),
        ("type", response("200 OK", plain, "{}")),
        ("missing", response("404 Not Found", "", "")),
        ("zipped", response("200 OK", zipped, "{}")),
        ("huge", json(&huge)),
        ("slow", endless.to_owned()),
        ("broken", json("{")),
    ])
    .await;
    let expected = [
        ("redirect", "it redirects"),
        ("type", "not said to be JSON"),
        ("missing", "the HTTP status 404"),
        ("zipped", "encoded"),
        ("huge", "larger than schema_refs.max_bytes"),
        ("slow", "within schema_refs.timeout"),
        ("broken", "not JSON"),
    ];
    let mut tools: Vec<_> = expected
        .iter()
        .map(|(name, _)| tool(name, &host.url(name), "1"))
        .collect();
    tools.push(tool("other", &other.url("a"), "1"));
    tools.push(tool("file", "file:///etc/passwd", "1"));
    tools.push(tool("fine", &host.url("fine"), "\"x\""));
    let mut refs = allowing(host.port);
    refs.timeout = Duration::from_millis(500);
    let (rig, _folder) = rig(tools, refs).await;
    let reasons = reasons(&rig).await;
    let beside = [
        ("other", "its host is not in schema_refs.hosts"),
        ("file", "its address is not one of http or https"),
    ];
    for (name, words) in expected.iter().chain(&beside) {
        assert!(reasons[*name].contains(words), "{name}: {reasons:?}");
    }
    assert_eq!(reasons.len(), expected.len() + beside.len(), "{reasons:?}");
    assert_eq!(other.requests(), [""; 0]);
    let answer = rig.client("/mcp/s/x").call("fine", "{}").await;
    let said = refusal(&answer.expect("an answer"));
    assert!(said.contains("output schema validation failed"), "{said}");
    let recorded = rig
        .activities("type=schema_diagnostic&status=rejected")
        .await;
    assert_eq!(recorded.len(), 8, "as many as are recorded one by one");
}

/// The name is allowed, and leads to an address that is not: what counts is what is connected to.
#[tokio::test]
async fn an_allowed_name_that_leads_inside_is_not_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let refs = SchemaRefs {
        hosts: vec![format!("localhost:{port}"), format!("127.0.0.1:{port}")],
        ..SchemaRefs::default()
    };
    let tools = vec![
        tool("name", &format!("https://localhost:{port}/a"), "1"),
        tool("number", &format!("https://127.0.0.1:{port}/a"), "1"),
        tool("plain", &format!("http://127.0.0.1:{port}/a"), "1"),
    ];
    let (rig, _folder) = rig(tools, refs).await;
    let reasons = reasons(&rig).await;
    for name in ["name", "number"] {
        assert!(
            reasons[name].contains("no address that may be connected to"),
            "{reasons:?}"
        );
    }
    assert!(reasons["plain"].contains("plain http needs"), "{reasons:?}");
    let unmet = std::future::poll_fn(|context| {
        std::task::Poll::Ready(listener.poll_accept(context).is_pending())
    });
    assert!(unmet.await, "a connection was made");
}

#[tokio::test]
async fn thousands_of_references_lead_to_a_few_documents() {
    let chain: Vec<(String, String)> = (0..10)
        .map(|n| {
            (
                format!("c{n}"),
                json(&format!(r#"{{"$ref":"c{}"}}"#, n + 1)),
            )
        })
        .collect();
    let chain: Vec<(&str, String)> = chain
        .iter()
        .map(|(path, text)| (path.as_str(), text.clone()))
        .collect();
    let host = Host::start(&chain).await;
    let many: Vec<String> = (0..1000)
        .map(|n| format!(r#"{{"$ref":"{}"}}"#, host.url(&format!("m{n}"))))
        .collect();
    let schema = format!(r#"{{"type":"object","anyOf":[{}]}}"#, many.join(","));
    let mut tools = vec![
        tool("chain", &host.url("c0"), "1"),
        Tool::with_output_schema("many", &schema).result("{}"),
    ];
    tools.extend((0..2000).map(|n| tool(&format!("t{n}"), &host.url(&format!("t{n}")), "1")));
    let (rig, _folder) = rig(tools, allowing(host.port)).await;
    let reasons = reasons(&rig).await;
    assert!(
        reasons["chain"].contains("further away than schema_refs.max_depth"),
        "{}",
        reasons["chain"]
    );
    assert!(
        reasons["many"].contains("more documents than schema_refs.max_documents"),
        "{}",
        reasons["many"]
    );
    assert!(
        reasons["t1999"].contains("more documents than"),
        "{}",
        reasons["t1999"]
    );
    assert!(host.requests().len() <= SchemaRefs::default().max_documents);
}
