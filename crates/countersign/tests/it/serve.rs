//! The gateway as a process: the demo as a newcomer sees it, the quickstart's commands, and an end without orphans.

use std::os::unix::process::CommandExt as _;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::gateway::RunningGateway;
use crate::support::{Folder, binary, binary_at};

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

/// Everything that descends from a process.
pub(crate) fn descendants(ancestor: u32) -> Vec<i32> {
    let mut family = children(ancestor);
    let mut at = 0;
    while let Some(process) = family.get(at) {
        family.extend(children(process.unsigned_abs()));
        at += 1;
    }
    family
}

/// Whether a process runs; one that has ended and waits to be reaped does not.
pub(crate) fn is_alive(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map_or("", |(_, after)| after);
    !matches!(state.split_whitespace().next(), None | Some("Z" | "X"))
}

#[test]
fn the_demo_shows_a_blocked_call_and_goes_on_serving() {
    let folder = Folder::with(&[]);
    let mut gateway = RunningGateway::start(&folder, "serve --demo");
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
    control_tokens      rewritten  5 control tokens (chatml, llama2) replaced in text block 0
    hidden_text         rewritten  40 hidden characters (tag, zero_width, bidi_control, joiner) removed in text block 0
    hostile_structured  rewritten  3 control tokens (chatml) replaced in structuredContent
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
    let mut gateway = RunningGateway::start(&folder, "serve --demo");
    gateway.table();
    assert!(!gateway.said().contains(key.trim()));
    assert_eq!(gateway.stop(Signal::INT).code, Some(0));
}

/// A gateway over servers that would outlive it, and all the processes below it.
fn gateway_over_survivors() -> (RunningGateway, Vec<i32>, Folder) {
    let fixture = fixture();
    let script = r#"{"name":"deaf","tools":[],"at_eof":[{"stall":{}}]}"#;
    let folder = Folder::with(&[("deaf.json", script)]);
    let deaf = folder.path().join("deaf.json");
    // One child that ignores both the end of its input and TERM, one that leaves a child of its own behind, and one
    // whose child has left the session and minds nothing.
    let stubborn = format!(
        "trap '' TERM; exec {fixture} stdio --script {}",
        deaf.display()
    );
    let parent = format!("sleep 1000 & exec {fixture} stdio --preset demo");
    let runaway = "setsid sh -c 'trap \"\" TERM HUP; sleep 1000; sleep 1000' & exec";
    let runaway = format!("{runaway} {fixture} stdio --preset demo");
    let config = serde_json::json!({"mcpServers": {
        "stubborn": {"command": "sh", "args": ["-c", stubborn]},
        "parent": {"command": "sh", "args": ["-c", parent]},
        "runaway": {"command": "sh", "args": ["-c", runaway]},
        "plain": {"command": fixture, "args": ["stdio", "--preset", "demo"]},
    }});
    std::fs::write(folder.path().join("c.json"), config.to_string()).expect("written");
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    gateway.all_up(4);
    // Four keepers and four servers, two of which have a child, one of which has a child too.
    RunningGateway::wait_for(|| descendants(gateway.process()).len() == 11);
    let family = descendants(gateway.process());
    (gateway, family, folder)
}

#[test]
fn the_end_leaves_no_orphan() {
    let (gateway, family, _folder) = gateway_over_survivors();
    let ran = gateway.stop(Signal::TERM);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for process in family {
        assert!(!is_alive(process), "{process} is still there");
    }
}

#[test]
fn a_gateway_that_is_killed_leaves_no_orphan() {
    let (gateway, family, _folder) = gateway_over_survivors();
    assert_eq!(gateway.stop(Signal::KILL).code, None, "killed");
    RunningGateway::wait_for(|| !family.iter().any(|process| is_alive(*process)));
}

