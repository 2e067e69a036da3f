//! Commands find a gateway with TLS, and one on a Unix socket.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use countersign_fixture::certificates::{AGENTS, RENEWED, SELF_SIGNED};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::gateway::RunningGateway;
use crate::support::{Folder, binary};

/// A folder with a configuration that listens here and has a self-signed certificate for another name.
fn folder(listen: &Value, client_auth: &str) -> Folder {
    let config = json!({
        "listen": listen,
        "tls": {"cert_file": "tls.crt", "key_file": "tls.key", "client_ca_file": "agents.pem", "client_auth": client_auth},
    });
    let folder = Folder::with(&[
        ("c.json", &config.to_string()),
        ("tls.crt", SELF_SIGNED.certificate),
        ("tls.key", SELF_SIGNED.key),
        ("agents.pem", AGENTS),
    ]);
    fs::create_dir(folder.path().join("data")).expect("a folder");
    let private = PermissionsExt::from_mode(0o700);
    fs::set_permissions(folder.path().join("data"), private).expect("ours");
    folder
}

fn serve(folder: &Folder) -> RunningGateway {
    let mut command = binary();
    command.args(["serve", "--config", "c.json", "--data-dir", "data"]);
    RunningGateway::launch_with_state(folder, command, "data")
}

fn announced(folder: &Folder) -> String {
    fs::read_to_string(folder.path().join("data/address")).unwrap_or_default()
}

fn ask(folder: &Folder, line: &str) -> crate::support::CommandOutput {
    folder.countersign(&format!("{line} --config c.json --data-dir data"))
}

#[test]
fn commands_trust_the_certificate_of_the_configuration_and_no_other() {
    let folder = folder(&json!("127.0.0.1:0"), "optional");
    let gateway = serve(&folder);
    let address = format!("https://{}\n", gateway.address());
    assert_eq!(announced(&folder), address);
    for line in ["servers list", "doctor"] {
        let ran = ask(&folder, line);
        assert_eq!(ran.code, Some(0), "{ran}");
    }
    // The certificate of another server, without its key: the gateway goes on with its own.
    fs::write(folder.path().join("tls.crt"), RENEWED.certificate).expect("written");
    let ran = ask(&folder, "servers list");
    assert_ne!(ran.code, Some(0), "{ran}");
    let ran = ask(&folder, "doctor");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stdout.contains("cannot be used with the key"), "{ran}");
    fs::write(folder.path().join("tls.crt"), SELF_SIGNED.certificate).expect("written");
    let ran = ask(&folder, "servers list");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn a_socket_is_asked_where_the_network_needs_a_certificate() {
    let folder = folder(&json!(["127.0.0.1:0", "unix:g.sock"]), "required");
    let gateway = serve(&folder);
    let socket = folder.path().join("data/g.sock");
    let expected = format!(
        "unix:{}\n",
        socket.canonicalize().expect("a socket").display()
    );
    assert_eq!(announced(&folder), expected);
    for line in ["servers list", "doctor"] {
        let ran = ask(&folder, line);
        assert_eq!(ran.code, Some(0), "{ran}");
    }
    assert_eq!(gateway.stop(Signal::KILL).code, None, "killed");
    assert!(socket.exists(), "left behind");
    let ran = ask(&folder, "servers list");
    assert_ne!(ran.code, Some(0), "{ran}");
    let next = serve(&folder);
    let ran = ask(&folder, "servers list");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(next.stop(Signal::TERM).code, Some(0));
    assert!(!socket.exists(), "removed");
}

#[test]
fn a_certificate_that_cannot_be_used_keeps_a_gateway_from_starting() {
    let folder = folder(&json!("127.0.0.1:0"), "off");
    fs::write(folder.path().join("tls.key"), RENEWED.key).expect("written");
    let ran = ask(&folder, "serve");
    assert_ne!(ran.code, Some(0), "{ran}");
    assert!(ran.stderr.contains("cannot be used with the key"), "{ran}");
    let ran = ask(&folder, "doctor");
    assert!(ran.stdout.contains("error    tls"), "{ran}");
}
