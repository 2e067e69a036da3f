//! How it starts and ends: with its server, with its client, and without orphans.

use countersign_fixture::client::{StdioClient, call_params, request};
use rustix::process::{Pid, Signal, kill_process};

use super::{WAIT, command, finish, fixture, preset_of, said, text, wrapped};
use crate::serve::{descendants, is_alive};
use crate::support::Folder;

#[tokio::test]
async fn the_end_of_input_and_term_leave_no_orphan() {
    let fixture = fixture();
    let script = format!("sleep 1000 & exec {fixture} stdio --preset demo");
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let folder = Folder::with(&[]);
        let mut client = wrapped(&folder, "", &["sh", "-c", &script]);
        client.handshake("2025-06-18").await.expect("an answer");
        let process = client.process().expect("it runs");
        // The keeper, the server and what the server started.
        let family = descendants(process);
        assert_eq!(family.len(), 3);
        match signal {
            None => client.close_input(),
            Some(signal) => {
                let process = i32::try_from(process).ok().and_then(Pid::from_raw);
                kill_process(process.expect("a process"), signal).expect("it runs");
            }
        }
        let status = client.ended().await.expect("it ends");
        assert_eq!(status.code(), Some(0), "{}", said(&mut client).await);
        for process in family {
            assert!(!is_alive(process), "{process} is still there");
        }
        let verified = folder.countersign("activity verify --data-dir data");
        assert!(verified.stdout.starts_with("intact"), "{verified}");
    }
}

#[tokio::test]
async fn a_call_under_way_is_answered_before_the_end() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "faults");
    client.handshake("2025-06-18").await.expect("an answer");
    let call = request("7", "tools/call", &call_params("delay", "{}"));
    client.send(&call).await.expect("sent");
    client.close_input();
    let answer = client.answer("7").await.expect("an answer");
    assert!(
        text(&answer).contains(r#""text":"ok""#),
        "{}",
        text(&answer)
    );
    finish(client).await;
}

#[tokio::test]
async fn a_server_that_cannot_start_says_so_and_ends_it() {
    let folder = Folder::with(&[]);
    for (server, code, why) in [
        (
            &["./no-such-program"][..],
            3,
            "the command could not be run",
        ),
        (
            &["sh", "-c", "exit 9"][..],
            9,
            "exit code 9 before it spoke MCP",
        ),
        (&["true"][..], 3, "the server cannot be started"),
    ] {
        let mut client = wrapped(&folder, "", server);
        let hello = request("1", "ping", "{}");
        // It may be gone before it is asked anything.
        drop(client.send(&hello).await);
        let status = client.ended().await.expect("it ends");
        let said = said(&mut client).await;
        assert_eq!(status.code(), Some(code), "{said}");
        assert!(
            said.contains(why) && said.contains("\nhint: check that this runs"),
            "{said}"
        );
    }
    let ran = folder.countersign("wrap --name A_B -- x");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("hint: a name is 1 to 20 characters"),
        "{}",
        ran.stderr
    );
}

#[tokio::test]
async fn a_server_that_ends_by_itself_ends_it_with_its_code() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "faults");
    client.handshake("2025-06-18").await.expect("an answer");
    let lost = text(&client.call("exit", "{}").await.expect("an answer"));
    assert!(lost.contains(r#""isError":true"#), "{lost}");
    let status = client.ended().await.expect("it ends");
    assert_eq!(status.code(), Some(3), "{}", said(&mut client).await);
}

#[tokio::test]
async fn the_server_sees_the_clients_variables_and_not_ours() {
    let shown = r#"echo "token $TOKEN key $COUNTERSIGN_LOG more $MORE" >&2; exit 4"#;
    let config = r#"{"mcpServers": {"named": {"command": "x", "env": {"MORE": "m"}}}}"#;
    let folder = Folder::with(&[("c.json", config)]);
    for (options, expected) in [
        ("--config c.json", "token t key  more \n"),
        ("--config c.json --name named", "token  key  more m\n"),
    ] {
        let mut command = command(&folder, options, &["sh", "-c", shown]);
        command.env("TOKEN", "t").env("COUNTERSIGN_LOG", "error");
        let mut client = StdioClient::spawn(command, WAIT).expect("the binary was built");
        assert_eq!(client.ended().await.expect("it ends").code(), Some(4));
        let said = said(&mut client).await;
        assert!(said.contains(expected), "{said}");
    }
}
