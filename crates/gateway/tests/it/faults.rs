//! Whatever a server does, the client gets an answer for its id, and other calls go on.

use std::time::Duration;

use countersign_config::Server;
use countersign_fixture::client::Response;
use countersign_fixture::{Entry, Eras, LogListener, Script, preset as presets};

use crate::support::{
    Rig, WAIT, blocked_text, error_code, fixture, preset, refusal, result, scripted, strict, text,
};

const OK: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"ok"}]}"#;

const LATE: &str = "the tool's server did not answer within 1000 ms; the call may have run, so check before you repeat it";

/// The faults preset under the name `x`, giving up on calls soon.
fn impatient() -> Server {
    let mut server = preset("x", "faults");
    server.timeout = Some(Duration::from_secs(1));
    server
}

async fn call(rig: &Rig, tool: &str) -> Response {
    let answer = rig.client("/mcp/s/x").call(tool, "{}").await.expect(tool);
    assert_eq!(answer.status, 200, "{tool}");
    answer
}

async fn goes_on(rig: &Rig) {
    assert_eq!(result(&call(rig, "ok").await), OK);
}

#[tokio::test]
async fn large_and_deep_results_pass_or_are_refused() {
    let rig = Rig::over(vec![preset("x", "faults")]).await;
    let big = call(&rig, "text_8mib").await;
    assert_eq!(big.body.len() / (1 << 20), 8);
    for tool in ["deep_200", "deep_100000"] {
        let deep = refusal(&call(&rig, tool).await);
        assert_eq!(
            deep,
            blocked_text("transport", "transport.too_deep", &format!("x:{tool}"))
        );
    }
    let huge = call(&rig, "huge").await;
    assert_eq!(
        refusal(&huge),
        "the tool's answer is larger than 16777216 bytes"
    );
    goes_on(&rig).await;
    let record = rig.activity("type=tool_call&tool=huge").await;
    assert_eq!(record["status"], "error");
}

