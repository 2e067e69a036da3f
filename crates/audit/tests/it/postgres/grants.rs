//! The same tokens for several gateways.

use super::SharedLog;
use crate::grants::leases_and_generations_hold;

#[test]
#[ignore = "needs PostgreSQL"]
fn one_holder_at_a_time_exchanges_a_token_with_postgres() {
    let shared = SharedLog::new();
    let (store, other) = (shared.open(), shared.reader());
    leases_and_generations_hold(store.reader(), &other);
}
