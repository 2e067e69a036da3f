//! Evidence: what was changed afterwards is found out, and what must never be kept is nowhere.

use std::path::Path;

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::gateway::RunningGateway;
use crate::support::{CommandOutput, Folder};

const VERIFY: &str = "activity verify --data-dir data";

/// A store as a gateway leaves it, and its records' ids by place.
fn left_behind() -> (Folder, Vec<(u64, String)>) {
    let folder = Folder::with(&[]);
    let mut gateway = RunningGateway::start(&folder, "serve --demo");
    gateway.table();
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let exported = folder.countersign("activity export --data-dir data").stdout;
    let place = |line: &str| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let id = record["id"].as_str().expect("an id").to_owned();
        (record["seq"].as_u64().expect("a place"), id)
    };
    let records = exported.lines().map(place).collect();
    (folder, records)
}

/// Changes the store, asks, and puts it back.
fn tampered(folder: &Folder, change: impl FnOnce(&Connection)) -> CommandOutput {
    let data = folder.path().join("data");
    let copy = folder.path().join("copy");
    std::fs::create_dir_all(&copy).expect("a directory");
    copied(&data, &copy);
    let store = Connection::open(data.join("activity.db")).expect("the store");
    change(&store);
    drop(store);
    let ran = folder.countersign(VERIFY);
    std::fs::remove_dir_all(&data).expect("removed");
    std::fs::rename(&copy, &data).expect("put back");
    ran
}

