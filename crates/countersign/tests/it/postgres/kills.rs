//! One of two gateways on one database dies again and again, while clients call both.

use std::collections::BTreeMap;

use countersign_fixture::postgres::Cluster;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{API_KEY, config, run};
use crate::support::gateway::RunningGateway;
use crate::support::load::{Load, all_recorded, counted};
use crate::support::{Folder, binary, preset};

/// More rounds by command:
/// `COUNTERSIGN_TEST_KILLS=20 cargo test -p countersign -- --ignored a_gateway_that_is_killed`
#[test]
#[ignore = "needs PostgreSQL"]
fn a_gateway_that_is_killed_has_recorded_every_reply_with_postgres() {
    let rounds = std::env::var("COUNTERSIGN_TEST_KILLS");
    let rounds: u32 = rounds.map_or(3, |rounds| rounds.parse().expect("a number"));
    let cluster = Cluster::start();
    let mut settings: Value = serde_json::from_str(&config(&cluster.url())).expect("JSON");
    settings["mcpServers"] = json!({"x": preset("demo", "strict")});
    let folder = Folder::with(&[("c.json", &settings.to_string())]);
    let launch = |state: &str| {
        let mut command = binary();
        command.args(["serve", "--config", "c.json", "--listen", "127.0.0.1:0"]);
        command.args(["--data-dir", state]);
        let gateway = RunningGateway::launch_with_state(&folder, command, state);
        gateway.all_up_with(API_KEY, 1);
        gateway
    };
    let survivor = launch("b");
    let mut replies = BTreeMap::new();
    for round in 1..=rounds {
        let victim = launch("a");
        let [dying, living] = [(&victim, "a"), (&survivor, "b")].map(|(gateway, name)| {
            let name = format!("{name}{round}");
            Load::new(gateway.address(), API_KEY.to_owned(), "/mcp/s/x", &name)
        });
        let enough = 20 + (round as usize * 37) % 100;
        living.run(3, || {
            dying.run(4, || {
                dying.reached(enough);
                assert_eq!(victim.stop(Signal::KILL).code, None, "killed");
            });
            living.reached(enough);
        });
        for load in [dying, living] {
            let got = load.replies();
            assert!(got.len() >= enough);
            replies.extend(got);
        }
        let verified = run(
            &folder,
            "activity verify --config c.json --data-dir c -o json",
        );
        assert_eq!(verified.code, Some(0), "{verified}");
        let verified: Value = serde_json::from_str(&verified.stdout).expect("JSON");
        assert_eq!(verified["chains"], round + 1, "{verified}");
        let exported = run(&folder, "activity export --config c.json --data-dir c");
        assert_eq!(exported.code, Some(0), "{}", exported.stderr);
        all_recorded(&replies, &counted(&exported.stdout));
    }
}
