//! Gateways of two builds on one database, as while a new version is rolled out.

use std::path::PathBuf;

use countersign_fixture::postgres::Cluster;
use rustix::process::Signal;

use super::{API_KEY, config, start, start_program, total};
use crate::support::gateway::RunningGateway;
use crate::support::{Folder, binary_at, finish};

const VERIFY: &str = "activity verify --config shared.json --data-dir c";

/// Calls a tool of the demo, and says whether there was a result.
fn call(gateway: &RunningGateway) -> bool {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"conforming"}}"#;
    let answer = gateway.curl("POST", "/mcp/s/stub", API_KEY, call);
    answer.contains("structuredContent")
}

/// `COUNTERSIGN_EARLIER` names the program of an earlier build. It makes the tables, this build migrates them while the
/// earlier one runs, and then each is restarted beside the other.
#[test]
#[ignore = "needs PostgreSQL and COUNTERSIGN_EARLIER, the program of an earlier build"]
fn an_earlier_build_and_this_one_share_a_database_on_an_earlier_build() {
    let earlier = std::env::var_os("COUNTERSIGN_EARLIER");
    let earlier = PathBuf::from(earlier.expect("COUNTERSIGN_EARLIER names a program"));
    let cluster = Cluster::start();
    let folder = Folder::with(&[("shared.json", &config(&cluster.url()))]);
    let start_earlier = || start_program(binary_at(&earlier), &folder, "a");
    let (mut old, mut new) = (start_earlier(), start(&folder, "b"));
    for round in 0..2 {
        let before = total(&new, "type=tool_call");
        assert!(call(&old) && call(&new), "round {round}");
        for gateway in [&old, &new] {
            assert_eq!(total(gateway, "type=tool_call"), before + 2);
        }
        assert_eq!(old.stop(Signal::TERM).code, Some(0));
        old = start_earlier();
        assert_eq!(new.stop(Signal::TERM).code, Some(0));
        new = start(&folder, "b");
    }
    assert!(call(&old) && call(&new));
    drop((old, new));
    for program in [&earlier, &PathBuf::from(env!("CARGO_BIN_EXE_countersign"))] {
        let mut verify = binary_at(program);
        verify.current_dir(folder.path());
        let verified = finish(verify.args(VERIFY.split(' ')), b"");
        assert_eq!(verified.code, Some(0), "{verified}");
        assert!(verified.stdout.contains("6 chains"), "{verified}");
    }
}
