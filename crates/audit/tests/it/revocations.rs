//! Revoked keys: written once, seen by every process that shares the store, and never of another key of the same caller.

use countersign_audit::{Reader, Revocation};

use crate::support::DataDir;

const OLD: Revocation<'_> = Revocation {
    caller: "key:ci",
    key: [7; 32],
};
const NEW: [u8; 32] = [8; 32];

/// What every backend has to do, for two processes that share it.
pub(crate) fn a_revoked_key_is_revoked_everywhere(one: &Reader, other: &Reader) {
    let revoked = |reader: &Reader, keys: &[[u8; 32]]| reader.revoked(keys).expect("read");
    assert!(revoked(one, &[OLD.key, NEW]).is_empty());
    assert!(one.revoke(OLD).expect("written"));
    for reader in [one, other] {
        assert_eq!(revoked(reader, &[OLD.key, NEW]), [OLD.key]);
        assert!(revoked(reader, &[NEW]).is_empty() && revoked(reader, &[]).is_empty());
        // Once is enough, and another name does not change it.
        let caller = "key:other";
        let again = reader.revoke(Revocation { caller, ..OLD });
        assert!(!again.expect("asked"));
    }
}

#[test]
fn a_key_is_revoked_for_every_process() {
    let home = DataDir::new();
    let (store, other) = (home.open(), home.reader());
    a_revoked_key_is_revoked_everywhere(store.reader(), &other);
}
