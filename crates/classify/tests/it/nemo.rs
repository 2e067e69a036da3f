//! NeMo Guardrails: the request, and what the statuses mean. The real server is in `interop/nemo`.

use std::collections::BTreeMap;

use countersign_classify::{Kind, Nemo, NemoRail, OnInjection, Options, Secret};
use countersign_inspect::Decision;
use serde_json::json;

use crate::provider::{Provider, Reply};
use crate::support::{answered, concluded, options, panel};

fn nemo(url: &str, rail: NemoRail) -> Kind {
    Kind::Nemo(Nemo {
        endpoint: url.to_owned(),
        config_id: Some("tools".into()),
        model: "none".into(),
        rail,
        headers: BTreeMap::from([("x-key".to_owned(), Secret::new("k3y"))]),
    })
}

#[tokio::test]
async fn text_is_presented_as_a_users_message() {
    let provider =
        Provider::start(|_| Reply::Json(json!({ "status": "passed", "content": "Hello." }))).await;
    let panel = panel(nemo(&provider.url, NemoRail::Input), options());
    assert_eq!(
        concluded(&panel, &["Hello."]).await,
        (Decision::Allowed, vec![])
    );
    let request = &provider.seen()[0];
    assert_eq!(request.line, "POST /v1/checks HTTP/1.1");
    assert_eq!(request.header("x-key"), Some("k3y"));
    // Never the role of a tool: such a message passes unscreened.
    assert_eq!(
        request.json(),
        json!({
            "model": "none",
            "messages": [{ "role": "user", "content": "Hello." }],
            "guardrails": { "config_id": "tools", "rail_types": ["input"] },
        })
    );
}

#[tokio::test]
async fn output_rails_see_a_models_message() {
    let provider =
        Provider::start(|_| Reply::Json(json!({ "status": "passed", "content": "" }))).await;
    concluded(
        &panel(nemo(&provider.url, NemoRail::Output), options()),
        &["Hello."],
    )
    .await;
    let body = provider.seen()[0].json();
    assert_eq!(body["messages"][0]["role"], "assistant");
    assert_eq!(body["guardrails"]["rail_types"], json!(["output"]));
}

#[tokio::test]
async fn what_a_rail_changed_is_a_flag_and_its_text_goes_nowhere() {
    let provider = Provider::start(|request| {
        let text = request.json()["messages"][0]["content"].clone();
        let status = if text == "block" {
            "blocked"
        } else {
            "modified"
        };
        Reply::Json(
            json!({ "status": status, "content": "Replaced!", "rail": "regex check input" }),
        )
    })
    .await;
    let blocking = Options {
        action: OnInjection::Block,
        ..options()
    };
    let panel = panel(nemo(&provider.url, NemoRail::Input), blocking);
    let (_, modified) = answered(&panel, &["change"]).await;
    assert_eq!(modified.decision(), Decision::Flagged);
    assert!(!String::from_utf8_lossy(&modified.emitted().into_bytes()).contains("Replaced"));
    let (_, blocked) = answered(&panel, &["block"]).await;
    assert_eq!(blocked.decision(), Decision::Blocked);
    let detail = blocked.findings()[0].detail.clone().unwrap_or_default();
    assert!(
        detail.starts_with("verdict block, label regex_check_input;"),
        "{detail}"
    );
}

#[tokio::test]
async fn a_configuration_that_cannot_check_is_an_error() {
    let provider = Provider::start(|_| Reply::Failure(422, &[])).await;
    let panel = panel(nemo(&provider.url, NemoRail::Input), options());
    let (_, findings) = concluded(&panel, &["Hello."]).await;
    assert_eq!(
        findings,
        ["classifier.guard.error: answered with status 422; screened 0 of 6 characters"]
    );
}
