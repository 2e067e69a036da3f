//! Servers where each caller has a token of its own: whose token a call is made with, and what a caller without one is told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use countersign_config::{CallerConfig, CallerCredential, CallerRight, OAuthCredentials, Server};
use countersign_fixture::client::{HttpClient, Response, call_params};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::issuer::{CANARY, Issuer, ServerEra};
use super::{REDIRECT, begin, is_in_state, is_listed, log_in, parsed, post};
use crate::support::{Rig, WAIT, refusal, result, text};

/// A caller whose key is its name.
pub(super) fn caller(name: &str) -> CallerConfig {
    CallerConfig {
        name: name.to_owned(),
        credential: CallerCredential::Key(Sha256::digest(name).into()),
        groups: Vec::new(),
        rights: vec![CallerRight::Call],
        expires: None,
    }
}

pub(crate) fn server(issuer: &Issuer) -> Server {
    let mut server = super::server(issuer);
    let oauth = server.oauth.as_mut().expect("oauth");
    oauth.credentials = OAuthCredentials::Caller;
    server
}

pub(super) async fn rig(issuer: &Issuer) -> Rig {
    let rig = Rig::with(vec![server(issuer)], |config| {
        config.callers = vec![caller("ada"), caller("bob")];
    })
    .await;
    log_in(&rig, issuer).await;
    rig
}

/// Logs a caller in, as an operator does.
pub(super) async fn log_in_as(rig: &Rig, issuer: &Issuer, name: &str) {
    let caller = format!("key:{name}");
    let begun = json!({"redirect_uri": REDIRECT, "caller": caller});
    let begun = parsed(&post(rig, "login", &begun).await);
    let query = issuer.approve(begun["authorization_url"].as_str().expect("an address"));
    let completed = json!({"query": query, "caller": caller});
    let status = parsed(&post(rig, "login/complete", &completed).await);
    assert_eq!(status["state"], "authorized", "{status}");
    assert_eq!(status["caller"], caller.as_str(), "{status}");
}

pub(super) async fn log_out(rig: &Rig, name: &str) {
    let path = format!("/api/v1/servers/crm/auth?caller=key%3A{name}");
    let answer = rig.admin(&path).send("DELETE", b"").await;
    assert_eq!(parsed(&answer.expect("an answer"))["removed"], true);
}

pub(super) fn client(rig: &Rig, name: &str) -> HttpClient {
    rig.stranger("/mcp/s/crm").with_header("X-API-Key", name)
}

fn arguments(name: &str) -> String {
    json!({ "who": name }).to_string()
}

pub(super) async fn call(client: &HttpClient, name: &str) -> Response {
    let answer = client.call("ok", &arguments(name)).await;
    answer.expect("an answer")
}

