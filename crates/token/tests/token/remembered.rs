//! The memory of verified tokens.

use std::sync::Arc;

use countersign_token::{Caller, VerifiedTokens};

use crate::issuer::{NOW, RESOURCE, claims, sign, verify};

fn memory(most: usize) -> VerifiedTokens {
    VerifiedTokens::new(most, VerifiedTokens::SIGNED_AGE)
}

fn caller(expires: u64) -> Arc<Caller> {
    let caller = verify(&sign("EdDSA", &claims())).expect("a caller");
    Arc::new(Caller { expires, ..caller })
}

#[test]
fn a_token_is_remembered_for_a_minute_and_not_past_its_expiry() {
    let tokens = memory(10);
    for (expires, last) in [(NOW + 3600, NOW + 59), (NOW + 20, NOW + 19)] {
        let caller = caller(expires);
        tokens.insert("t", RESOURCE, 1, NOW, &caller);
        assert_eq!(tokens.get("t", RESOURCE, 1, last), Some(caller));
        assert_eq!(tokens.get("t", RESOURCE, 1, last + 1), None);
    }
    let fresh = memory(10);
    fresh.insert("t", RESOURCE, 1, NOW, &caller(NOW - 30));
    assert!(
        fresh.is_empty(),
        "accepted within the skew, but not remembered"
    );
}

#[test]
fn a_token_is_remembered_for_its_resource_only() {
    let tokens = memory(10);
    tokens.insert("t", RESOURCE, 1, NOW, &caller(NOW + 300));
    assert!(
        tokens
            .get("t", "https://tools.example.com/mcp/all", 1, NOW)
            .is_none()
    );
    assert!(tokens.get("other", RESOURCE, 1, NOW).is_none());
    // The boundary between resource and token cannot be moved.
    tokens.insert("bc", "a", 1, NOW, &caller(NOW + 300));
    assert!(tokens.get("c", "ab", 1, NOW).is_none());
}

#[test]
fn new_keys_forget_all_tokens() {
    let tokens = memory(10);
    tokens.insert("t", RESOURCE, 1, NOW, &caller(NOW + 300));
    assert!(tokens.get("t", RESOURCE, 2, NOW).is_none());
    assert!(tokens.is_empty());
    // A verification that began under the old keys leaves nothing behind.
    tokens.insert("t", RESOURCE, 1, NOW, &caller(NOW + 300));
    assert!(tokens.is_empty());
    assert!(tokens.get("t", RESOURCE, 1, NOW).is_none());
}

#[test]
fn the_memory_is_bounded() {
    let tokens = memory(100);
    let caller = caller(NOW + 300);
    for number in 0..1000 {
        tokens.insert(&format!("t{number}"), RESOURCE, 1, NOW, &caller);
        assert!(tokens.len() <= 100);
    }
    assert!(tokens.get("t999", RESOURCE, 1, NOW).is_some());
    let none = memory(0);
    none.insert("t", RESOURCE, 1, NOW, &caller);
    assert!(none.is_empty());
}
