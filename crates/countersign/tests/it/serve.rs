//! The gateway as a process: the demo as a newcomer sees it, the quickstart's commands, and an end without orphans.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::support::Folder;
use crate::support::gateway::Running;

fn fixture() -> String {
    let path = countersign_fixture::executable().expect("the fixture is built");
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// The processes a process has started.
pub(crate) fn children(parent: u32) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").expect("a process list");
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers
        .filter(|process: &i32| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // The name in parentheses may hold anything; what follows it may not.
            let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
            after.split_whitespace().nth(1) == Some(&parent.to_string())
        })
        .collect()
}

pub(crate) fn is_alive(process: i32) -> bool {
    let process = Pid::from_raw(process).expect("a process");
    test_kill_process(process).is_ok()
}

#[test]
fn the_demo_shows_a_blocked_call_and_goes_on_serving() {
    let folder = Folder::with(&[]);
    let mut gateway = Running::start(&folder, "serve --demo");
    let table = gateway.table();
    insta::assert_snapshot!(table, @"
    tool                decision   reason
    conforming          allowed
    bad_output          blocked    output schema validation failed: type at /id: expected integer, got string (tool stub:bad_output)
    text_only           allowed
    array               allowed
    integer             allowed
    error               allowed
    too_big             blocked    output schema validation failed: structured output exceeds max_bytes (5300011 > 5242880)
    too_deep            blocked    output schema validation failed: structured output exceeds max_depth (100 > 64)
    control_tokens      rewritten  3 control tokens (chatml) replaced in text block 0
    hidden_text         rewritten  34 hidden characters (tag) removed in text block 0
    hostile_structured  flagged    3 control tokens (chatml) found in structuredContent
    ");
    let shown = crate::readme::console("serve --demo");
    for line in table.lines() {
        let line = line.trim_end();
        assert!(
            shown.lines().any(|shown| shown == line),
            "not in the README: {line}"
        );
    }
    let key = std::fs::read_to_string(folder.path().join("data/api_key")).expect("a key");
    assert!(gateway.said().contains(key.trim()), "{}", gateway.said());

    // The quickstart's first command, exactly as curl sends it.
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool_read","arguments":{"name":"stub:bad_output"}}}"#;
    let answer = gateway.curl("POST", "/mcp", key.trim(), call);
    assert!(
        answer.contains("output schema validation failed"),
        "{answer}"
    );
    assert!(answer.contains(r#""isError":true"#), "{answer}");
    let page = gateway.curl(
        "GET",
        "/api/v1/activity?type=policy_decision&limit=5",
        key.trim(),
        "",
    );
    assert!(page.contains(r#""tool":"bad_output""#) && page.contains(r#""decision":"blocked""#));
    assert!(
        gateway
            .curl("POST", "/mcp", "wrong", call)
            .starts_with("HTTP/1.1 401")
    );

    let again = gateway.stop(Signal::TERM);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    // The key is shown once only.
    let mut gateway = Running::start(&folder, "serve --demo");
    gateway.table();
    assert!(!gateway.said().contains(key.trim()));
    assert_eq!(gateway.stop(Signal::INT).code, Some(0));
}

#[test]
fn the_end_leaves_no_orphan() {
    let fixture = fixture();
    let script = r#"{"name":"deaf","tools":[],"at_eof":[{"stall":{}}]}"#;
    let folder = Folder::with(&[("deaf.json", script)]);
    let deaf = folder.path().join("deaf.json");
    // One child that neither minds the end of its input nor TERM, one that leaves a child of its own behind.
    let stubborn = format!(
        "trap '' TERM; exec {fixture} stdio --script {}",
        deaf.display()
    );
    let parent = format!("sleep 1000 & exec {fixture} stdio --preset demo");
    let config = serde_json::json!({"mcpServers": {
        "stubborn": {"command": "sh", "args": ["-c", stubborn]},
        "parent": {"command": "sh", "args": ["-c", parent]},
        "plain": {"command": fixture, "args": ["stdio", "--preset", "demo"]},
    }});
    std::fs::write(folder.path().join("c.json"), config.to_string()).expect("written");
    let gateway = Running::start(&folder, "serve --config c.json");
    gateway.all_up(3);
    let mut family = children(gateway.process());
    assert_eq!(family.len(), 3);
    let grandchildren: Vec<i32> = family
        .iter()
        .flat_map(|child| children(child.unsigned_abs()))
        .collect();
    assert_eq!(grandchildren.len(), 1);
    family.extend(grandchildren);
    let ran = gateway.stop(Signal::TERM);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for process in family {
        assert!(!is_alive(process), "{process} is still there");
    }
}

#[test]
fn a_call_under_way_is_answered_before_the_end() {
    let script = r#"{"name":"slow","tools":[{"tool":{"name":"slow","inputSchema":{"type":"object"}},"steps":[{"delay_ms":500},{"answer":{}}]}]}"#;
    let folder = Folder::with(&[("slow.json", script)]);
    let [slow, log] = ["slow.json", "log"].map(|name| folder.path().join(name));
    let args = serde_json::json!(["stdio", "--script", slow, "--log", log]);
    let config = serde_json::json!({"mcpServers": {"x": {"command": fixture(), "args": args}}});
    std::fs::write(folder.path().join("c.json"), config.to_string()).expect("written");
    let gateway = Running::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#;
    let waiting = gateway.begin("POST", "/mcp/s/x", &gateway.key(), call);
    Running::wait_for(|| {
        let heard = std::fs::read(&log).unwrap_or_default();
        String::from_utf8_lossy(&heard).contains("tools/call")
    });
    let process = i32::try_from(gateway.process()).expect("a process id");
    kill_process(Pid::from_raw(process).expect("a process"), Signal::TERM).expect("sent");
    let answer = waiting.finish();
    assert!(answer.contains("\"content\":[]"), "{answer}");
    assert_eq!(gateway.wait().code, Some(0));
}

#[test]
fn a_huge_answer_costs_no_memory() {
    let folder = Folder::with(&[]);
    let config = serde_json::json!({"mcpServers": {"x": {"command": fixture(), "args": ["stdio", "--preset", "faults"]}}});
    std::fs::write(folder.path().join("c.json"), config.to_string()).expect("written");
    let gateway = Running::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"huge"}}"#;
    for _ in 0..3 {
        let answer = gateway.curl("POST", "/mcp/s/x", &gateway.key(), call);
        assert!(answer.contains("larger than 16777216 bytes"), "{answer}");
    }
    let peak = peak_kilobytes(format!("/proc/{}/status", gateway.process()));
    assert!(peak < 100 * 1024, "{peak} kB for answers of 200 MB");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

pub(crate) fn peak_kilobytes(status: impl AsRef<Path>) -> u64 {
    let status = std::fs::read_to_string(status).expect("the process runs");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    line.trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number")
}

#[test]
fn what_cannot_start_says_why() {
    let folder = Folder::with(&[(
        "c.json",
        r#"{"listen": "127.0.0.1:0", "mcpServers": {"stub": {"command": "x"}}}"#,
    )]);
    let ran = folder.countersign("serve --config c.json --data-dir data --demo");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("already has a server named 'stub'"),
        "{}",
        ran.stderr
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address");
    let ran = folder.countersign(&format!(
        "serve --config c.json --data-dir data --listen {address}"
    ));
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains(&format!("cannot listen on {address}")),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("hint: another gateway may be running"),
        "{}",
        ran.stderr
    );
}
