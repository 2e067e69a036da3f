//! The `address` file of a data directory: commands find the gateway that runs there by it, and no other program.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::support::Folder;
use crate::support::gateway::RunningGateway;

/// A folder whose configuration listens where nothing does.
fn folder() -> Folder {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let free = free.local_addr().expect("an address").to_string();
    let folder = Folder::with(&[]);
    let config = serde_json::json!({ "listen": free }).to_string();
    std::fs::write(folder.path().join("c.json"), config).expect("written");
    folder
}

fn address(folder: &Folder) -> Option<String> {
    let text = std::fs::read_to_string(folder.path().join("data/address")).ok()?;
    Some(text.trim().to_owned())
}

#[test]
fn a_second_gateway_leaves_the_first_ones_address() {
    let folder = folder();
    let first = RunningGateway::start(&folder, "serve --config c.json");
    let announced = address(&folder);
    assert_eq!(announced.as_deref(), Some(first.address()));
    let second = RunningGateway::start(&folder, "serve --config c.json");
    assert_eq!(address(&folder), announced, "the second one's");
    let ran = second.stop(Signal::TERM);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(address(&folder), announced, "it is gone");
    let ran = folder.countersign("servers list --config c.json --data-dir data");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(first.stop(Signal::TERM).code, Some(0));
    assert_eq!(address(&folder), None);
}

#[test]
fn a_program_on_the_port_of_a_killed_gateway_gets_no_key() {
    let folder = folder();
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    let at = gateway.address().to_owned();
    assert_eq!(gateway.stop(Signal::KILL).code, None, "killed");
    assert_eq!(address(&folder).as_deref(), Some(&*at), "left behind");
    let other = TcpListener::bind(&at).expect("the port is free again");
    other.set_nonblocking(true).expect("set");
    for line in ["servers list", "activity list", "doctor"] {
        let ran = folder.countersign(&format!("{line} --config c.json --data-dir data"));
        assert!(!ran.stdout.contains(&at), "{ran}");
        let asked = other.accept().map(|_| ());
        assert!(asked.is_err(), "{line} asked the other program");
    }
    // The next gateway takes the file over.
    let next = RunningGateway::start(&folder, "serve --config c.json");
    assert_eq!(address(&folder).as_deref(), Some(next.address()));
    assert_eq!(next.stop(Signal::TERM).code, Some(0));
}
