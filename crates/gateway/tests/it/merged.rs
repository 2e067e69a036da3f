//! Prompts, resources and completions of several servers on the endpoints that show them as one.

use countersign_fixture::client::{HttpClient, modern_params, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Body, Entry, Eras, Script, Step, Tool};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Rig, error_code, logged_http, next_message as next, over_http, received, result, scripted, text,
};

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("JSON")
}

fn answers(script: &mut Script, key: &str, result: &Value) {
    let answer = Answer::result(Body::new(result.to_string()));
    let steps = vec![vec![Step::Answer(answer)]];
    script.methods.insert(key.to_owned(), steps);
}

/// A server whose answers say its name, and which has one resource in common with the others.
fn server(name: &str, eras: Eras) -> Script {
    let mut touch = Tool::named("touch");
    let updated = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "x:both"}});
    let prompts = json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"});
    touch.replies = vec![vec![
        Step::Message(raw(&updated)),
        Step::Message(raw(&prompts)),
        Step::Answer(Answer::default()),
    ]];
    let mut link = Tool::named("link");
    let links = json!({"content": [
        {"type": "resource_link", "uri": format!("{name}:listed"), "name": "l"},
        {"type": "resource_link", "uri": "x:both", "name": "b"},
        {"type": "resource", "resource": {"uri": "hidden:1", "text": "t"}},
    ]});
    link.replies = vec![vec![Step::Answer(Answer::result(Body::new(
        links.to_string(),
    )))]];
    let mut script = Script::new(name).eras(eras).tool(touch).tool(link);
    script.capabilities = Some(raw(&json!({
        "tools": {}, "prompts": {"listChanged": true}, "completions": {},
        "resources": {"subscribe": true, "listChanged": true},
    })));
    answers(
        &mut script,
        "prompts/list",
        &json!({"prompts": [{"name": "greet"}, {"name": "dotted.name"}, 5]}),
    );
    for prompt in ["greet", "dotted.name"] {
        let said = json!({"type": "text", "text": format!("{prompt} of {name}")});
        let messages = json!({"messages": [{"role": "user", "content": said}]});
        answers(&mut script, &format!("prompts/get {prompt}"), &messages);
    }
    let own = format!("{name}:listed");
    answers(
        &mut script,
        "resources/list",
        &json!({"resources": [{"uri": own, "name": "l"}, {"uri": "x:both", "name": "b"}]}),
    );
    let template = format!("{name}-log:{{day}}");
    answers(
        &mut script,
        "resources/templates/list",
        &json!({"resourceTemplates": [{"uriTemplate": template, "name": "t"}, {"uriTemplate": "file:///{p}", "name": "f"}]}),
    );
    for uri in [
        own,
        "x:both".to_owned(),
        "hidden:1".to_owned(),
        format!("{name}-log:monday"),
    ] {
        let contents = json!({"contents": [{"uri": uri, "text": format!("{uri} of {name}")}]});
        answers(&mut script, &format!("resources/read {uri}"), &contents);
    }
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        answers(&mut script, method, &json!({}));
    }
    let values = json!({"completion": {"values": [format!("value of {name}")]}});
    answers(&mut script, "completion/complete", &values);
    script
}

async fn two() -> (Rig, [TempDir; 2]) {
    let (one, first) = scripted("one", &server("one", Eras::Legacy));
    let (two, second) = scripted("two", &server("two", Eras::Legacy));
    (Rig::over(vec![one, two]).await, [first, second])
}

async fn ask(client: &HttpClient, method: &str, params: &Value) -> Value {
    let answer = client.request(method, &params.to_string()).await;
    serde_json::from_str(&result(&answer.expect("an answer"))).expect("JSON")
}

fn listed<'a>(result: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    let items = result[list].as_array().expect("a list").iter();
    items
        .map(|item| item[key].as_str().expect("a text"))
        .collect()
}

