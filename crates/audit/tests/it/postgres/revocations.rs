//! The same revocations for several gateways.

use countersign_audit::{Revocation, copy_to_postgres};

use super::SharedLog;
use crate::revocations::a_revoked_key_is_revoked_everywhere;
use crate::support::DataDir;

#[test]
#[ignore = "needs PostgreSQL"]
fn a_key_is_revoked_for_every_gateway_with_postgres() {
    let shared = SharedLog::new();
    let (store, other) = (shared.open(), shared.reader());
    a_revoked_key_is_revoked_everywhere(store.reader(), &other);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_revoked_key_stays_revoked_when_the_log_is_copied_with_postgres() {
    let (home, shared) = (DataDir::new(), SharedLog::new());
    let revoked = Revocation {
        caller: "key:ci",
        key: [7; 32],
    };
    home.open().reader().revoke(revoked).expect("revoked");
    for _ in 0..2 {
        copy_to_postgres(&home.options(), &shared.cluster.url(), |_| {}).expect("copied");
    }
    let found = shared.reader().revoked(&[[7; 32], [8; 32]]);
    assert_eq!(found.expect("read"), [[7; 32]]);
}