fn copied(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

#[test]
fn verify_names_the_first_record_that_was_changed_removed_or_moved() {
    let (folder, records) = left_behind();
    let intact = folder.countersign(VERIFY);
    assert_eq!(intact.code, Some(0), "{intact}");
    assert!(
        intact
            .stdout
            .starts_with(&format!("intact: {} records, 1 chains", records.len())),
        "{intact}"
    );
    assert!(records.len() > 14, "{}", records.len());
    let mut offset = 7;
    for (index, (seq, id)) in records.iter().enumerate() {
        // One bit of one byte, somewhere else in each record.
        let store = Connection::open(folder.path().join("data/activity.db")).expect("the store");
        let sql = "SELECT body FROM activity WHERE seq = ?1";
        let mut body: Vec<u8> = store
            .query_row(sql, [seq], |row| row.get(0))
            .expect("a record");
        drop(store);
        offset = (offset * 31 + 17) % body.len();
        body[offset] ^= 1;
        let ran = tampered(&folder, |store| {
            let sql = "UPDATE activity SET body = ?1 WHERE seq = ?2";
            store.execute(sql, (&body, seq)).expect("changed");
        });
        assert_eq!(ran.code, Some(1), "{seq}: {ran}");
        assert!(
            ran.stdout.contains("broken: the record was changed"),
            "{seq}: {ran}"
        );
        assert!(ran.stdout.contains(&format!("seq {seq}")), "{seq}: {ran}");

        let ran = tampered(&folder, |store| {
            let sql = "DELETE FROM activity WHERE seq = ?1";
            store.execute(sql, [seq]).expect("removed");
        });
        assert_eq!(ran.code, Some(1), "{seq}: {ran}");
        if let Some((after, after_id)) = records.get(index + 1) {
            let named = format!("(record {after_id}, seq {after}");
            assert!(ran.stdout.contains(&named), "without {seq}: {ran}");
            let ran = tampered(&folder, |store| {
                let sql = "UPDATE activity SET seq = ?2 WHERE seq = ?1";
                for (from, to) in [(*seq, 0), (*after, *seq), (0, *after)] {
                    store.execute(sql, [from, to]).expect("moved");
                }
            });
            assert_eq!(ran.code, Some(1), "{seq}: {ran}");
            assert!(
                ran.stdout
                    .contains(&format!("(record {after_id}, seq {seq}")),
                "{ran}"
            );
        } else {
            assert!(
                ran.stdout.contains("signed for are missing"),
                "the last, {id}: {ran}"
            );
        }
    }
    assert_eq!(
        folder.countersign(VERIFY).stdout,
        intact.stdout,
        "all was put back"
    );
}

#[test]
fn a_verdict_for_programs_and_a_key_of_ones_own() {
    let (folder, _) = left_behind();
    let keys = std::fs::read_to_string(folder.path().join("data/signing_keys.pub")).expect("keys");
    let key = keys.trim();
    let trusted = folder.countersign(&format!("{VERIFY} --key {key} -o json"));
    assert_eq!(trusted.code, Some(0), "{trusted}");
    let verdict: Value = serde_json::from_str(&trusted.stdout).expect("JSON");
    assert_eq!(
        (&verdict["intact"], &verdict["first_break"]),
        (&json!(true), &Value::Null)
    );
    let other = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29";
    let foreign = folder.countersign(&format!("{VERIFY} --key {other} -o json"));
    assert_eq!(foreign.code, Some(1), "{foreign}");
    let verdict: Value = serde_json::from_str(&foreign.stdout).expect("JSON");
    assert_eq!(
        verdict["first_break"]["kind"], "forged_checkpoint",
        "{verdict}"
    );
    assert_eq!(
        folder.countersign(&format!("{VERIFY} --key 12")).code,
        Some(2)
    );
}

#[test]
fn a_history_rewritten_without_the_key_is_broken_also_with_the_key_given() {
    use sha2::Digest;
    let (folder, _) = left_behind();
    let data = folder.path().join("data");
    let keys = std::fs::read_to_string(data.join("signing_keys.pub")).expect("keys");
    let kept = folder.path().join("kept.log");
    std::fs::copy(data.join("checkpoints.log"), &kept).expect("copied");
    let anchored = format!("{VERIFY} --anchor kept.log");
    assert_eq!(folder.countersign(&anchored).code, Some(0));
    let store = Connection::open(data.join("activity.db")).expect("the store");
    let mut read = store
        .prepare("SELECT seq, body FROM activity ORDER BY seq")
        .expect("a query");
    let rows = read
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("rows");
    let rows: Vec<(u64, Vec<u8>)> = rows.collect::<Result<_, _>>().expect("records");
    let mut hash = vec![0; 32];
    for (seq, body) in rows {
        let body = String::from_utf8(body).expect("UTF-8");
        let body = body.replace("\"blocked\"", "\"flagged\"");
        hash = sha2::Sha256::digest([&hash, body.as_bytes()].concat()).to_vec();
        let sql = "UPDATE activity SET body = ?1, hash = ?2 WHERE seq = ?3";
        let changed = store.execute(sql, (body.as_bytes(), &hash, seq));
        changed.expect("rewritten");
    }
    let none =
        "DELETE FROM checkpoint; DELETE FROM leaf; DELETE FROM tree_head; DELETE FROM tree_queue";
    store.execute_batch(none).expect("none");
    let names = std::fs::read_dir(&data).expect("a directory");
    for name in names.map(|entry| entry.expect("an entry").file_name()) {
        let name = name.to_string_lossy();
        if name.starts_with("activity-index") || name == "checkpoints.log" {
            std::fs::remove_file(data.join(&*name)).expect("removed");
        }
    }
    for verify in [VERIFY.to_owned(), format!("{VERIFY} --key {}", keys.trim())] {
        let ran = folder.countersign(&verify);
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.stdout.contains("no signed head"), "{ran}");
    }
    assert_eq!(folder.countersign(&anchored).code, Some(1));
    let absent = folder.countersign(&format!("{VERIFY} --anchor absent.log"));
    assert_ne!(absent.code, Some(0), "{absent}");
}