#[tokio::test]
async fn lists_of_all_servers_lead_back() {
    let (rig, _folders) = two().await;
    for path in ["/mcp", "/mcp/all", "/mcp/call"] {
        let client = rig.client(path).handshake("2025-11-25").await;
        let client = client.expect("a session");
        let prompts = ask(&client, "prompts/list", &json!({})).await;
        let prompts = listed(&prompts, "prompts", "name");
        assert_eq!(
            (prompts.len(), prompts[0], prompts[2]),
            (4, "one__greet", "two__greet")
        );
        assert!(prompts[1].starts_with("one__dotted_name_"), "{prompts:?}");
        for (shown, said) in [
            (prompts[0], "greet of one"),
            (prompts[3], "dotted.name of two"),
        ] {
            let prompt = ask(&client, "prompts/get", &json!({"name": shown})).await;
            assert_eq!(prompt["messages"][0]["content"]["text"], said);
        }
        let resources = ask(&client, "resources/list", &json!({})).await;
        let resources = listed(&resources, "resources", "uri");
        let expected = [
            "one:listed",
            "countersign:one/x:both",
            "two:listed",
            "countersign:two/x:both",
        ];
        assert_eq!(resources, expected, "{path}");
        let templates = ask(&client, "resources/templates/list", &json!({})).await;
        let templates = listed(&templates, "resourceTemplates", "uriTemplate");
        let expected = [
            "one-log:{day}",
            "countersign:one/file:///{p}",
            "two-log:{day}",
            "countersign:two/file:///{p}",
        ];
        assert_eq!(templates, expected);
        for (shown, said) in [
            ("two:listed", "two:listed of two"),
            ("countersign:two/x:both", "x:both of two"),
            ("one-log:monday", "one-log:monday of one"),
        ] {
            let read = ask(&client, "resources/read", &json!({"uri": shown})).await;
            // The contents have the address that the client asked for.
            assert_eq!(read["contents"][0], json!({"uri": shown, "text": said}));
        }
        for reference in [
            json!({"type": "ref/prompt", "name": "two__greet"}),
            json!({"type": "ref/resource", "uri": "countersign:two/file:///{p}"}),
            json!({"type": "ref/resource", "uri": "two-log:{day}"}),
        ] {
            let params = json!({"ref": reference, "argument": {"name": "a", "value": "v"}});
            let done = ask(&client, "completion/complete", &params).await;
            assert_eq!(done["completion"]["values"], json!(["value of two"]));
        }
    }
}