/// As another user than root, who may read everything.
#[test]
fn a_server_cannot_read_the_environment_of_the_gateway() {
    const NOBODY: u32 = 65534;
    let folder = Folder::with(&[]);
    // Copies, because the other user may not be allowed to enter the folder of the build.
    let copy = |name: &str, from: &Path| {
        let path = folder.path().join(name);
        std::fs::copy(from, &path).expect("copied");
        path
    };
    let fixture = copy("fixture", Path::new(&fixture()));
    let countersign = copy("countersign", Path::new(env!("CARGO_BIN_EXE_countersign")));
    let look = "k=$PPID; g=$(cut -d' ' -f4 /proc/$k/stat); id -u > seen; cat /proc/$k/environ /proc/$g/environ >> seen; echo looked >> seen";
    let server = format!("exec {} stdio --preset demo", fixture.display());
    let look = format!("{{ {look}; }} 2>&1; {server}");
    let config = serde_json::json!({"mcpServers": {"x": {"command": "sh", "args": ["-c", look]}}});
    std::fs::write(folder.path().join("c.json"), config.to_string()).expect("written");
    let mut command = binary_at(&countersign);
    command
        .args(["serve", "--config", "c.json"])
        .env("COUNTERSIGN_API_KEY", "the-key-of-the-clients")
        .env("TOKEN_OF_ANOTHER_SERVER", "s3cret");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("given away");
        command.uid(NOBODY).gid(NOBODY);
    }
    let gateway = RunningGateway::launch(&folder, command);
    let seen = || std::fs::read_to_string(folder.path().join("seen")).unwrap_or_default();
    RunningGateway::wait_for(|| seen().ends_with("looked\n"));
    let seen = seen();
    assert!(!seen.starts_with("0\n"), "{seen}");
    for secret in ["the-key-of-the-clients", "s3cret"] {
        assert!(!seen.contains(secret), "{seen}");
    }
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_server_inherits_the_proxy_and_certificate_variables() {
    let look = format!(
        "env > seen; echo looked >> seen; exec {} stdio --preset demo",
        fixture()
    );
    let config = serde_json::json!({"mcpServers": {"x": {"command": "sh", "args": ["-c", look]}}});
    let folder = Folder::with(&[("c.json", &config.to_string())]);
    let mut command = binary();
    command
        .args(["serve", "--config", "c.json"])
        .env("https_proxy", "http://proxy.example:3128")
        .env("NODE_EXTRA_CA_CERTS", "/etc/company.pem")
        .env("GITHUB_TOKEN", "s3cret");
    let gateway = RunningGateway::launch(&folder, command);
    let seen = || std::fs::read_to_string(folder.path().join("seen")).unwrap_or_default();
    RunningGateway::wait_for(|| seen().ends_with("looked\n"));
    let seen = seen();
    assert!(
        seen.contains("https_proxy=http://proxy.example:3128\n"),
        "{seen}"
    );
    assert!(
        seen.contains("NODE_EXTRA_CA_CERTS=/etc/company.pem\n"),
        "{seen}"
    );
    assert!(!seen.contains("s3cret"), "{seen}");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_call_under_way_is_answered_before_the_end() {
    let script = r#"{"name":"slow","tools":[{"tool":{"name":"slow","inputSchema":{"type":"object"}},"steps":[{"delay_ms":500},{"answer":{}}]}]}"#;
    let folder = Folder::with(&[("slow.json", script)]);
    let [slow, log] = ["slow.json", "log"].map(|name| folder.path().join(name));
    let args = serde_json::json!(["stdio", "--script", slow, "--log", log]);
    let config = serde_json::json!({"mcpServers": {"x": {"command": fixture(), "args": args}}});
    std::fs::write(folder.path().join("c.json"), config.to_string()).expect("written");
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#;
    let waiting = gateway.begin("POST", "/mcp/s/x", &gateway.key(), call);
    RunningGateway::wait_for(|| {
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
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
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
fn an_address_that_other_machines_reach_is_warned_of() {
    let folder = Folder::with(&[("c.json", "{}"), ("open.json", r#"{"listen": ":0"}"#)]);
    let mut command = binary();
    command.current_dir(folder.path()).args([
        "serve",
        "--config",
        "open.json",
        "--data-dir",
        "data",
    ]);
    let gateway = RunningGateway::launch_with_state(&folder, command, "data");
    let said = gateway.said().to_owned();
    assert!(
        said.contains("warning: other machines can reach 0.0.0.0:0"),
        "{said}"
    );
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    let ran = folder.countersign("config check open.json");
    assert!(
        ran.stderr.contains("other machines can reach 0.0.0.0:0"),
        "{ran}"
    );
    let closed = RunningGateway::start(&folder, "serve --config c.json");
    assert!(!closed.said().contains("warning"), "{}", closed.said());
    assert_eq!(closed.stop(Signal::TERM).code, Some(0));
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