#[tokio::test]
async fn a_deep_result_is_blocked_where_a_schema_is_declared() {
    // Deeper than the guard allows, and no deeper than a message may be.
    let script = Script::from_json(br#"{"name":"deep","tools":[{"tool":{"name":"deep","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}},"steps":[{"answer":{"result_parts":["{\"content\":[],\"structuredContent\":{\"a\":",{"repeat":"[","times":100},{"repeat":"]","times":100},"}}"]}}]}]}"#);
    let (server, _folder) = scripted("x", &script.expect("a script"));
    let rig = Rig::over(vec![strict(server)]).await;
    let blocked = refusal(&call(&rig, "deep").await);
    assert!(
        blocked.starts_with("output schema validation failed: structured output exceeds max_depth"),
        "{blocked}"
    );
}

#[tokio::test]
async fn a_child_that_dies_is_replaced_and_its_calls_are_answered() {
    let rig = Rig::over(vec![preset("x", "faults")]).await;
    for tool in ["die_mid_reply", "exit"] {
        let lost = refusal(&call(&rig, tool).await);
        assert_eq!(
            lost,
            "the tool's server went away before it answered; the call may have run, so check before you repeat it"
        );
        goes_on(&rig).await;
    }
    rig.counted("server_losses", 2).await;
    let record = rig.activity("type=tool_call&tool=exit").await;
    assert_eq!(record["status"], "error");
}

#[tokio::test]
async fn silence_ends_with_the_time_out() {
    let rig = Rig::over(vec![impatient()]).await;
    let (never, wrong, null, garbage) = tokio::join!(
        call(&rig, "never"),
        call(&rig, "wrong_id"),
        call(&rig, "null_id"),
        call(&rig, "only_garbage"),
    );
    for late in [never, wrong, null, garbage] {
        assert_eq!(refusal(&late), LATE);
    }
    goes_on(&rig).await;
    rig.counted("stray_answers", 2).await;
}

#[tokio::test]
async fn half_an_answer_is_none() {
    for tool in ["stall_mid_reply", "close_mid_reply"] {
        let rig = Rig::over(vec![impatient()]).await;
        assert_eq!(refusal(&call(&rig, tool).await), LATE, "{tool}");
    }
}

#[tokio::test]
async fn answers_that_cannot_be_framed_are_refused_at_once() {
    let rig = Rig::over(vec![preset("x", "faults")]).await;
    for (tool, rule) in [
        ("invalid_utf8", "transport.not_utf8"),
        ("string_id", "transport.bad_id"),
        ("neither", "transport.not_json"),
        ("result_and_error", "transport.not_json"),
        ("duplicate_result", "transport.not_json"),
        ("duplicate_structured", "transport.not_json"),
    ] {
        let refused = refusal(&call(&rig, tool).await);
        assert_eq!(
            refused,
            blocked_text("transport", rule, &format!("x:{tool}")),
            "{tool}"
        );
        let record = rig
            .activity(&format!("type=policy_decision&tool={tool}"))
            .await;
        assert_eq!(record["findings"][0]["rule"], rule, "{tool}");
        goes_on(&rig).await;
    }
}

#[tokio::test]
async fn noise_around_an_answer_does_no_harm() {
    let rig = Rig::over(vec![preset("x", "faults")]).await;
    for tool in [
        "garbage",
        "twice",
        "stderr_flood",
        "asks_client",
        "list_changed",
        "log",
        "progress",
        "comment",
    ] {
        assert_eq!(result(&call(&rig, tool).await), OK, "{tool}");
    }
    for tool in [
        "batch",
        "no_jsonrpc",
        "lone_surrogate",
        "result_scalar",
        "result_null",
    ] {
        let answer = call(&rig, tool).await;
        assert!(!answer.body.is_empty(), "{tool}");
    }
    goes_on(&rig).await;
    rig.counted("lines_skipped", 4).await;
}

#[tokio::test]
async fn an_error_of_the_server_is_passed_on() {
    let rig = Rig::over(vec![preset("x", "faults")]).await;
    let answer = call(&rig, "error").await;
    assert_eq!(error_code(&answer), -32050);
    assert!(text(&answer.body).contains(r#""data":{"retry":false}"#));
    assert_eq!(
        rig.activity("type=tool_call&tool=error").await["status"],
        "error"
    );
}

#[tokio::test]
async fn an_error_result_is_passed_on_and_recorded_as_one() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let answer = call(&rig, "error").await;
    assert_eq!(refusal(&answer), "The record is locked by another user.");
    let record = rig.activity("type=tool_call&tool=error").await;
    assert_eq!(record["status"], "error");
    assert!(rig.activities("type=policy_decision").await.is_empty());
}

#[tokio::test]
async fn slow_calls_do_not_hold_up_others() {
    let rig = Rig::over(vec![preset("x", "faults")]).await;
    let client = rig.client("/mcp/s/x");
    let never = client.call("never", "{}");
    let others = async {
        for _ in 0..20 {
            goes_on(&rig).await;
        }
    };
    tokio::select! {
        _ = never => panic!("the server never answers"),
        () = others => {}
    }
}

#[tokio::test]
async fn a_full_queue_answers_at_once() {
    let mut log = LogListener::bind().await.expect("a port");
    let target = log.target().expect("an address");
    let mut server = fixture("x", &["--preset", "faults", "--log", &target]);
    server.max_concurrent_requests = 1;
    server.queue_size = 0;
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let never = client.call("never", "{}");
    let second = async {
        let sent = |entry: &Entry| text(entry.body()).contains("\"never\"");
        log.find(WAIT, sent).await.expect("the log");
        refusal(&call(&rig, "ok").await)
    };
    tokio::select! {
        _ = never => panic!("the server never answers"),
        full = second => assert_eq!(full, "too many calls are waiting for this tool's server; try again later"),
    }
    let record = rig.activity("type=tool_call&status=rejected").await;
    assert_eq!(record["tool"], "ok");
}

#[tokio::test]
async fn a_server_that_cannot_start_does_not_hold_up_the_others() {
    let broken = Server::stdio("broken", "/no/such/command", []);
    let quits = Server::stdio("quits", "/bin/false", []);
    let rig = Rig::over(vec![broken, preset("x", "faults"), quits]).await;
    goes_on(&rig).await;
    let answer = rig
        .client("/mcp/all")
        .call("broken__anything", "{}")
        .await
        .expect("an answer");
    assert_eq!(error_code(&answer), -32602);
}

#[tokio::test]
async fn both_eras_of_server_are_greeted() {
    for eras in [Eras::Legacy, Eras::Modern] {
        let (server, _folder) = scripted("x", &presets::faults().eras(eras));
        let rig = Rig::over(vec![server]).await;
        assert!(
            result(&call(&rig, "ok").await).contains(r#""text":"ok""#),
            "{eras:?}"
        );
    }
}
