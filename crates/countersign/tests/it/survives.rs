//! What the log survives: a gateway killed under load, several processes on one store, a disk that is full.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::{Value, json};

use crate::support::gateway::RunningGateway;
use crate::support::load::{Load, all_recorded, counted};
use crate::support::{Folder, binary, finish, preset};

const EXPORT: &str = "activity export --data-dir data";
const VERIFY: &str = "activity verify --data-dir data";

fn intact(folder: &Folder) -> Value {
    let ran = folder.countersign(&format!("{VERIFY} -o json"));
    assert_eq!(ran.code, Some(0), "{ran}");
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// More rounds by command: `COUNTERSIGN_TEST_KILLS=50 cargo test -p countersign killed`
#[test]
fn killed_under_load_every_reply_has_its_records() {
    let rounds = std::env::var("COUNTERSIGN_TEST_KILLS");
    let rounds: u32 = rounds.map_or(10, |rounds| rounds.parse().expect("a number"));
    let folder = Folder::over(&json!({"x": preset("demo", "strict")}), &[]);
    let mut replies = BTreeMap::new();
    let mut moment = 12_345_u32;
    for round in 1..=rounds {
        let gateway = RunningGateway::start(&folder, "serve --config c.json");
        gateway.all_up(1);
        let load = Load::new(
            gateway.address(),
            gateway.key(),
            "/mcp/s/x",
            &format!("r{round}"),
        );
        moment = moment.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let enough = 20 + usize::try_from(moment >> 24).expect("small") % 100;
        load.run(6, || {
            load.reached(enough);
            assert_eq!(gateway.stop(Signal::KILL).code, None, "killed");
        });
        let got = load.replies();
        assert!(got.len() >= enough);
        replies.extend(got);
        let verification = intact(&folder);
        assert_eq!(verification["chains"], round, "{verification}");
        let exported = folder.countersign(EXPORT);
        assert_eq!(exported.code, Some(0), "{}", exported.stderr);
        all_recorded(&replies, &counted(&exported.stdout));
    }
}

#[test]
fn three_processes_share_one_store() {
    let folder = Folder::over(&json!({"x": preset("demo", "strict")}), &[]);
    let gateways: Vec<RunningGateway> = (0..3)
        .map(|_| RunningGateway::start(&folder, "serve --config c.json"))
        .collect();
    let key = gateways[0].key();
    let loads: Vec<Load> = gateways
        .iter()
        .enumerate()
        .map(|(n, gateway)| Load::new(gateway.address(), key.clone(), "/mcp/s/x", &format!("p{n}")))
        .collect();
    for gateway in &gateways {
        gateway.all_up(1);
    }
    std::thread::scope(|scope| {
        for load in &loads {
            scope.spawn(|| load.run(2, || load.reached(60)));
        }
        // A check of the store during the load finds no fault either.
        scope.spawn(|| {
            for _ in 0..5 {
                intact(&folder);
            }
        });
    });
    for gateway in gateways {
        assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    }
    let verification = intact(&folder);
    assert_eq!(verification["chains"], 3, "{verification}");
    assert_eq!(verification["after_last_checkpoint"], 0);
    let counts = counted(&folder.countersign(EXPORT).stdout);
    let mut calls = 0;
    for load in loads {
        let replies = load.replies();
        all_recorded(&replies, &counts);
        calls += replies.len();
    }
    assert_eq!(counts.len(), calls, "nothing that was not called");
}

/// One tool of a strict server and of one in warn mode; whether each was answered or refused for want of a record.
fn refused(gateway: &RunningGateway, server: &str) -> bool {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"conforming"}}"#;
    let answer = gateway.curl("POST", &format!("/mcp/s/{server}"), &gateway.key(), call);
    let (_, body) = answer.split_once("\r\n\r\n").expect("a response");
    let reply: Value = serde_json::from_str(body).expect("JSON");
    let result = &reply["result"];
    if result["isError"] == true {
        let said = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(said.contains("could not be recorded"), "{said}");
        return true;
    }
    assert!(result["structuredContent"].is_object(), "{reply}");
    false
}

fn ready(gateway: &RunningGateway) -> bool {
    let answer = gateway.curl("GET", "/readyz", "", "");
    answer.starts_with("HTTP/1.1 200")
}

