//! Keys of an issuer over time. The clock is an argument, so a day passes at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_dial::lock;
use countersign_oauth::{KeySource, NoKeys};
use serde_json::json;

use crate::peer::{Answer, Peer, client, metadata};

/// RFC 8037, appendix A.2, under a name.
fn keys(id: &str) -> Answer {
    let key = json!({"kty": "OKP", "crv": "Ed25519", "kid": id,
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
    (200, json!({"keys": [key]}).to_string())
}

/// An issuer whose key set can be changed, and the number of times it was fetched.
struct Issuer {
    peer: Peer,
    answer: Arc<Mutex<Answer>>,
    fetches: Arc<AtomicUsize>,
}

impl Issuer {
    async fn start() -> Self {
        let answer = Arc::new(Mutex::new(keys("a")));
        let fetches = Arc::new(AtomicUsize::new(0));
        let (shown, counter) = (Arc::clone(&answer), Arc::clone(&fetches));
        let peer = Peer::start(move |question| {
            if question.line != "GET /keys" {
                return metadata(&question.base, &json!({}));
            }
            counter.fetch_add(1, Ordering::SeqCst);
            lock(&shown).clone()
        })
        .await;
        Self {
            peer,
            answer,
            fetches,
        }
    }

    fn set(&self, answer: Answer) {
        *lock(&self.answer) = answer;
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_flood_of_unknown_ids_costs_one_fetch_per_30_seconds() {
    let issuer = Issuer::start().await;
    let source = KeySource::new(client(), &issuer.peer.url);
    let start = Instant::now();
    for second in 0..90 {
        for _ in 0..5 {
            let now = start + Duration::from_secs(second);
            source.keys_for_unknown_id(now).await.expect("keys");
        }
    }
    assert_eq!(issuer.fetches(), 3);
}

#[tokio::test]
async fn a_bad_answer_neither_replaces_good_keys_nor_resets_the_clock() {
    let issuer = Issuer::start().await;
    let source = KeySource::new(client(), &issuer.peer.url);
    let start = Instant::now();
    let good = source.keys(start).await.expect("keys");
    let bad = [
        (200, r#"{"keys":[]}"#.to_owned()),
        (200, "x".repeat(256 * 1024 + 1)),
        (302, "http://127.0.0.1:1/".to_owned()),
        (500, String::new()),
    ];
    for (round, answer) in bad.into_iter().enumerate() {
        issuer.set(answer);
        let now = start + Duration::from_secs(30 * (round as u64 + 1));
        for _ in 0..5 {
            let kept = source.keys_for_unknown_id(now).await.expect("keys");
            assert_eq!((kept.revision, &kept.keys), (good.revision, &good.keys));
        }
        assert_eq!(issuer.fetches(), round + 2);
    }
}

#[tokio::test]
async fn good_keys_outlive_failed_fetches_by_a_day() {
    let issuer = Issuer::start().await;
    let source = KeySource::new(client(), &issuer.peer.url);
    let start = Instant::now();
    source.keys(start).await.expect("keys");
    issuer.set((503, String::new()));
    let hour = Duration::from_hours(1);
    assert!(source.keys(start + 23 * hour).await.is_ok());
    assert_eq!(source.keys(start + 25 * hour).await.err(), Some(NoKeys));
    issuer.set(keys("a"));
    assert!(source.keys(start + 26 * hour).await.is_ok());
}

#[tokio::test]
async fn new_keys_have_a_new_revision() {
    let issuer = Issuer::start().await;
    let source = KeySource::new(client(), &issuer.peer.url);
    let start = Instant::now();
    let first = source.keys(start).await.expect("keys");
    let minute = Duration::from_mins(1);
    let same = source
        .keys_for_unknown_id(start + minute)
        .await
        .expect("keys");
    assert_eq!(same.revision, first.revision);
    issuer.set(keys("b"));
    let next = source
        .keys_for_unknown_id(start + 2 * minute)
        .await
        .expect("keys");
    assert!(next.revision > first.revision);
    assert_ne!(next.keys, first.keys);
}

#[tokio::test]
async fn many_callers_make_one_fetch() {
    let issuer = Issuer::start().await;
    let source = KeySource::new(client(), &issuer.peer.url);
    let now = Instant::now();
    let callers: Vec<_> = (0..64)
        .map(|_| {
            let source = source.clone();
            tokio::spawn(async move { source.keys(now).await.is_ok() })
        })
        .collect();
    for caller in callers {
        assert!(caller.await.expect("no panic"));
    }
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test]
async fn an_issuer_out_of_reach_gives_no_keys() {
    let source = KeySource::new(client(), "http://127.0.0.1:1");
    assert_eq!(source.keys(Instant::now()).await.err(), Some(NoKeys));
}

#[tokio::test]
async fn a_key_that_is_new_right_after_the_first_fetch_is_found() {
    let issuer = Issuer::start().await;
    let source = KeySource::new(client(), &issuer.peer.url);
    let now = Instant::now();
    let first = source.keys(now).await.expect("keys");
    issuer.set(keys("b"));
    let next = source.keys_for_unknown_id(now).await.expect("keys");
    assert!(next.revision > first.revision);
    assert_eq!((source.revision(), issuer.fetches()), (next.revision, 2));
}

#[tokio::test]
async fn the_status_says_why_there_are_no_keys() {
    let issuer = Issuer::start().await;
    issuer.set((500, String::new()));
    let source = KeySource::new(client(), &issuer.peer.url);
    let start = Instant::now();
    assert_eq!(source.keys(start).await.err(), Some(NoKeys));
    let status = source.status();
    let why = status.failure.map(|why| why.to_string());
    assert_eq!((status.keys, status.failures), (0, 1));
    assert_eq!(why.as_deref(), Some("the server answered with status 500"));
    issuer.set(keys("a"));
    source
        .keys(start + Duration::from_secs(30))
        .await
        .expect("keys");
    let status = source.status();
    assert!(status.keys == 1 && status.failures == 1 && status.failure.is_none());
}
