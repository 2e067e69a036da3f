//! The pages about desktop clients: every snippet is read as the client would read it, a wrapped server is started by the
//! words of its page, and the key is sent as its page says.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use countersign_fixture::client::StdioClient;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::gateway::RunningGateway;
use crate::support::home::{TestHome, fixture};
use crate::support::preset;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Every page and its JSON snippets.
fn pages() -> Vec<(String, Vec<String>)> {
    let folder = std::fs::read_dir(docs().join("guides/clients")).expect("the pages are there");
    let mut pages: Vec<_> = folder
        .map(|page| {
            let path = page.expect("a page").path();
            let text = std::fs::read_to_string(&path).expect("text");
            let snippets = text.split("```json\n").skip(1);
            let snippets = snippets.filter_map(|rest| Some(rest.split_once("```")?.0.to_owned()));
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, snippets.collect())
        })
        .collect();
    pages.sort();
    pages
}

/// The only server of a snippet.
fn server(snippet: &str) -> (String, Value) {
    let config: Value = serde_json::from_str(snippet).expect("JSON");
    let servers = config.get("mcpServers").or(config.get("servers"));
    let servers = servers.and_then(Value::as_object).expect("servers");
    let (name, server) = servers.iter().next().expect("a server");
    assert_eq!(servers.len(), 1);
    (name.clone(), server.clone())
}

fn args(server: &Value) -> Vec<String> {
    let args = server["args"].as_array().into_iter().flatten();
    args.map(|arg| arg.as_str().expect("a string").to_owned())
        .collect()
}

#[test]
fn every_client_has_a_page_with_both_ways() {
    let pages = pages();
    let names: Vec<_> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "claude-code.md",
            "claude-desktop.md",
            "cursor.md",
            "vscode.md",
            "windsurf.md"
        ]
    );
    for (page, snippets) in &pages {
        let servers: Vec<_> = snippets.iter().map(|snippet| server(snippet)).collect();
        let wrapped = servers.iter().filter(|(name, server)| {
            let args = args(server);
            server["command"] == "countersign"
                && args.starts_with(&["wrap".into(), "--name".into(), name.clone(), "--".into()])
        });
        assert_eq!(wrapped.count(), 1, "{page}");
        let text = snippets.concat();
        assert!(
            text.contains("http://127.0.0.1:8080/mcp") && text.contains("X-API-Key"),
            "{page}"
        );
    }
}

#[test]
fn import_reads_every_snippet() {
    for (page, snippets) in pages() {
        for snippet in snippets {
            let file = if page == "vscode.md" {
                ".vscode/mcp.json"
            } else {
                ".mcp.json"
            };
            let home = TestHome::with(&[(file, &snippet)]);
            let ran = home.run(&format!("import {file} --workspace . -o json"));
            let read: Value =
                serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{page}: {ran}"));
            let expected = if snippet.contains("8080") {
                "left_out"
            } else {
                "add"
            };
            assert_eq!(read["servers"][0]["fate"], expected, "{page}: {ran}");
        }
    }
}

#[tokio::test]
async fn a_wrapped_server_starts_by_the_words_of_its_page() {
    for (page, snippets) in pages() {
        let wrapped = snippets
            .iter()
            .find(|snippet| snippet.contains("\"wrap\""))
            .expect("one");
        let mut words = args(&server(wrapped).1);
        let end = words
            .iter()
            .position(|word| word == "--")
            .expect("a command follows");
        words.truncate(end + 1);
        words.extend([fixture(), "stdio".into(), "--preset".into(), "demo".into()]);
        let home = TestHome::with(&[]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(words)
            .env_clear()
            .env("HOME", home.path())
            .current_dir(home.path());
        let mut client = StdioClient::spawn(command, Duration::from_mins(1)).expect("it starts");
        client.handshake("2025-06-18").await.expect("an answer");
        let answer = client.call("conforming", "{}").await.expect("an answer");
        assert!(
            String::from_utf8_lossy(&answer).contains("structuredContent"),
            "{page}"
        );
        client.close_input();
        assert!(client.ended().await.expect("it ends").success(), "{page}");
        let listed = home.run("activity list --server files -o jsonl");
        assert!(listed.stdout.contains("\"conforming\""), "{page}: {listed}");
    }
}

#[test]
fn the_key_is_accepted_as_the_pages_send_it() {
    let servers = serde_json::json!({"demo": preset("demo", "strict")});
    let config = serde_json::json!({"mcpServers": servers}).to_string();
    let home = TestHome::with(&[("c.json", &config)]);
    let gateway = RunningGateway::launch(home.folder(), home.command("serve --config c.json"));
    gateway.all_up(1);
    let mut sent = 0;
    for (page, snippets) in pages() {
        for snippet in snippets.iter().filter(|snippet| snippet.contains("8080")) {
            let (_, server) = server(snippet);
            let address = server
                .get("url")
                .or(server.get("serverUrl"))
                .and_then(Value::as_str);
            let words = args(&server);
            let address = address.or(words
                .iter()
                .map(String::as_str)
                .find(|word| word.starts_with("http")));
            let path = address
                .and_then(|address| address.strip_prefix("http://127.0.0.1:8080"))
                .expect("an address");
            let header = match server["headers"]["X-API-Key"].as_str() {
                Some(value) => format!("X-API-Key: {value}"),
                None => words.last().expect("a header").clone(),
            };
            // Whatever stands for the key there.
            let (name, _) = header.split_once(':').expect("a header");
            let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
            let request = format!(
                "POST {path} HTTP/1.1\r\nHost: {}\r\n{name}: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                gateway.address(),
                gateway.key(),
                body.len()
            );
            let answer = gateway.raw(&request);
            assert!(
                answer.starts_with("HTTP/1.1 200") && answer.contains("retrieve_tools"),
                "{page}: {answer}"
            );
            sent += 1;
        }
    }
    assert_eq!(sent, 5);
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn the_doctors_page_names_every_check() {
    let page = std::fs::read_to_string(docs().join("guides/doctor.md")).expect("the page is there");
    let token = serde_json::json!({"command": "no-such", "env": {"T": "${env:NOT_SET}"}});
    let config =
        serde_json::json!({"listen": "127.0.0.1:0", "mcpServers": {"a": token}}).to_string();
    let home = TestHome::with(&[("c.json", &config), ("env", "")]);
    let ran = home.run("doctor --config c.json --env-file env --data-dir data -o json");
    let mut checks: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("JSON")["check"]
                .as_str()
                .expect("a name")
                .to_owned()
        })
        .collect();
    checks.sort();
    checks.dedup();
    assert_eq!(
        checks,
        [
            "api key",
            "clock",
            "config",
            "data dir",
            "disk",
            "env file",
            "environment",
            "port",
            "server",
            "store"
        ]
    );
    for check in checks {
        assert!(page.contains(&format!("| `{check}` |")), "{check}");
    }
}

/// Every page below a folder.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                markdown(&path)
            } else {
                vec![path]
            }
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = markdown(&docs());
    pages.push(docs().join("../README.md"));
    let mut followed = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("text");
        let links = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let files = links.filter_map(|link| link.split('#').next());
        for file in files.filter(|file| !file.is_empty() && !file.contains("://")) {
            let target = page.parent().expect("a folder").join(file);
            assert!(target.exists(), "{}: {file}", page.display());
            followed += 1;
        }
    }
    assert!(followed > 20, "only {followed} links were found");
}
