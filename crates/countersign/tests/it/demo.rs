//! `serve --demo` beside a gateway of the user's own: nothing of theirs is read, started or written, and the commands
//! that the demo names find it.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Folder;
use crate::support::finish;
use crate::support::gateway::RunningGateway;
use crate::support::home::{OURS, TestHome, fixture};

/// Where the demo keeps its state, in a home.
const STATE: &str = ".countersign/demo";

fn start(home: &TestHome, line: &str) -> RunningGateway {
    let mut command = home.command(line);
    command.args(["--listen", "127.0.0.1:0"]);
    let mut demo = RunningGateway::launch_with_state(home.folder(), command, STATE);
    demo.table();
    demo
}

/// A home with a configuration whose server leaves a file when it is started.
fn home_with_a_server() -> TestHome {
    let server = format!("touch started; exec {} stdio --preset demo", fixture());
    let config = serde_json::json!({
        "api_key": "the-users-own-key",
        "mcpServers": {"mine": {"command": "sh", "args": ["-c", server]}},
    });
    TestHome::with(&[(OURS, &config.to_string())])
}

#[test]
fn the_demo_leaves_the_users_servers_and_store_alone() {
    let home = home_with_a_server();
    let mut demo = start(&home, "serve --demo");
    assert!(!home.has("started"), "the user's server was started");
    let listed = demo.json("/api/v1/servers");
    assert_eq!(listed["servers"].as_array().map(Vec::len), Some(1));
    let folder = std::fs::read_dir(home.path().join(".countersign")).expect("a folder");
    let mut names: Vec<_> = folder
        .map(|entry| entry.expect("one").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["demo", "mcp_config.json"]);
    demo.hear("countersign activity list --demo --status blocked");
    assert_eq!(demo.stop(Signal::TERM).code, Some(0));
}

#[test]
fn commands_with_demo_find_the_demo_while_it_runs_and_afterwards() {
    let home = home_with_a_server();
    let demo = start(&home, "serve --demo");
    let blocked = home.run("activity list --demo --status blocked");
    assert_eq!(blocked.code, Some(0), "{blocked}");
    assert!(blocked.stdout.contains("bad_output"), "{blocked}");
    let servers = home.run("servers list --demo");
    assert!(servers.stdout.contains("stub"), "{servers}");
    assert!(!servers.stdout.contains("mine"), "{servers}");
    assert_eq!(demo.stop(Signal::TERM).code, Some(0));
    let verified = home.run("activity verify --demo");
    assert_eq!(verified.code, Some(0), "{verified}");
    assert!(!home.has("started"), "the user's server was started");
}

#[test]
fn a_broken_configuration_of_the_user_does_not_hinder_the_demo() {
    let home = TestHome::with(&[(OURS, "{ not JSON")]);
    let demo = start(&home, "serve --demo");
    let listed = home.run("tools list --demo");
    assert_eq!(listed.code, Some(0), "{listed}");
    assert_eq!(demo.stop(Signal::INT).code, Some(0));
}

#[test]
fn a_configuration_that_is_named_is_the_demos_too() {
    let home = home_with_a_server();
    let demo = start(
        &home,
        "serve --demo --config .countersign/mcp_config.json --data-dir .countersign/demo",
    );
    RunningGateway::wait_for(|| home.has("started"));
    let both = home.run("servers list --demo --config x.json");
    assert_eq!(both.code, Some(2), "{both}");
    assert_eq!(demo.stop(Signal::INT).code, Some(0));
}

/// The README's commands after the demo's table, as they stand.
#[test]
fn the_readmes_commands_after_the_demo_work_as_they_stand() {
    let home = home_with_a_server();
    let demo = start(&home, "serve --demo");
    let block = crate::readme::block("sh", "activity list --demo");
    // From a clone, `cargo run --release --` is the program that was just built.
    let cargo = format!(
        "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --' ] || exit 99\nshift 3\nexec '{}' \"$@\"\n",
        env!("CARGO_BIN_EXE_countersign")
    );
    let curl = "#!/bin/sh\nprintf '%s\\n' \"$@\" > curl.log\n";
    for (name, text) in [("bin/cargo", cargo.as_str()), ("bin/curl", curl)] {
        home.write(name, text);
        let path = home.path().join(name);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).expect("executable");
    }
    let ran = finish(
        &mut home.shell(&format!("set -e\nPATH=$PWD/bin:$PATH\n{block}")),
        b"",
    );
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.stdout.contains("bad_output"), "{ran}");
    let curl = home.read("curl.log");
    let key = format!("X-API-Key: {}\n", demo.key());
    assert!(curl.contains(&key), "{curl}");
    let call = curl
        .lines()
        .find(|line| line.starts_with('{'))
        .expect("a body");
    let answer = demo.curl("POST", "/mcp", &demo.key(), call);
    assert!(
        answer.contains("output schema validation failed"),
        "{answer}"
    );
    assert_eq!(demo.stop(Signal::TERM).code, Some(0));
}

#[test]
fn ctrl_c_before_the_demos_table_stops_it() {
    let folder = Folder::with(&[]);
    let config =
        serde_json::json!({"mcpServers": {"silent": {"command": "sleep", "args": ["1000"]}}});
    std::fs::write(folder.path().join("c.json"), config.to_string()).expect("written");
    let mut demo = RunningGateway::start(&folder, "serve --demo --config c.json");
    let process = i32::try_from(demo.process()).expect("a process id");
    kill_process(Pid::from_raw(process).expect("a process"), Signal::INT).expect("it runs");
    demo.hear("stopping: ");
    let ran = demo.wait();
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(ran.stdout, "");
}
