//! The keys of issuers: rotation, floods, and key sets that cannot be used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use super::issuer::{Issuer, KeysAnswer, SigningKey};
use super::{RESOURCE, TokenRig};
use crate::support::text;

/// Key sets that cannot be used: huge, empty, redirecting, an error, no JSON, none in time.
fn bad_answers() -> Vec<KeysAnswer> {
    vec![
        KeysAnswer::Other(
            200,
            format!(r#"{{"keys":[],"x":"{}"}}"#, "x".repeat(300 * 1024)),
        ),
        KeysAnswer::Other(200, r#"{"keys":[]}"#.to_owned()),
        KeysAnswer::Other(302, "http://127.0.0.1:1/keys".to_owned()),
        KeysAnswer::Other(500, String::new()),
        KeysAnswer::Other(200, "<html>".to_owned()),
        KeysAnswer::Silence,
    ]
}

#[tokio::test]
async fn a_key_set_that_cannot_be_used_leaves_the_last_good_one() {
    for bad in bad_answers() {
        let rig = TokenRig::start().await;
        rig.works(&rig.token()).await;
        rig.issuer.answer(bad.clone());
        // An unknown key makes the gateway ask again, and the answer is bad.
        let unknown = SigningKey::new("two").sign(&rig.issuer.claims(RESOURCE));
        rig.refuses(&unknown, "unknown key").await;
        assert_eq!(rig.issuer.key_fetches(), 2, "{bad:?}");
        rig.works(&rig.token_with(&json!({"jti": "new"}))).await;
    }
}

#[tokio::test]
async fn without_a_good_key_set_the_gateway_says_that_it_cannot_tell() {
    for bad in bad_answers() {
        let key = SigningKey::new("one");
        let issuer = Issuer::start(&key).await;
        issuer.answer(bad.clone());
        let mut rig = TokenRig::over(issuer, key, |_| {}).await;
        let answer = rig.call(&rig.token()).await;
        let told = (answer.status, answer.header("retry-after"));
        assert_eq!(told, (503, Some("30")), "{bad:?}");
        assert_eq!(answer.header("www-authenticate"), None);
        // Keys still work, and so does the refusal of tokens of others.
        rig.refuses(
            &rig.token_with(&json!({"iss": "https://other.example"})),
            "another issuer",
        )
        .await;
        let keyed = rig.rig.client("/mcp/s/x").request("ping", "{}").await;
        assert_eq!(keyed.expect("an answer").status, 200);
        rig.nothing_forwarded();
    }
}

#[tokio::test]
async fn an_issuer_out_of_reach_is_no_reason_to_log_in_again() {
    let key = SigningKey::new("one");
    let mut issuer = Issuer::start(&key).await;
    // The port of an issuer that is gone.
    issuer.url = "http://127.0.0.1:1".to_owned();
    let rig = TokenRig::over(issuer, key, |_| {}).await;
    let answer = rig.call(&rig.token()).await;
    assert_eq!(answer.status, 503, "{}", text(&answer.body));
}

#[tokio::test]
async fn a_flood_of_unknown_keys_costs_one_fetch() {
    let rig = TokenRig::start().await;
    rig.works(&rig.token()).await;
    assert_eq!(rig.issuer.key_fetches(), 1);
    let start = std::time::Instant::now();
    let rig = Arc::new(rig);
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let rig = Arc::clone(&rig);
        tasks.spawn(async move {
            for number in 0..40 {
                let key = SigningKey::new(&format!("made-up-{worker}-{number}"));
                let answer = rig.call(&key.sign(&rig.issuer.claims(RESOURCE))).await;
                assert_eq!(answer.status, 401, "{}", text(&answer.body));
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no panic");
    }
    let windows = start.elapsed().as_secs() / 30 + 1;
    let fetches = rig.issuer.key_fetches() as u64;
    assert!((2..=1 + windows).contains(&fetches), "{fetches} fetches");
}

#[tokio::test]
async fn a_rotation_of_keys_under_load_refuses_no_call() {
    let rig = Arc::new(TokenRig::start().await);
    let two = Arc::new(SigningKey::new("two"));
    let (rotated, stop) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let calls = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let (rig, two, calls) = (Arc::clone(&rig), Arc::clone(&two), Arc::clone(&calls));
        let (rotated, stop) = (Arc::clone(&rotated), Arc::clone(&stop));
        tasks.spawn(async move {
            let mut number = 0;
            while !stop.load(Ordering::SeqCst) {
                let mut claims = rig.issuer.claims(RESOURCE);
                claims["jti"] = json!(format!("{worker}-{number}"));
                let is_new = rotated.load(Ordering::SeqCst);
                let token = if is_new {
                    two.sign(&claims)
                } else {
                    rig.key.sign(&claims)
                };
                rig.works(&token).await;
                calls.fetch_add(1, Ordering::SeqCst);
                number += 1;
            }
        });
    }
    let more_calls = async |count: usize| {
        let goal = calls.load(Ordering::SeqCst) + count;
        while calls.load(Ordering::SeqCst) < goal {
            tokio::task::yield_now().await;
        }
    };
    more_calls(50).await;
    // The issuer publishes the new key, then signs with it.
    rig.issuer.publish(&[&rig.key, &two]);
    rotated.store(true, Ordering::SeqCst);
    more_calls(100).await;
    stop.store(true, Ordering::SeqCst);
    while let Some(done) = tasks.join_next().await {
        done.expect("no call is refused");
    }
    assert_eq!(rig.issuer.key_fetches(), 2);
}
