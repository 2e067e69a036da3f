//! Gateways that share a store exchange a token once.

use countersign_audit::{GrantOwner, Options, Reader};
use countersign_config::{OAuth, Server};
use tempfile::TempDir;

use super::issuer::Issuer;
use super::{is_in_state, join_all, log_in, server, works};
use crate::support::{Rig, config, text};
use countersign_gateway::Gateway;

/// A second gateway on the store of the first.
async fn beside(rig: &Rig, issuer: &Issuer) -> Rig {
    let folder: TempDir = tempfile::tempdir().expect("a folder");
    let config = config(rig.folder.path(), vec![server(issuer)]);
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