/// Calls until the disk takes no more.
fn fill(gateway: &RunningGateway) {
    RunningGateway::wait_for(|| {
        refused(gateway, "warn");
        gateway
            .curl("GET", "/metrics", &gateway.key(), "")
            .contains("countersign_activity_store_up 0")
    });
}

fn full_and_free_again(
    gateway: &RunningGateway,
    setting: &str,
    free: impl FnOnce(),
    mut verify: Command,
) {
    fill(gateway);
    assert_eq!(
        refused(gateway, "strict"),
        setting != "continue",
        "{setting}"
    );
    assert_eq!(refused(gateway, "warn"), setting == "refuse", "{setting}");
    assert_eq!(ready(gateway), setting == "continue", "{setting}");
    free();
    RunningGateway::wait_for(|| {
        gateway
            .curl("GET", "/metrics", &gateway.key(), "")
            .contains("countersign_activity_store_up 1")
    });
    assert!(ready(gateway));
    assert!(!refused(gateway, "strict") && !refused(gateway, "warn"));
    let ran = finish(&mut verify, b"");
    assert_eq!(ran.code, Some(0), "{ran}");
    let verification: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(
        verification["lost"].as_u64() > Some(0),
        "what was lost is confessed: {verification}"
    );
}

fn two_modes(setting: &str) -> Folder {
    let servers = json!({"strict": preset("demo", "strict"), "warn": preset("demo", "warn")});
    Folder::over(
        &servers,
        &[("activity", json!({"on_store_error": setting}))],
    )
}

/// A file that may not grow is how a full disk looks to the store, and needs no privilege to arrange.
#[test]
fn a_full_disk_refuses_or_goes_on_as_configured() {
    for setting in ["auto", "refuse", "continue"] {
        let folder = two_modes(setting);
        let mut command = Command::new("sh");
        let line = "trap '' XFSZ; ulimit -S -f 600; exec \"$0\" \"$@\"";
        command.env_clear().args(["-c", line]).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
            .arg(binary().get_program())
            .args(["serve", "--config", "c.json"]);
        let gateway = RunningGateway::launch(&folder, command);
        gateway.all_up(2);
        let process = i32::try_from(gateway.process()).expect("a process id");
        let free = || {
            let none = Rlimit {
                current: None,
                maximum: None,
            };
            prlimit(Pid::from_raw(process), Resource::Fsize, none).expect("the limit is lifted");
        };
        let mut verify = binary();
        verify
            .current_dir(folder.path())
            .args(VERIFY.split(' '))
            .args(["-o", "json"]);
        full_and_free_again(&gateway, setting, free, verify);
        let ran = gateway.stop(Signal::TERM);
        assert_eq!(ran.code, Some(0));
        assert!(
            ran.stderr.contains("the activity store is down"),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("the activity store works again"),
            "{}",
            ran.stderr
        );
    }
}

/// The same on a disk that is really full, where a file system may be mounted.
#[test]
#[ignore = "needs the right to mount a file system"]
fn a_disk_without_space_is_survived_on_a_mounted_disk() {
    let folder = two_modes("auto");
    std::fs::create_dir(folder.path().join("data")).expect("a directory");
    let mut command = Command::new("unshare");
    let line = "mount -t tmpfs -o size=2m,mode=700 x data && exec \"$0\" \"$@\"";
    command
        .env_clear()
        .args(["-rm", "sh", "-c", line])
        .stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
        .arg(binary().get_program())
        .args(["serve", "--config", "c.json"]);
    let gateway = RunningGateway::launch(&folder, command);
    let root = format!(
        "/proc/{}/root{}",
        gateway.process(),
        folder.path().join("data").display()
    );
    std::fs::copy(
        format!("{root}/api_key"),
        folder.path().join("data/api_key"),
    )
    .expect("the key");
    gateway.all_up(2);
    let filler = format!("{root}/filler");
    let mut file = std::fs::File::create(&filler).expect("a file");
    while file.write_all(&[0; 512]).is_ok() {}
    let free = || {
        std::fs::remove_file(&filler).expect("removed");
        drop(file);
    };
    let mut verify = Command::new("nsenter");
    verify
        .env_clear()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    verify.args([
        "-U",
        "-m",
        "--preserve-credentials",
        "-t",
        &gateway.process().to_string(),
    ]);
    verify
        .arg(binary().get_program())
        .args(["activity", "verify", "-o", "json", "--data-dir"]);
    verify.arg(folder.path().join("data"));
    full_and_free_again(&gateway, "auto", free, verify);
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}