pub(super) fn is_ok(answer: &Response) {
    let ok = result(answer);
    assert!(ok.contains(r#""text":"ok""#), "{ok}");
}

/// How many calls have reached the server.
pub(super) fn calls(issuer: &Issuer) -> usize {
    let asked = issuer.questions();
    let calls = asked.iter().filter(|it| it.body.contains("tools/call"));
    calls.count()
}

fn token(number: u32) -> String {
    format!("Bearer {CANARY}-access-{number}")
}

/// A raw server records every `Authorization` header. The gateway logged in first, then ada, then bob.
#[tokio::test]
async fn the_token_of_a_caller_is_sent_with_its_own_calls_only() {
    for era in [ServerEra::Sessions, ServerEra::Plain, ServerEra::Modern] {
        let issuer = Issuer::start().await;
        issuer.change(|it| it.era = era);
        let rig = rig(&issuer).await;
        log_in_as(&rig, &issuer, "ada").await;
        log_in_as(&rig, &issuer, "bob").await;
        for _ in 0..3 {
            for name in ["ada", "bob"] {
                let client = client(&rig, name);
                is_ok(&call(&client, name).await);
                let modern = client
                    .modern("tools/call", &call_params("ok", &arguments(name)))
                    .await;
                is_ok(&modern.expect("an answer"));
                let session = client.handshake("2025-11-25").await.expect("a session");
                is_ok(&call(&session, name).await);
                is_ok(&call(&session, name).await);
                let (one, other) = (call(&session, name), call(&client, name));
                let (one, other) = tokio::join!(one, other);
                is_ok(&one);
                is_ok(&other);
            }
        }
        let mut of_session: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for asked in issuer.questions() {
            let expected = match asked.body.as_str() {
                body if body.contains(r#""who":"ada""#) => Some(token(2)),
                body if body.contains(r#""who":"bob""#) => Some(token(3)),
                body if body.contains("tools/list") => Some(token(1)),
                _ => None,
            };
            if let Some(expected) = expected {
                assert_eq!(asked.authorization, expected, "{era:?}: {}", asked.body);
            }
            if asked.line.ends_with(" /mcp") && !asked.session.is_empty() {
                let tokens = of_session.entry(asked.session).or_default();
                tokens.insert(asked.authorization);
            }
        }
        assert_eq!(calls(&issuer), 36, "{era:?}");
        let is_mixed = |tokens: &BTreeSet<String>| tokens.len() > 1;
        assert!(!of_session.values().any(is_mixed), "{of_session:?}");
        assert_eq!(of_session.is_empty(), era != ServerEra::Sessions);
    }
}

#[tokio::test]
async fn a_caller_without_a_token_is_told_and_nothing_is_sent() {
    for era in [ServerEra::Sessions, ServerEra::Modern] {
        let issuer = Issuer::start().await;
        issuer.change(|it| it.era = era);
        let rig = rig(&issuer).await;
        log_in_as(&rig, &issuer, "bob").await;
        let ada = client(&rig, "ada");
        let listed = result(&ada.request("tools/list", "{}").await.expect("an answer"));
        assert!(listed.contains(r#""name":"ok""#), "{listed}");
        let session = ada.handshake("2025-11-25").await.expect("a session");
        let modern = ada.modern("tools/call", &call_params("ok", "{}")).await;
        let answers = [
            call(&ada, "ada").await,
            call(&session, "ada").await,
            modern.expect("an answer"),
        ];
        for answer in answers {
            let told = result(&answer);
            assert!(told.contains(r#""isError":true"#), "{told}");
            let hint = "countersign auth login crm --caller key:ada";
            assert!(told.contains(hint), "{told}");
            assert!(!told.contains(CANARY), "{told}");
        }
        assert_eq!(calls(&issuer), 0, "{era:?}");
        let record = rig.activity("type=tool_call&limit=1").await;
        assert_eq!(record["status"], "rejected", "{record}");
        assert_eq!(record["caller"], "key:ada", "{record}");
        let status = rig.get("/api/v1/servers/crm/auth?caller=key%3Aada").await;
        assert_eq!(status["state"], "needs_login", "{status}");
        log_in_as(&rig, &issuer, "ada").await;
        is_ok(&call(&ada, "ada").await);
        is_ok(&call(&session, "ada").await);
    }
}

#[tokio::test]
async fn a_logout_of_a_caller_holds_at_once_and_for_no_other() {
    for era in [ServerEra::Sessions, ServerEra::Modern] {
        let issuer = Issuer::start().await;
        issuer.change(|it| it.era = era);
        let rig = rig(&issuer).await;
        log_in_as(&rig, &issuer, "ada").await;
        log_in_as(&rig, &issuer, "bob").await;
        let [ada, bob] = [client(&rig, "ada"), client(&rig, "bob")];
        let session = ada.handshake("2025-11-25").await.expect("a session");
        is_ok(&call(&session, "ada").await);
        log_out(&rig, "ada").await;
        let before = calls(&issuer);
        for client in [&ada, &session] {
            let told = result(&call(client, "ada").await);
            assert!(told.contains("--caller key:ada"), "{told}");
        }
        assert_eq!(calls(&issuer), before, "{era:?}");
        is_ok(&call(&bob, "bob").await);
        is_in_state(&rig, "up").await;
    }
}

#[tokio::test]
async fn a_call_that_runs_during_a_logout_ends_and_the_next_one_is_not_made() {
    for era in [ServerEra::Sessions, ServerEra::Modern] {
        let issuer = Issuer::start().await;
        let gate = Arc::new(Semaphore::new(0));
        issuer.change(|it| {
            it.era = era;
            it.gate = Some(Arc::clone(&gate));
        });
        let rig = rig(&issuer).await;
        log_in_as(&rig, &issuer, "ada").await;
        let ada = client(&rig, "ada");
        let running = {
            let ada = ada.clone();
            tokio::spawn(async move { call(&ada, "ada").await })
        };
        let reached = async {
            while calls(&issuer) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(WAIT, reached).await.expect("a call");
        log_out(&rig, "ada").await;
        gate.add_permits(100);
        let answer = running.await.expect("the call ends");
        assert_eq!(answer.status, 200, "{}", text(&answer.body));
        let told = result(&call(&ada, "ada").await);
        assert!(told.contains("--caller key:ada"), "{told}");
        assert_eq!(calls(&issuer), 1, "{era:?}");
    }
}

#[tokio::test]
async fn the_login_of_one_caller_is_not_completed_for_another() {
    let issuer = Issuer::start().await;
    let rig = rig(&issuer).await;
    let begun = json!({"redirect_uri": REDIRECT, "caller": "key:ada"});
    let begun = parsed(&post(&rig, "login", &begun).await);
    let query = issuer.approve(begun["authorization_url"].as_str().expect("an address"));
    for other in [json!("key:bob"), json!(null)] {
        let completed = json!({"query": query, "caller": other});
        let refused = post(&rig, "login/complete", &completed).await;
        assert_eq!(refused.status, 400, "{}", text(&refused.body));
    }
    for name in ["", "a\nb", "a\u{0}b"] {
        let begun = json!({"redirect_uri": REDIRECT, "caller": name});
        let refused = post(&rig, "login", &begun).await;
        assert_eq!(refused.status, 400, "{name:?}");
    }
}

#[tokio::test]
async fn the_tokens_of_callers_survive_a_restart_and_are_exchanged_each_for_itself() {
    let issuer = Issuer::start().await;
    let callers = |config: &mut countersign_config::Config| {
        config.callers = vec![caller("ada"), caller("bob")];
    };
    let rig = rig(&issuer).await;
    log_in_as(&rig, &issuer, "ada").await;
    let Rig { gateway, folder } = rig;
    gateway.stop(std::future::pending()).await;
    let rig = Rig::within_changed(folder, vec![server(&issuer)], callers).await;
    is_listed(&rig).await;
    is_ok(&call(&client(&rig, "ada"), "ada").await);
    let last = issuer
        .questions()
        .into_iter()
        .rfind(|it| it.body.contains("tools/call"));
    assert_eq!(last.expect("a call").authorization, token(2));
    // The test's authorization server knows the refresh token of the last login only: that of ada.
    issuer.revoke_access_tokens();
    is_ok(&call(&client(&rig, "ada"), "ada").await);
    assert_eq!(issuer.count("refresh_token"), 1);
    let last = issuer
        .questions()
        .into_iter()
        .rfind(|it| it.body.contains("tools/call"));
    assert_eq!(last.expect("a call").authorization, token(3));
    let url = begin(&rig).await;
    assert!(url.starts_with(&issuer.url));
}

/// A server misses a scope in some calls. The caller is told to log in again, with all scopes so far; what else it has open
/// goes on. A server that misses scopes which were asked for already refuses the call, and no login is asked for.
#[tokio::test]
async fn a_caller_is_told_once_to_log_in_for_scopes_that_the_server_misses() {
    for era in [ServerEra::Sessions, ServerEra::Plain, ServerEra::Modern] {
        let issuer = Issuer::start().await;
        issuer.change(|it| it.era = era);
        let rig = rig(&issuer).await;
        log_in_as(&rig, &issuer, "ada").await;
        let ada = client(&rig, "ada");
        let session = ada.handshake("2025-11-25").await.expect("a session");
        is_ok(&call(&session, "ada").await);
        let greetings = greetings(&issuer);
        for (scope, all) in [("write", "use write"), ("admin", "use admin write")] {
            issuer.change(|it| it.needs_scope = Some(scope));
            for client in [&session, &ada] {
                let told = result(&call(client, "ada").await);
                assert!(told.contains("--caller key:ada"), "{era:?} {scope}: {told}");
            }
            log_in_as(&rig, &issuer, "ada").await;
            is_ok(&call(&session, "ada").await);
            let status = rig.get("/api/v1/servers/crm/auth?caller=key%3Aada").await;
            assert_eq!(status["scope"], all, "{status}");
        }
        issuer.change(|it| it.misses_granted_scope = true);
        let before = calls(&issuer);
        for client in [&session, &ada] {
            let told = refusal(&call(client, "ada").await);
            assert!(!told.contains("log in"), "{era:?}: {told}");
        }
        assert_eq!(calls(&issuer), before + 2, "{era:?}");
        issuer.change(|it| it.needs_scope = None);
        is_ok(&call(&session, "ada").await);
        if era != ServerEra::Sessions {
            continue;
        }
        // One for each call outside of the session: the session of the server was not lost.
        assert_eq!(self::greetings(&issuer), greetings + 3);
    }
}

/// How often the server was greeted with the token of a caller.
fn greetings(issuer: &Issuer) -> usize {
    let asked = issuer.questions();
    let greetings = asked.iter().filter(|it| it.body.contains("\"initialize\""));
    greetings.filter(|it| it.authorization != token(1)).count()
}
