//! Tokens for servers, exchanged by three gateways on one PostgreSQL: an authorization server that ends a login when a refresh
//! token comes twice never has a reason to, and a gateway that is killed in the middle costs no more than that one login.

use std::io::{Read, Write};
use std::net::TcpStream;

use countersign_fixture::postgres::Cluster;
use countersign_inspect::encode_hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;

use crate::support::gateway::RunningGateway;
use crate::support::{Folder, binary, finish};

#[expect(dead_code, reason = "the tests of the gateway read more of it")]
#[path = "../../../gateway/tests/it/oauth/issuer.rs"]
mod issuer;

use issuer::Issuer;

const CALLERS: usize = 64;
const ROUNDS: usize = 3;
const API_KEY: &str = "cs_a-key-for-all-gateways";
const ADMIN_KEY: &str = "csa_another-key-for-all";
const SECRET: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// The key of a caller.
fn key(number: usize) -> String {
    format!("cs_the-key-of-caller-{number}")
}

/// One configuration for all gateways: 64 callers, and two servers that need a login each.
fn config(url: &str, servers: [(&str, &Issuer); 2]) -> String {
    let callers = (0..CALLERS).map(|number| {
        let digest = encode_hex(&Sha256::digest(key(number)));
        json!({"name": format!("caller-{number}"), "key_sha256": digest})
    });
    let servers = servers.map(|(name, issuer)| {
        let server = json!({"url": issuer.mcp_url(), "oauth": {}});
        (name.to_owned(), server)
    });
    json!({
        "storage": {"url": url}, "api_key": API_KEY, "admin_key": ADMIN_KEY, "session_key": SECRET, "seal_key": SECRET,
        "activity": {"signing_key": SECRET}, "drain_delay": "1ms", "callers": callers.collect::<Vec<_>>(),
        "mcpServers": servers.into_iter().collect::<serde_json::Map<_, _>>(),
    })
    .to_string()
}

fn start(folder: &Folder, state: &str) -> RunningGateway {
    let mut command = binary();
    command.args(["serve", "--config", "c.json", "--listen", "127.0.0.1:0"]);
    command.args(["--data-dir", state]);
    RunningGateway::launch_with_state(folder, command, state)
}

/// What a resource of a gateway says.
fn ask(gateway: &RunningGateway, method: &str, path: &str, body: &Value) -> Value {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = gateway.curl(method, &format!("/api/v1/{path}"), ADMIN_KEY, &body);
    let (_, body) = answer.split_once("\r\n\r\n").expect("a response");
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}

fn state(gateway: &RunningGateway, server: &str) -> Value {
    ask(
        gateway,
        "GET",
        &format!("servers/{server}/auth"),
        &Value::Null,
    )["state"]
        .take()
}

/// A user logs in to a server by one gateway.
fn log_in(gateway: &RunningGateway, server: &str, issuer: &Issuer) {
    let redirect = json!({"redirect_uri": "http://127.0.0.1:7999/callback"});
    let begun = ask(
        gateway,
        "POST",
        &format!("servers/{server}/login"),
        &redirect,
    );
    let url = begun["authorization_url"].as_str();
    let query = issuer.approve(url.unwrap_or_else(|| panic!("{begun}")));
    let path = format!("servers/{server}/login/complete");
    let status = ask(gateway, "POST", &path, &json!({"query": query}));
    assert_eq!(status["state"], "authorized", "{status}");
}

/// Waits until a gateway can call a server: nothing is asked in the background after that.
fn is_up(gateway: &RunningGateway, server: &str) {
    RunningGateway::wait_for(|| {
        let said = ask(gateway, "GET", &format!("servers/{server}"), &Value::Null);
        said["state"] == "up" && said["list"] == "fresh"
    });
}

/// Calls a tool; the whole response. Nothing if the connection was closed.
fn call(address: &str, key: &str, server: &str) -> Option<String> {
    let body =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":{}}}"#;
    let request = format!(
        "POST /mcp/s/{server} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

fn works(gateway: &RunningGateway, server: &str) -> bool {
    let answer = call(gateway.address(), API_KEY, server);
    answer.is_some_and(|answer| answer.contains(r#""text":"ok""#))
}

/// All callers call at once, spread over the gateways, and every call succeeds.
fn all_call(gateways: &[RunningGateway]) {
    let addresses: Vec<&str> = gateways.iter().map(RunningGateway::address).collect();
    std::thread::scope(|scope| {
        for number in 0..CALLERS {
            let address = addresses[number % addresses.len()];
            scope.spawn(move || {
                let answer = call(address, &key(number), "crm").expect("an answer");
                assert!(answer.contains(r#""text":"ok""#), "{answer}");
            });
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn three_gateways_exchange_a_token_once_and_a_killed_one_costs_one_login_with_postgres() {
    let (runtime, cluster) = (Runtime::new().expect("a runtime"), Cluster::start());
    let [crm, erp] = [(); 2].map(|()| runtime.block_on(Issuer::start()));
    let config = config(&cluster.url(), [("crm", &crm), ("erp", &erp)]);
    let folder = Folder::with(&[("c.json", &config)]);
    let first = start(&folder, "a");
    log_in(&first, "crm", &crm);
    log_in(&first, "erp", &erp);
    let mut gateways = vec![first, start(&folder, "b"), start(&folder, "c")];
    for gateway in &gateways {
        is_up(gateway, "crm");
        is_up(gateway, "erp");
    }
    // One exchange each time, by whichever gateway has the lease, and no new login.
    let before = crm.count("refresh_token");
    for round in 1..=ROUNDS {
        crm.revoke_access_tokens();
        all_call(&gateways);
        assert_eq!(crm.count("refresh_token"), before + round, "round {round}");
    }
    assert_eq!(crm.count("authorization_code"), 1);

    // The authorization server has exchanged the token, and the gateway that asked is killed before it hears of it.
    crm.change(|it| it.withholds_tokens = true);
    crm.revoke_access_tokens();
    let killed = gateways.remove(0);
    let address = killed.address().to_owned();
    std::thread::scope(|scope| {
        let cut_off = scope.spawn(|| call(&address, API_KEY, "crm"));
        RunningGateway::wait_for(|| crm.count("refresh_token") == before + ROUNDS + 1);
        drop(killed);
        drop(cut_off.join());
    });
    crm.change(|it| it.withholds_tokens = false);
    // The lease of the killed gateway runs out.
    cluster.sql("UPDATE countersign.server_grant SET leased_until = '-infinity'");
    for gateway in &gateways {
        assert!(!works(gateway, "crm"));
        assert_eq!(state(gateway, "crm"), "needs_login");
        // The other login is as it was.
        assert!(works(gateway, "erp"));
        assert_eq!(state(gateway, "erp"), "authorized");
    }
    assert_eq!(erp.count("authorization_code"), 1);
    gateways[0].hear("the token of a server cannot be exchanged");
    let mut doctor = binary();
    doctor.current_dir(folder.path());
    doctor.args(["doctor", "--config", "c.json", "--data-dir", "b"]);
    let doctor = finish(&mut doctor, b"");
    assert!(doctor.stdout.contains("auth login crm"), "{doctor}");
    // One login heals it for all gateways.
    log_in(&gateways[1], "crm", &crm);
    for gateway in &gateways {
        is_up(gateway, "crm");
        assert!(works(gateway, "crm"));
    }
}
