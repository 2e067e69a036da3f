//! Gateways that share a store exchange a token once.

use countersign_audit::{GrantOwner, Options, Reader};
use countersign_config::{OAuth, Server};
use tempfile::TempDir;

use super::callers::{self, call, caller, calls, client, is_ok, log_in_as, log_out};
use super::issuer::{CANARY, Issuer, ServerEra};
use super::{is_in_state, is_listed, join_all, log_in, parsed, server, works};
use crate::support::{Rig, WAIT, config, result, text};
use countersign_gateway::Gateway;

/// A second gateway on the store of the first.
async fn beside(rig: &Rig, issuer: &Issuer) -> Rig {
    start_beside(rig, server(issuer)).await
}

async fn start_beside(rig: &Rig, server: Server) -> Rig {
    let folder: TempDir = tempfile::tempdir().expect("a folder");
    let mut config = config(rig.folder.path(), vec![server]);
    config.callers = vec![caller("ada"), caller("bob")];
    let gateway = Gateway::start(config).await.expect("the gateway starts");
    gateway.settled().await;
    Rig { gateway, folder }
}

#[tokio::test]
async fn gateways_on_one_store_exchange_a_token_once() {
    let issuer = Issuer::start().await;
    let one = Rig::over(vec![server(&issuer)]).await;
    log_in(&one, &issuer).await;
    let other = beside(&one, &issuer).await;
    is_in_state(&other, "up").await;
    works(&other).await;
    assert_eq!(issuer.count("authorization_code"), 1);
    for round in 1..=3 {
        issuer.revoke_access_tokens();
        let calls = (0..16).map(|number| works(if number % 2 == 0 { &one } else { &other }));
        join_all(calls.collect()).await;
        assert_eq!(issuer.count("refresh_token"), round, "round {round}");
    }
}

/// An attacker who can write the database can put a sealed token into another row, and gains nothing.
#[tokio::test]
async fn a_sealed_token_in_the_row_of_another_server_does_not_open() {
    let (issuer, other) = (Issuer::start().await, Issuer::start().await);
    let mut erp = Server::http("erp", other.mcp_url());
    erp.oauth = Some(OAuth::default());
    let rig = Rig::over(vec![server(&issuer), erp]).await;
    log_in(&rig, &issuer).await;
    let store = Reader::open(&Options::new(rig.folder.path())).expect("the store");
    let owner = |server| GrantOwner { server, caller: "" };
    let sealed = store.grant(owner("crm")).expect("read").expect("a token");
    for issuer in [&sealed.issuer, &other.url] {
        let put = store.put_grant(owner("erp"), issuer, &sealed.sealed);
        put.expect("written");
        let status = rig.get("/api/v1/servers/erp/auth").await;
        assert_eq!(status["state"], "needs_login", "{status}");
    }
    let refused = rig.client("/mcp/s/erp").call("ok", "{}").await;
    assert!(!text(&refused.expect("an answer").body).contains(r#""text":"ok""#));
    assert!(other.questions().is_empty(), "{:?}", other.questions());
    works(&rig).await;
}

/// Each gateway asks the store twice a second; the token that it holds would be valid for an hour.
#[tokio::test]
async fn a_logout_holds_on_every_gateway_that_shares_the_store() {
    for era in [ServerEra::Sessions, ServerEra::Modern] {
        let issuer = Issuer::start().await;
        issuer.change(|it| it.era = era);
        let one = callers::rig(&issuer).await;
        log_in_as(&one, &issuer, "ada").await;
        log_in_as(&one, &issuer, "bob").await;
        let other = start_beside(&one, callers::server(&issuer)).await;
        is_listed(&other).await;
        let [ada, bob] = ["ada", "bob"].map(|name| client(&other, name));
        let session = ada.handshake("2025-11-25").await.expect("a session");
        is_ok(&call(&session, "ada").await);
        is_ok(&call(&bob, "bob").await);
        log_out(&one, "ada").await;
        let is_told = async |client| {
            let told = result(&call(client, "ada").await);
            told.contains("--caller key:ada")
        };
        let logged_out = async { while !is_told(&ada).await {} };
        tokio::time::timeout(WAIT, logged_out)
            .await
            .expect("a logout");
        let before = calls(&issuer);
        assert!(is_told(&session).await && is_told(&ada).await, "{era:?}");
        assert_eq!(calls(&issuer), before, "{era:?}");
        is_ok(&call(&bob, "bob").await);
        is_in_state(&other, "up").await;
        // A new login at one gateway holds at the other.
        log_in_as(&one, &issuer, "ada").await;
        is_ok(&call(&ada, "ada").await);
        // The gateway's own login ends everywhere, too.
        let own = one
            .admin("/api/v1/servers/crm/auth")
            .send("DELETE", b"")
            .await;
        assert_eq!(parsed(&own.expect("an answer"))["removed"], true);
        is_in_state(&other, "failing").await;
    }
}

/// The gateway that did not exchange the token reads the new one, and no login is lost.
#[tokio::test]
async fn a_login_elsewhere_replaces_the_token_in_memory() {
    let issuer = Issuer::start().await;
    let one = callers::rig(&issuer).await;
    log_in_as(&one, &issuer, "ada").await;
    let other = start_beside(&one, callers::server(&issuer)).await;
    is_listed(&other).await;
    let ada = client(&other, "ada");
    is_ok(&call(&ada, "ada").await);
    log_in_as(&one, &issuer, "ada").await;
    let newest = format!("Bearer {CANARY}-access-3");
    let uses_newest = async || {
        is_ok(&call(&ada, "ada").await);
        let last = issuer.questions().into_iter().next_back();
        last.is_some_and(|last| last.authorization == newest)
    };
    let replaced = async { while !uses_newest().await {} };
    tokio::time::timeout(WAIT, replaced)
        .await
        .expect("the new token");
    assert_eq!(issuer.count("refresh_token"), 0);
}
