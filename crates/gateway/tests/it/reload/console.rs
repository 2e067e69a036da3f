//! Changes that an operator makes in the console: written to the file, applied, recorded with their caller, and undone.

use serde_json::{Value, json};

use super::{FileGateway, child};
use crate::console::{Browser, between};
use crate::support::{ADMIN_KEY, KEY, text};

async fn gateway() -> FileGateway {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    FileGateway::over(folder, &servers, &json!({})).await
}

async fn mode(gateway: &FileGateway) -> Value {
    let tool = gateway.rig.get("/api/v1/tools/x%3Abad_output").await;
    tool["output_validation"]["mode"].clone()
}

#[tokio::test]
async fn a_mode_is_looked_at_applied_recorded_and_undone() {
    let gateway = gateway().await;
    let rig = &gateway.rig;
    for _ in 0..3 {
        let client = rig.client("/mcp/s/x");
        client.call("bad_output", "{}").await.expect("an answer");
        client.call("conforming", "{}").await.expect("an answer");
    }
    let operator = Browser::signed_in(rig, ADMIN_KEY).await;
    let asked = "server=x&tool=bad_output&mode=strict";
    let counted = rig.get(&format!("/api/v1/policy/preview?{asked}")).await;
    assert_eq!(counted["would_be_blocked"], 3);
    let bounded = format!("/api/v1/policy/preview?{asked}&last=2");
    let bounded = rig.get(&bounded).await;
    assert_eq!(
        (&bounded["would_be_blocked"], &bounded["calls"]),
        (&json!(2), &json!(2))
    );
    let page = operator.page(&format!("/console/policy?{asked}")).await;
    assert!(
        page.contains("Under strict, 3 of 3 calls of the last 7d"),
        "{page}"
    );
    let all = operator.page("/console/policy?mode=strict").await;
    assert!(all.contains("Under strict, 3 of 6 calls"), "{all}");

    let before = mode(&gateway).await;
    let answer = operator.submit("/console/policy/mode", asked).await;
    assert_eq!(answer.status, 303, "{}", text(&answer.body));
    assert_eq!(mode(&gateway).await, "strict");
    let file = gateway.read();
    let tool = &file["mcpServers"]["x"]["tools"]["bad_output"];
    assert_eq!(tool["output_validation"]["mode"], "strict");
    let record = rig.activity("type=config_change&status=success").await;
    assert_eq!(record["caller"], "key:operator");
    let page = operator.page("/console/policy").await;
    assert!(page.contains("strict for x:bad_output"), "{page}");

    let answer = operator.submit("/console/policy/undo", "").await;
    assert_eq!(answer.status, 303);
    assert_eq!(mode(&gateway).await, before);
    let page = operator.page("/console/policy").await;
    assert!(!page.contains("/console/policy/undo"), "{page}");
}

#[tokio::test]
async fn a_server_is_restarted_disabled_and_enabled() {
    let gateway = gateway().await;
    let rig = &gateway.rig;
    let operator = Browser::signed_in(rig, ADMIN_KEY).await;
    for (change, told, state) in [
        ("restart", "was restarted", "up"),
        ("disable", "not used any more", "disabled"),
        ("enable", "used from now on", "up"),
    ] {
        let path = format!("/console/servers/x/{change}");
        let answer = operator.submit(&path, "").await;
        assert_eq!(answer.header("location"), Some("/console/servers/x"));
        rig.gateway.settled().await;
        let page = operator.page("/console/servers/x").await;
        assert!(page.contains(told), "{page}");
        assert_eq!(rig.get("/api/v1/servers/x").await["state"], state);
    }
    let record = rig.activity("type=server_change").await;
    assert_eq!(record["caller"], "key:operator");
    let unknown = operator
        .submit("/console/servers/nothing/restart", "")
        .await;
    assert_eq!(unknown.status, 303);
    let page = operator.page("/console").await;
    assert!(page.contains("Not changed"), "{page}");
}

