//! Opaque tokens, which the issuer explains.

use countersign_config::{Config, Secret};
use serde_json::{Value, json};

use super::issuer::{Issuer, KeysAnswer, SigningKey, now};
use super::{RESOURCE, TokenRig};

fn introspects(config: &mut Config) {
    let introspection = &mut config.auth.issuers[0].introspection;
    introspection.client_id = Some("gateway".to_owned());
    introspection.client_secret = Some(Secret::new("the secret"));
}

fn active() -> Value {
    json!({"active": true, "sub": "7", "aud": RESOURCE, "exp": now() + 300, "scope": "mcp:use"})
}

#[tokio::test]
async fn an_opaque_token_is_explained_by_its_issuer_and_remembered() {
    let mut rig = TokenRig::with(introspects).await;
    rig.refuses("opaque-1", "not active").await;
    rig.nothing_forwarded();
    rig.issuer.explain(active());
    rig.works("opaque-2").await;
    let asked = rig.issuer.questions();
    rig.works("opaque-2").await;
    assert_eq!(rig.issuer.questions(), asked);
    let question = rig
        .issuer
        .requests()
        .into_iter()
        .next_back()
        .expect("a question");
    assert!(question.contains("token=opaque-2"), "{question}");
    assert!(question.contains("Basic "), "{question}");
    let record = rig.rig.activity("type=tool_call").await;
    assert_eq!(record["caller"], "corp:7");
}

#[tokio::test]
async fn the_same_rules_hold_for_explained_tokens() {
    let mut rig = TokenRig::with(introspects).await;
    for (changes, reason) in [
        (json!({"aud": "https://other.example"}), "audience"),
        (json!({"aud": null}), "audience"),
        (json!({"exp": 5}), "expired"),
        (json!({"exp": null}), "expiry"),
        (json!({"iss": "https://other.example"}), "another issuer"),
        (json!({"cnf": {"jkt": "x"}}), "bound to a key"),
        (json!({"sub": null}), "subject"),
        (json!({"active": "true"}), "not active"),
    ] {
        let mut answer = active();
        for (name, value) in changes.as_object().expect("an object") {
            answer[name] = value.clone();
            if value.is_null() {
                answer.as_object_mut().expect("an object").remove(name);
            }
        }
        rig.issuer.explain(answer);
        rig.refuses("opaque", reason).await;
    }
    rig.nothing_forwarded();
}

#[tokio::test]
async fn keys_of_the_gateway_are_not_shown_to_an_issuer() {
    let rig = TokenRig::with(introspects).await;
    for token in ["cs_0123456789abcdef", "csa_0123456789abcdef"] {
        rig.refuses(token, "not a signed JWT").await;
    }
    let answer = rig
        .rig
        .stranger("/mcp/s/x")
        .with_header("X-API-Key", "a wrong key");
    assert_eq!(
        answer.call("ok", "{}").await.expect("an answer").status,
        401
    );
    assert_eq!(rig.issuer.questions(), 0);
}

#[tokio::test]
async fn without_introspection_an_opaque_token_is_refused() {
    let rig = TokenRig::start().await;
    rig.refuses("opaque", "not a signed JWT").await;
    assert_eq!(rig.issuer.questions(), 0);
}

#[tokio::test]
async fn an_issuer_that_gives_no_answer_is_no_reason_to_log_in_again() {
    let key = SigningKey::new("one");
    let mut issuer = Issuer::start(&key).await;
    issuer.answer(KeysAnswer::Other(500, String::new()));
    issuer.url = "http://127.0.0.1:1".to_owned();
    let rig = TokenRig::over(issuer, key, introspects).await;
    assert_eq!(rig.call("opaque").await.status, 503);
}