#[test]
fn a_receipt_convinces_without_the_store_and_a_forged_one_does_not() {
    let (folder, records) = left_behind();
    let (_, id) = &records[3];
    let made = format!("activity receipt {id} --data-dir data --output r.tlog-proof");
    let written = folder.countersign(&made);
    assert_eq!(written.code, Some(0), "{written}");
    let key = written.stderr.split('\'').nth(1).expect("a key").to_owned();
    let unknown = folder.countersign("activity receipt 01ARZ3NDEKTSV4RRFFQ69G5FAV --data-dir data");
    assert_eq!(unknown.code, Some(1), "{unknown}");
    // Its reader has neither the store nor the configuration.
    std::fs::remove_dir_all(folder.path().join("data")).expect("removed");
    let verify = format!("activity verify-receipt r.tlog-proof --key {key}");
    let valid = folder.countersign(&verify);
    assert_eq!(valid.code, Some(0), "{valid}");
    assert!(
        valid.stdout.starts_with(&format!("valid: record {id} ")),
        "{valid}"
    );
    let path = folder.path().join("r.tlog-proof");
    let receipt = std::fs::read_to_string(&path).expect("the receipt");
    let index = receipt.find("index ").expect("an index") + 6;
    for forged in [
        receipt.replacen("extra ", "extra A", 1),
        format!("{}9{}", &receipt[..index], &receipt[index..]),
        receipt.replace("countersign/activity", "countersign/Activity"),
        "nonsense".to_owned(),
    ] {
        std::fs::write(&path, &forged).expect("written");
        let refused = folder.countersign(&format!("{verify} -o json"));
        assert_eq!(refused.code, Some(1), "{refused}");
        let verdict: Value = serde_json::from_str(&refused.stdout).expect("JSON");
        assert_eq!(verdict["valid"], false, "{verdict}");
    }
    let foreign = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29";
    std::fs::write(&path, &receipt).expect("written");
    let foreign = folder.countersign(&format!(
        "activity verify-receipt r.tlog-proof --key {foreign}"
    ));
    assert_eq!(foreign.code, Some(1), "{foreign}");
    assert_eq!(
        folder
            .countersign("activity verify-receipt r.tlog-proof")
            .code,
        Some(2)
    );
}

#[test]
fn what_retention_leaves_still_verifies() {
    let (folder, records) = left_behind();
    let config = json!({"activity": {"max_records": 5, "retention_floor_days": 0}}).to_string();
    std::fs::write(folder.path().join("c.json"), config).expect("written");
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    // One more start; of all these, five stay.
    let removed = format!(
        "countersign_activity_removed_total {}\n",
        records.len() + 1 - 5
    );
    RunningGateway::wait_for(|| {
        let metrics = gateway.curl("GET", "/metrics", &gateway.key(), "");
        metrics.contains(&removed)
    });
    let left = gateway.json("/api/v1/activity?total=true");
    assert_eq!(left["total"], 5, "{left}");
    let oldest = left["activities"][4]["id"].as_str();
    assert_eq!(
        oldest,
        records.get(records.len() - 4).map(|(_, id)| id.as_str())
    );
    let ran = folder.countersign(VERIFY);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(
        ran.stdout.starts_with("intact: 5 records, 2 chains"),
        "{ran}"
    );
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let ran = tampered(&folder, |store| {
        let sql = "DELETE FROM activity WHERE seq = (SELECT min(seq) FROM activity)";
        store.execute(sql, []).expect("removed");
    });
    assert_eq!(ran.code, Some(1), "one more than was signed for: {ran}");
}

const IN_ARGUMENTS: &str = "sk-arguments-4f9a1c";
const IN_HEADER: &str = "sk-header-77b0e2";
const IN_RESULT: &str = "sk-result-c31d90";
const IN_ERROR: &str = "sk-error-0aa5d4";
const IN_ENVIRONMENT: &str = "sk-environment-91be07";
const IN_URL: &str = "sk-url-3e88f1";
const UPSTREAM: &str = "sk-upstream-a07c54";
const KEY: &str = "sk-key-5d2f66";