#[tokio::test]
async fn a_server_is_added_and_a_program_only_where_the_file_allows_it() {
    let gateway = gateway().await;
    let rig = &gateway.rig;
    let operator = Browser::signed_in(rig, ADMIN_KEY).await;
    let page = operator.page("/console/servers").await;
    assert!(page.contains("name=\"command\""), "{page}");
    let program = countersign_fixture::executable().expect("the fixture is built");
    let command = program.to_str().expect("UTF-8").replace('/', "%2F");
    let form = format!("name=y&command={command}&args=stdio%0A--preset%0Ademo");
    let answer = operator.submit("/console/servers", &form).await;
    assert_eq!(answer.header("location"), Some("/console/servers/y"));
    rig.gateway.settled().await;
    assert_eq!(rig.get("/api/v1/servers/y").await["state"], "up");
    assert_eq!(gateway.read()["mcpServers"]["y"]["args"][1], "--preset");
    for (form, why) in [
        ("name=y&url=http%3A%2F%2F127.0.0.1%3A9", "already"),
        ("name=z", "Not changed"),
        ("name=z&more=%5B%5D", "not a JSON object"),
        ("name=%3Cb%3E&url=http%3A%2F%2F127.0.0.1%3A9", "Not changed"),
    ] {
        let before = gateway.read();
        let answer = operator.submit("/console/servers", form).await;
        let page = text(&answer.body);
        assert_eq!(answer.status, 400, "{form}: {page}");
        assert!(
            page.contains(why) && !page.contains("<b>"),
            "{form}: {page}"
        );
        assert_eq!(gateway.read(), before);
    }

    let folder = tempfile::tempdir().expect("a folder");
    let closed = json!({"allow_api_commands": false});
    let closed = FileGateway::over(folder, &json!({}), &closed).await;
    let operator = Browser::signed_in(&closed.rig, ADMIN_KEY).await;
    let page = operator.page("/console/servers").await;
    assert!(!page.contains("name=\"command\""), "{page}");
    let answer = operator.submit("/console/servers", &form).await;
    assert_eq!(answer.status, 400);
    assert!(text(&answer.body).contains("allow_api_commands"));
    let form = "name=far&url=http%3A%2F%2F127.0.0.1%3A9%2Fmcp";
    let answer = operator.submit("/console/servers", form).await;
    assert_eq!(answer.status, 303, "{}", text(&answer.body));
    assert_eq!(
        closed.read()["mcpServers"]["far"]["url"],
        "http://127.0.0.1:9/mcp"
    );
}

#[tokio::test]
async fn nothing_is_changed_without_the_right_or_the_token() {
    let gateway = gateway().await;
    let rig = &gateway.rig;
    let viewer = Browser::signed_in(rig, KEY).await;
    let before = gateway.read();
    let asked = "server=x&tool=bad_output&mode=strict";
    for path in [
        "/console/policy/mode",
        "/console/policy/undo",
        "/console/servers/x/disable",
        "/console/servers/x/restart",
        "/console/servers",
    ] {
        assert_eq!(viewer.submit(path, asked).await.status, 403, "{path}");
    }
    rig.counted("not_admin", 5).await;
    let page = viewer.page(&format!("/console/policy?{asked}")).await;
    assert!(!page.contains("action=\"/console/policy/mode\""));
    let page = viewer.page("/console/servers/x").await;
    assert!(!page.contains("/console/servers/x/disable"));

    let operator = Browser::signed_in(rig, ADMIN_KEY).await;
    let other = viewer.page("/console").await;
    let foreign = between(&other, "name=\"csrf\" value=\"", "\"");
    for token in ["", foreign] {
        let form = format!("csrf={token}&{asked}");
        let answer = operator.send("/console/policy/mode", &form).await;
        assert_eq!(answer.status, 403);
    }
    let wrong = operator.submit("/console/policy/mode", "mode=never").await;
    assert_eq!(wrong.status, 303);
    assert_eq!(gateway.read(), before);
}

/// A session does not outlive the key that opened it.
#[tokio::test]
async fn a_new_key_ends_the_sessions_of_the_old_one() {
    let gateway = gateway().await;
    let viewer = Browser::signed_in(&gateway.rig, KEY).await;
    let operator = Browser::signed_in(&gateway.rig, ADMIN_KEY).await;
    gateway
        .edit(&json!({"admin_key": "another-admin-key"}))
        .await;
    assert_eq!(operator.get("/console").await.status, 303);
    assert_eq!(viewer.get("/console").await.status, 200);
}
