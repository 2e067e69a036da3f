//! Logins to servers in the activity log: who, which server, which issuer, and no secret.

use serde_json::json;

use super::issuer::{CANARY, Issuer};
use super::{REDIRECT, begin, complete, log_in, post, server};
use crate::support::{Rig, text};

#[tokio::test]
async fn logins_and_logouts_are_recorded_with_caller_and_issuer() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    log_in(&rig, &issuer).await;
    let client = rig.admin("/api/v1/servers/crm/auth");
    for _ in 0..2 {
        client.send("DELETE", b"").await.expect("an answer");
    }
    let records = rig.activities("type=login").await;
    // The second logout found nothing to remove.
    assert_eq!(records.len(), 2, "{records:?}");
    for record in &records {
        assert_eq!(record["caller"], "key:operator", "{record}");
        assert_eq!(record["server"], "crm", "{record}");
        assert_eq!(record["status"], "success", "{record}");
        assert!(!record.to_string().contains(CANARY), "{record}");
    }
    assert_eq!(records[0]["reason"], "logged out");
    let expected = format!("logged in at {}", issuer.url);
    assert_eq!(records[1]["reason"], expected.as_str());
}

#[tokio::test]
async fn refused_logins_are_recorded_once_a_minute() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    let query = issuer.approve(&begin(&rig).await);
    for _ in 0..20 {
        let wrong = query.replace("state=", "state=x");
        assert_eq!(complete(&rig, &wrong).await.status, 400);
        let foreign = json!({"redirect_uri": "https://evil.example/callback"});
        assert_eq!(post(&rig, "login", &foreign).await.status, 400);
    }
    // One, or two if a minute began in between.
    let records = rig.activities("type=login&status=rejected").await;
    assert!((1..=2).contains(&records.len()), "{records:?}");
    let shown = records[0].to_string();
    assert!(
        !shown.contains("code-1") && !shown.contains("evil"),
        "{shown}"
    );
    assert_eq!(records[0]["caller"], "key:operator");
    // What an authorization server says is not repeated in a record.
    issuer.change(|it| it.metadata = json!({"authorization_endpoint": "javascript:alert(1)"}));
    let refused = post(&rig, "login", &json!({"redirect_uri": REDIRECT})).await;
    assert_eq!(refused.status, 502, "{}", text(&refused.body));
    for record in rig.activities("type=login").await {
        assert!(!record.to_string().contains("alert"), "{record}");
    }
}
