//! Tool lists: every tool is there, as it was listed, whatever its neighbours are like.

use countersign_fixture::script::Cursor;
use countersign_fixture::{Script, Tool, preset as presets, span};
use serde_json::Value;

use crate::support::{Rig, error_code, preset, scripted};

async fn names(rig: &Rig, path: &str) -> Vec<String> {
    let answer = rig
        .client(path)
        .request("tools/list", "{}")
        .await
        .expect("an answer");
    let value: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let tools = value["result"]["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{value}"))
        .clone();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[tokio::test]
async fn odd_schemas_hide_no_tool() {
    let rig = Rig::over(vec![preset("x", "fidelity")]).await;
    let script = presets::fidelity();
    let expected: Vec<_> = script.tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names(&rig, "/mcp/s/x").await, expected);
    let legacy = rig
        .client("/mcp/s/x")
        .handshake("2025-11-25")
        .await
        .expect("a session");
    let answer = legacy.request("tools/list", "{}").await.expect("an answer");
    let value: Value = serde_json::from_slice(&answer.body).expect("JSON");
    for tool in value["result"]["tools"].as_array().expect("a list") {
        let schema = tool.get("outputSchema");
        assert!(
            schema.is_none_or(|schema| schema["type"] == "object"),
            "{tool}"
        );
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
}

#[tokio::test]
async fn ordinary_tools_are_listed_byte_for_byte() {
    let rig = Rig::over(vec![preset("x", "fidelity")]).await;
    let answer = rig
        .client("/mcp/s/x")
        .request("tools/list", "{}")
        .await
        .expect("an answer");
    for name in [
        "unknown_members",
        "odd_tool_bytes",
        "array_root",
        "true_property",
        "draft_07_tuple",
    ] {
        let script = presets::fidelity();
        let tool = script.find(name).expect("a tool").json.to_vec();
        let found = answer.body.windows(tool.len()).any(|window| window == tool);
        assert!(found, "{name} is not listed as it is");
    }
}

#[tokio::test]
async fn what_is_not_a_tool_hides_no_tool() {
    let rig = Rig::over(vec![preset("x", "odd-list")]).await;
    let names = names(&rig, "/mcp/s/x").await;
    for name in [
        "first_good",
        "no_input_schema",
        "array_input_schema",
        "output_schema_string",
        "annotations_array",
        "twice",
        "last_good",
    ] {
        assert_eq!(
            names.iter().filter(|known| *known == name).count(),
            1,
            "{name}"
        );
    }
    assert!(
        !names
            .iter()
            .any(|name| name.is_empty() || name == "hidden_name")
    );
    // Seven entries without a usable name, one name twice, one tool with two names.
    rig.counted("tools_skipped", 9).await;
    let answer = rig
        .client("/mcp/s/x")
        .call("last_good", "{}")
        .await
        .expect("an answer");
    assert!(span::path(&answer.body, &["result", "content"]).is_some());
}

#[tokio::test]
async fn names_fit_every_model_where_servers_meet() {
    let rig = Rig::over(vec![preset("one", "fidelity"), preset("two", "odd-list")]).await;
    let names = names(&rig, "/mcp/all").await;
    assert!(names.contains(&"one__big_integers".to_owned()));
    assert!(names.contains(&"two__last_good".to_owned()));
    for name in &names {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(name.len() <= 64 && name.chars().all(fits), "{name}");
    }
    let odd = names
        .iter()
        .find(|name| name.starts_with("one__dotted_name"))
        .expect("listed");
    let answer = rig
        .client("/mcp/all")
        .call(odd, "{}")
        .await
        .expect("an answer");
    assert_eq!(
        crate::support::result(&answer),
        r#"{"resultType":"complete","content":[{"type":"text","text":"odd name"}]}"#
    );
}

#[tokio::test]
async fn the_default_endpoint_offers_router_tools() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let expected = [
        "retrieve_tools",
        "describe_tool",
        "call_tool_read",
        "call_tool_write",
        "call_tool_destructive",
    ];
    assert_eq!(names(&rig, "/mcp").await, expected);
    let direct = Rig::with(vec![preset("x", "demo")], |config| {
        config.routing_mode = countersign_config::RoutingMode::Direct;
    });
    assert!(
        names(&direct.await, "/mcp")
            .await
            .contains(&"x__conforming".to_owned())
    );
}

fn numbered(count: usize) -> Script {
    let tools = (0..count).map(|number| Tool::named(&format!("tool_{number}")));
    tools.fold(Script::new("pages"), Script::tool)
}

#[tokio::test]
async fn every_page_is_fetched_and_a_list_without_end_ends() {
    for (cursor, expected) in [(Cursor::Offset, 7), (Cursor::Empty, 7), (Cursor::Repeat, 3)] {
        let mut script = numbered(7);
        script.list.page_size = Some(3);
        script.list.cursor = cursor;
        let (server, _folder) = scripted("x", &script);
        let rig = Rig::over(vec![server]).await;
        assert_eq!(names(&rig, "/mcp/s/x").await.len(), expected, "{cursor:?}");
    }
}

#[tokio::test]
async fn a_cursor_that_is_not_ours_is_refused() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let answer = rig
        .client("/mcp/s/x")
        .request("tools/list", r#"{"cursor":"x"}"#)
        .await;
    assert_eq!(error_code(&answer.expect("an answer")), -32602);
}

#[tokio::test]
async fn a_changed_list_is_fetched_again() {
    for eras in [
        countersign_fixture::Eras::Legacy,
        countersign_fixture::Eras::Modern,
    ] {
        let (server, _folder) = scripted("x", &presets::faults().eras(eras));
        let rig = Rig::over(vec![server]).await;
        let before = names(&rig, "/mcp/s/x").await;
        assert!(before.contains(&"soon_gone".to_owned()) && !before.contains(&"later".to_owned()));
        rig.client("/mcp/s/x")
            .call("change_list", "{}")
            .await
            .expect("an answer");
        rig.counted("lists_captured", 2).await;
        let after = names(&rig, "/mcp/s/x").await;
        assert!(!after.contains(&"soon_gone".to_owned()) && after.contains(&"later".to_owned()));
    }
}

#[tokio::test]
async fn a_schema_that_cannot_be_enforced_is_recorded_once() {
    let rig = Rig::over(vec![preset("x", "fidelity")]).await;
    let found = rig
        .activity("type=schema_diagnostic&tool=uncompilable")
        .await;
    assert_eq!(found["findings"][0]["rule"], "contract.uncompilable");
    assert_eq!(
        rig.activities("type=schema_diagnostic&tool=uncompilable")
            .await
            .len(),
        1
    );
    let servers = rig.get("/api/v1/servers").await;
    assert_eq!(servers["servers"][0]["health"], "up");
    let reasons = servers["servers"][0]["unenforceable"]
        .as_array()
        .expect("a list")
        .len();
    assert_eq!(reasons, 5);
}
