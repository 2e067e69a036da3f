//! Tokens for servers: leases and generations keep two holders from exchanging one token twice.

use std::time::Duration;

use countersign_audit::{GrantLease, GrantOwner, Reader};

use crate::support::DataDir;

const OWNER: GrantOwner<'_> = GrantOwner {
    server: "crm",
    caller: "",
};
const LASTING: Duration = Duration::from_mins(1);

fn lease(generation: u64, holder: &str, lasts: Duration) -> GrantLease<'_> {
    GrantLease {
        generation,
        holder,
        lasts,
    }
}

/// What every backend has to do, for two processes that share it.
pub(crate) fn leases_and_generations_hold(one: &Reader, other: &Reader) {
    assert_eq!(one.grant(OWNER).expect("read"), None);
    let first = one.put_grant(OWNER, "https://id.example", b"sealed 1");
    let first = first.expect("put");
    let stored = other.grant(OWNER).expect("read").expect("there");
    assert_eq!(
        (stored.generation, &*stored.sealed),
        (first, &b"sealed 1"[..])
    );
    let stranger = GrantOwner {
        caller: "key:ci",
        ..OWNER
    };
    let generations = |reader: &Reader| {
        let found = reader.grant_generations(&[stranger, OWNER, stranger]);
        found.expect("read")
    };
    assert_eq!(generations(other), [None, Some(first), None]);
    assert_eq!(stored.issuer, "https://id.example");
    let take = |reader: &Reader, generation, holder, lasts| {
        let taken = reader.lease_grant(OWNER, lease(generation, holder, lasts));
        taken.expect("asked")
    };
    // One holder at a time, until the lease is given back or runs out.
    assert!(take(one, first, "a", LASTING));
    assert!(!take(other, first, "b", LASTING));
    let foreign = other.release_grant(OWNER, lease(first, "b", LASTING));
    assert!(!foreign.expect("asked"));
    assert!(
        one.release_grant(OWNER, lease(first, "a", LASTING))
            .expect("asked")
    );
    assert!(take(other, first, "b", Duration::ZERO));
    assert!(take(one, first, "a", LASTING));
    // The first one to swap wins, and the swap ends the lease.
    assert!(one.swap_grant(OWNER, first, b"sealed 2").expect("asked"));
    assert!(!other.swap_grant(OWNER, first, b"stale").expect("asked"));
    assert!(!take(other, first, "b", LASTING));
    let stored = other.grant(OWNER).expect("read").expect("there");
    assert_eq!(
        (stored.generation, &*stored.sealed),
        (first + 1, &b"sealed 2"[..])
    );
    assert!(take(other, first + 1, "b", LASTING));
    // A login replaces the token whichever process has the lease, also after a removal.
    let next = one.put_grant(OWNER, "https://new.example", b"sealed 3");
    let next = next.expect("put");
    assert!(next > first + 1);
    assert!(!other.swap_grant(OWNER, first + 1, b"stale").expect("asked"));
    assert!(one.remove_grant(OWNER).expect("asked"));
    assert!(!other.remove_grant(OWNER).expect("asked"));
    assert_eq!(other.grant(OWNER).expect("read"), None);
    assert_eq!(generations(other), [None; 3]);
    assert!(!other.swap_grant(OWNER, next, b"stale").expect("asked"));
    let last = one.put_grant(OWNER, "https://id.example", b"sealed 4");
    assert!(last.expect("put") > next);
    assert_eq!(one.grant(stranger).expect("read"), None);
}

#[test]
fn one_holder_at_a_time_exchanges_a_token() {
    let home = DataDir::new();
    let (store, other) = (home.open(), home.reader());
    leases_and_generations_hold(store.reader(), &other);
}