/// A server whose results and errors carry a secret: conforming, not conforming, as text, as an error of the protocol.
fn leaky() -> Value {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"enum": ["a"]}, "t": {"type": "string"}}});
    let input = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = |name: &str| json!({"name": name, "inputSchema": input, "outputSchema": schema});
    let result = |structured: Value| json!({"result": {"content": [{"type": "text", "text": IN_RESULT}], "structuredContent": structured}});
    let answer =
        |name: &str, payload: Value| json!({"tool": tool(name), "steps": [{"answer": payload}]});
    json!({"name": "leaky", "tools": [
        answer("conforming", result(json!({"t": IN_RESULT}))),
        answer("wrong_type", result(json!({"n": IN_RESULT}))),
        answer("wrong_enum", result(json!({"s": IN_RESULT}))),
        answer("error_result", json!({"result": {"content": [{"type": "text", "text": IN_RESULT}], "isError": true}})),
        answer("error", json!({"error": {"code": -32000, "message": IN_ERROR, "data": IN_ERROR}})),
    ]})
}

/// A request as it goes over the wire, with a secret header and whatever else is given.
fn post(gateway: &RunningGateway, headers: &str, body: &str) -> String {
    let request = format!(
        "POST /mcp/s/leaky HTTP/1.1\r\nHost: {}\r\nX-API-Key: {KEY}\r\nX-Token: {IN_HEADER}\r\nCookie: {IN_HEADER}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        gateway.address(),
        body.len()
    );
    gateway.raw(&request)
}

fn call(tool: &str) -> String {
    let arguments = json!({"n": IN_ARGUMENTS, "deep": {"password": IN_ARGUMENTS}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}).to_string()
}

/// Everything a gateway says about what it did, by where it says it.
fn surfaces(folder: &Folder, gateway: &RunningGateway) -> Vec<(String, String)> {
    let mut surfaces = Vec::new();
    let mut get = |path: &str| {
        let said = gateway.curl("GET", path, KEY, "");
        surfaces.push((path.to_owned(), said.clone()));
        said
    };
    let listed = get("/api/v1/activity?limit=1000");
    for path in [
        "/api/v1/activity/export?format=jsonl",
        "/api/v1/activity/export?format=csv",
        "/api/v1/activity/export?format=sarif",
        "/api/v1/activity/summary?by=rule",
        "/api/v1/activity/summary?by=tool",
        "/api/v1/status",
        "/api/v1/servers",
        "/api/v1/tools",
        "/metrics",
        "/readyz",
    ] {
        get(path);
    }
    let (_, body) = listed.split_once("\r\n\r\n").expect("a response");
    let page: Value = serde_json::from_str(body).expect("JSON");
    let newest = &page["activities"][0];
    for record in page["activities"].as_array().expect("records") {
        get(&format!(
            "/api/v1/activity/{}",
            record["id"].as_str().expect("an id")
        ));
    }
    let events = gateway.until(
        &format!(
            "GET /events HTTP/1.1\r\nHost: {}\r\nX-API-Key: {KEY}\r\nLast-Event-ID: 0\r\n\r\n",
            gateway.address()
        ),
        newest["id"].as_str().expect("an id"),
    );
    surfaces.push(("/events".to_owned(), events));
    for command in ["list -o json", "list", "list -o csv", "summary"] {
        let ran = folder.countersign(&format!(
            "activity {command} --config c.json --data-dir data"
        ));
        assert_eq!(ran.code, Some(0), "{ran}");
        surfaces.push((command.to_owned(), ran.to_string()));
    }
    surfaces
}

fn files(folder: &Folder) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder.path().join("data")).expect("a directory");
    let file = |entry: std::fs::DirEntry| {
        let bytes = std::fs::read(entry.path()).expect("a file");
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, String::from_utf8_lossy(&bytes).into_owned())
    };
    entries
        .map(|entry| file(entry.expect("an entry")))
        .collect()
}