#[tokio::test]
async fn a_name_leads_back_without_a_list() {
    let (rig, _folders) = two().await;
    let client = rig.client("/mcp/all");
    let read = ask(&client, "resources/read", &json!({"uri": "one:listed"})).await;
    assert_eq!(read["contents"][0]["text"], "one:listed of one");
    let (other, _more) = two().await;
    let client = other.client("/mcp/all");
    let list = ask(&rig.client("/mcp/all"), "prompts/list", &json!({})).await;
    let marked = listed(&list, "prompts", "name")[1];
    assert!(marked.starts_with("one__dotted_name_"), "{marked}");
    let prompt = ask(&client, "prompts/get", &json!({"name": marked})).await;
    assert_eq!(
        prompt["messages"][0]["content"]["text"],
        "dotted.name of one"
    );
    // Two servers have it, or none does, or the server is not there.
    for uri in [
        "x:both",
        "no:such",
        "countersign:three/x:both",
        "countersign:",
    ] {
        let params = json!({ "uri": uri }).to_string();
        let legacy = client.request("resources/read", &params).await;
        assert_eq!(error_code(&legacy.expect("an answer")), -32002, "{uri}");
        let headers = client
            .modern_headers("resources/read", &params)
            .with_header("Mcp-Name", uri);
        let modern = headers
            .request("resources/read", &modern_params(&params))
            .await;
        assert_eq!(error_code(&modern.expect("an answer")), -32602, "{uri}");
    }
    for (method, params) in [
        ("prompts/get", r#"{"name":"three__greet"}"#),
        ("prompts/get", r#"{"name":"greet"}"#),
        ("prompts/list", r#"{"cursor":"x"}"#),
        ("completion/complete", "{}"),
    ] {
        let answer = client.request(method, params).await.expect("an answer");
        assert_eq!(error_code(&answer), -32602, "{method} {params}");
    }
}

#[tokio::test]
async fn a_link_of_a_tool_can_be_read() {
    let (rig, _folders) = two().await;
    for (path, name, arguments) in [
        ("/mcp/all", "two__link", json!({})),
        (
            "/mcp/call",
            "call_tool_destructive",
            json!({"name": "two:link", "args": {}}),
        ),
    ] {
        let client = rig.client(path);
        ask(&client, "resources/list", &json!({})).await;
        let params = json!({"name": name, "arguments": arguments});
        let called = ask(&client, "tools/call", &params).await;
        let shown = [
            &called["content"][0]["uri"],
            &called["content"][1]["uri"],
            &called["content"][2]["resource"]["uri"],
        ];
        // What the server alone lists stays, byte for byte; the rest names its server.
        assert_eq!(
            shown,
            [
                "two:listed",
                "countersign:two/x:both",
                "countersign:two/hidden:1"
            ]
        );
        for uri in shown {
            let read = ask(&client, "resources/read", &json!({ "uri": uri })).await;
            assert_eq!(read["contents"][0]["uri"], *uri);
            assert!(
                read["contents"][0]["text"]
                    .as_str()
                    .expect("a text")
                    .ends_with("of two")
            );
        }
    }
    // On the server's own endpoint nothing is rewritten.
    let own = ask(
        &rig.client("/mcp/s/two"),
        "tools/call",
        &json!({"name": "link"}),
    )
    .await;
    assert_eq!(own["content"][1]["uri"], "x:both");
}

#[tokio::test]
async fn addresses_of_the_only_server_with_resources_stay() {
    let (one, _folder) = scripted("one", &server("one", Eras::Legacy));
    let (plain, _other) = scripted("plain", &Script::new("plain").tool(Tool::named("t")));
    let rig = Rig::over(vec![one, plain]).await;
    let client = rig.client("/mcp/all");
    let called = ask(&client, "tools/call", &json!({"name": "one__link"})).await;
    assert_eq!(called["content"][2]["resource"]["uri"], "hidden:1");
    let read = ask(&client, "resources/read", &json!({"uri": "hidden:1"})).await;
    assert_eq!(read["contents"][0]["text"], "hidden:1 of one");
    let templates = ask(&client, "resources/templates/list", &json!({})).await;
    assert_eq!(
        listed(&templates, "resourceTemplates", "uriTemplate")[1],
        "file:///{p}"
    );
}

#[tokio::test]
async fn news_of_all_servers_name_what_the_client_knows() {
    let (shared, _folder) = scripted("one", &server("one", Eras::Legacy));
    let mut own = server("two", Eras::Legacy);
    own.http.get_stream = true;
    // A legacy server over HTTP has a session for each client.
    let (own, _fixture) = over_http("two", own, Format::Sse).await;
    let rig = Rig::over(vec![shared, own]).await;
    for server in ["one", "two"] {
        let client = rig.client("/mcp/all").handshake("2025-11-25").await;
        let client = client.expect("a session");
        let mut stream = client.open("GET", b"").await.expect("a stream");
        let uri = format!("countersign:{server}/x:both");
        let subscribed = ask(&client, "resources/subscribe", &json!({ "uri": uri })).await;
        assert_eq!(subscribed, json!({}));
        // News may come on the stream of the call, too; the client asks for plain JSON here.
        let call = client.clone().with_header("Accept", "application/json");
        call.call(&format!("{server}__touch"), "{}")
            .await
            .expect("an answer");
        let update = next(&mut stream).await;
        assert_eq!(update["method"], "notifications/resources/updated");
        assert_eq!(update["params"], json!({ "uri": uri }));
        let prompts = next(&mut stream).await;
        assert_eq!(prompts["method"], "notifications/prompts/list_changed");
        ask(&client, "resources/unsubscribe", &json!({ "uri": uri })).await;
        call.call(&format!("{server}__touch"), "{}")
            .await
            .expect("an answer");
        let prompts = next(&mut stream).await;
        assert_eq!(prompts["method"], "notifications/prompts/list_changed");
    }
}

#[tokio::test]
async fn a_modern_subscription_reaches_the_right_servers() {
    let (one, _fixture, mut log) =
        logged_http("one", server("one", Eras::Modern), Format::Sse).await;
    let (two, _folder) = scripted("two", &server("two", Eras::Legacy));
    let rig = Rig::over(vec![one, two]).await;
    let client = rig.client("/mcp/all");
    // A legacy server cannot tell a modern client of single resources.
    let params = r#"{"notifications":{"promptsListChanged":true,"resourceSubscriptions":["countersign:one/x:both","countersign:two/x:both","no:such"]}}"#;
    let listen = request("\"s\"", "subscriptions/listen", &modern_params(params));
    let listening = client.modern_headers("subscriptions/listen", params);
    let mut stream = listening.open("POST", &listen).await.expect("a stream");
    let offered =
        json!({"promptsListChanged": true, "resourceSubscriptions": ["countersign:one/x:both"]});
    assert_eq!(next(&mut stream).await["params"]["notifications"], offered);
    let asked =
        |entry: &Entry| text(entry.body()).contains(r#""resourceSubscriptions":["x:both"]"#);
    received(&mut log, asked).await;
    let touched = client
        .modern("tools/call", r#"{"name":"one__touch","arguments":{}}"#)
        .await;
    assert_eq!(touched.expect("an answer").status, 200);
    let tag = json!({"io.modelcontextprotocol/subscriptionId": "s"});
    let update = next(&mut stream).await;
    assert_eq!(
        update["params"],
        json!({"uri": "countersign:one/x:both", "_meta": tag})
    );
    assert_eq!(
        next(&mut stream).await["method"],
        "notifications/prompts/list_changed"
    );
}

#[tokio::test]
async fn a_server_that_fails_is_left_out_and_every_list_is_inspected() {
    let mut broken = server("one", Eras::Legacy);
    let error = Step::Answer(Answer::error(-32603, "broken"));
    broken
        .methods
        .insert("prompts/list".to_owned(), vec![vec![error]]);
    let mut hidden = server("two", Eras::Legacy);
    let first =
        json!({"prompts": [{"name": "a", "description": "d<|im_start|>"}], "nextCursor": "2"});
    let second = json!({"prompts": [{"name": "b"}]});
    let page = |page: &Value| vec![Step::Answer(Answer::result(Body::new(page.to_string())))];
    hidden
        .methods
        .insert("prompts/list".to_owned(), vec![page(&first), page(&second)]);
    let (one, _first) = scripted("one", &broken);
    let (two, _second) = scripted("two", &hidden);
    let rig = Rig::over(vec![one, two]).await;
    let list = rig.client("/mcp/all").modern("prompts/list", "{}").await;
    let list: Value = serde_json::from_str(&result(&list.expect("an answer"))).expect("JSON");
    assert_eq!(listed(&list, "prompts", "name"), ["two__a", "two__b"]);
    assert_eq!(
        list["prompts"][0]["description"],
        "d(removed: control token)"
    );
    assert_eq!(
        (&list["ttlMs"], &list["nextCursor"]),
        (&json!(0), &Value::Null)
    );
    let decision = rig.activity("type=policy_decision").await;
    assert_eq!(
        (&decision["server"], &decision["tool"]),
        (&json!("two"), &json!("prompts/list"))
    );
}