/// Sends secrets every way there is; gives the session's token, which is one more.
fn provoke(gateway: &RunningGateway) -> String {
    let handshake = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let answer = post(gateway, "", handshake);
    let session = answer
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .expect("a session")
        .to_owned();
    let with_session = format!("Mcp-Session-Id: {session}\r\n");
    for tool in [
        "conforming",
        "wrong_type",
        "wrong_enum",
        "error_result",
        "error",
        "nothing",
    ] {
        let reply = post(gateway, &with_session, &call(tool));
        let blocked = tool.starts_with("wrong");
        assert_eq!(
            reply.contains("output schema validation failed"),
            blocked,
            "{reply}"
        );
        assert!(!blocked || !reply.contains(IN_RESULT), "{reply}");
        gateway.curl("POST", "/mcp/s/calm", KEY, &call(tool));
    }
    // What is wrong with these is said without repeating them.
    for wrong in [
        IN_ARGUMENTS.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","method":"{IN_ARGUMENTS}","id":1}}"#),
    ] {
        let reply = post(gateway, "", &wrong);
        assert!(
            reply.contains("error") && !reply.contains(IN_ARGUMENTS),
            "{reply}"
        );
    }
    gateway.curl("GET", "/api/v1/activity", IN_HEADER, "");
    session
}

#[test]
fn planted_secrets_are_on_no_surface() {
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let server = |mode: &str| {
        json!({"command": fixture, "args": ["stdio", "--script", "leaky.json"],
               "env": {"TOKEN": IN_ENVIRONMENT}, "output_validation": {"mode": mode}})
    };
    // No server listens there. The gateway must report that without the token of the URL and of the header.
    let gone = json!({"url": format!("http://127.0.0.1:9/mcp?token={IN_URL}"),
                      "headers": {"Authorization": format!("Bearer {UPSTREAM}")}});
    let servers = json!({"leaky": server("strict"), "calm": server("warn"), "gone": gone});
    let folder = Folder::over(&servers, &[("api_key", json!(KEY))]);
    std::fs::write(folder.path().join("leaky.json"), leaky().to_string()).expect("written");
    let mut command = crate::support::binary();
    command
        .env("COUNTERSIGN_LOG", "trace")
        .args(["serve", "--config", "c.json"]);
    let gateway = RunningGateway::launch(&folder, command);
    RunningGateway::wait_for(|| {
        let listed = gateway.curl("GET", "/api/v1/servers", KEY, "");
        let metrics = gateway.curl("GET", "/metrics", KEY, "");
        listed.matches(r#""health":"up""#).count() == 2
            && !metrics.contains(r#"{event="server_start_failures"} 0"#)
    });

    let session = provoke(&gateway);
    let mut surfaces = surfaces(&folder, &gateway);
    surfaces.extend(files(&folder));
    let ran = gateway.stop(Signal::TERM);
    assert!(ran.stderr.contains("call answered"), "the log was on");
    assert!(ran.stderr.contains("gone"), "{}", ran.stderr);
    surfaces.push(("log".to_owned(), ran.to_string()));
    surfaces.extend(
        files(&folder)
            .into_iter()
            .map(|(name, text)| (format!("{name} left"), text)),
    );
    let secrets = [
        IN_ARGUMENTS,
        IN_HEADER,
        IN_RESULT,
        IN_ERROR,
        IN_ENVIRONMENT,
        IN_URL,
        UPSTREAM,
        KEY,
        &session,
    ];
    for (surface, text) in &surfaces {
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} in {surface}");
        }
    }
    // The records are there all the same.
    let store = surfaces.iter().find(|(name, _)| name == "activity.db-wal");
    let (_, store) = store.expect("a write-ahead log");
    assert!(store.contains("wrong_type") && store.contains("output schema validation failed"));
}
