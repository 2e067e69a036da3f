//! The web console: who gets in, what its pages show, and that nothing a server wrote becomes markup.

use countersign_fixture::client::{HttpClient, Response};
use countersign_fixture::{Script, Tool};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::support::{ADMIN_KEY, KEY, Rig, preset, scripted, strict, text};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"><img src=x onerror=alert(2)>";

async fn rig() -> Rig {
    Rig::over(vec![strict(preset("x", "demo"))]).await
}

/// A browser that is signed in.
pub(crate) struct Browser<'a> {
    pub(crate) rig: &'a Rig,
    pub(crate) cookie: String,
}

impl<'a> Browser<'a> {
    pub(crate) async fn signed_in(rig: &'a Rig, key: &str) -> Self {
        let answer = sign_in(rig, key).await;
        assert_eq!(answer.status, 303, "{}", text(&answer.body));
        assert_eq!(answer.header("location"), Some("/console"));
        let cookie = answer.header("set-cookie").expect("a cookie");
        for part in ["HttpOnly", "SameSite=Strict", "Path=/console"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        assert!(!cookie.contains(key), "{cookie}");
        let cookie = cookie.split(';').next().expect("a value").to_owned();
        Self { rig, cookie }
    }

    pub(crate) fn at(&self, path: &str) -> HttpClient {
        self.rig.stranger(path).with_header("Cookie", &self.cookie)
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.at(path).send("GET", b"").await.expect("an answer")
    }

    /// The text of a page that is there.
    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", text(&answer.body));
        assert_eq!(answer.header("content-security-policy"), Some(POLICY));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        text(&answer.body)
    }

    /// Sends a form with the token of a page.
    pub(crate) async fn submit(&self, path: &str, fields: &str) -> Response {
        let page = self.page("/console").await;
        let token = between(&page, "name=\"csrf\" value=\"", "\"");
        self.send(path, &format!("csrf={token}&{fields}")).await
    }

    pub(crate) async fn send(&self, path: &str, form: &str) -> Response {
        let client = self.at(path);
        let client = client.with_header("Content-Type", "application/x-www-form-urlencoded");
        client
            .send("POST", form.as_bytes())
            .await
            .expect("an answer")
    }
}

pub(crate) fn between<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = page.split_once(before).expect(before);
    rest.split_once(after).expect(after).0
}

async fn sign_in(rig: &Rig, key: &str) -> Response {
    let form = format!("key={key}");
    let client = rig.stranger("/console/sign-in");
    client
        .send("POST", form.as_bytes())
        .await
        .expect("an answer")
}

#[tokio::test]
async fn a_key_opens_a_session_and_a_wrong_one_is_counted() {
    let rig = rig().await;
    for path in ["/console", "/console/activity", "/console/nothing"] {
        let answer = rig
            .stranger(path)
            .send("GET", b"")
            .await
            .expect("an answer");
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some("/console/sign-in"))
        );
    }
    let form = rig.stranger("/console/sign-in").send("GET", b"").await;
    let form = form.expect("an answer");
    assert_eq!(
        (form.status, form.header("content-security-policy")),
        (200, Some(POLICY))
    );
    for wrong in ["wrong", ""] {
        let refused = sign_in(&rig, wrong).await;
        assert_eq!(refused.status, 401);
        assert!(refused.header("set-cookie").is_none());
        assert!(text(&refused.body).contains("does not open the console"));
    }
    rig.counted("unauthorised", 2).await;
    let refusal = rig.activity("type=access_refusal").await;
    assert_eq!(refusal["status"], "rejected");
    let events = rig.stranger("/console/events").send("GET", b"").await;
    assert_eq!(events.expect("an answer").status, 401);

    let viewer = Browser::signed_in(&rig, KEY).await;
    assert!(viewer.page("/console").await.contains("key:client, viewer"));
    let operator = Browser::signed_in(&rig, ADMIN_KEY).await;
    assert!(
        operator
            .page("/console")
            .await
            .contains("key:operator, operator")
    );

    let stranger = Browser {
        rig: &rig,
        cookie: "countersign_console=00".to_owned(),
    };
    assert_eq!(stranger.get("/console").await.status, 303);
    // Without the token of the session nothing is done.
    assert_eq!(
        viewer.send("/console/sign-out", "csrf=00").await.status,
        403
    );
    assert_eq!(viewer.get("/console").await.status, 200);
    assert_eq!(viewer.submit("/console/sign-out", "").await.status, 303);
    assert_eq!(viewer.get("/console").await.status, 303);
    assert_eq!(operator.get("/console").await.status, 200);
}

#[tokio::test]
async fn a_new_session_of_a_browser_ends_the_one_before() {
    let rig = rig().await;
    let first = Browser::signed_in(&rig, KEY).await;
    let form = format!("key={ADMIN_KEY}");
    let answer = first.send("/console/sign-in", &form).await;
    let cookie = answer.header("set-cookie").expect("a cookie");
    assert!(
        !cookie.starts_with(&first.cookie),
        "an id is never used again"
    );
    assert_eq!(first.get("/console").await.status, 303);
}

#[tokio::test]
async fn other_hosts_and_methods_are_turned_away() {
    let rig = rig().await;
    let foreign = rig
        .stranger("/console/sign-in")
        .with_header("Origin", "https://evil.example");
    let form = format!("key={KEY}");
    let answer = foreign.send("POST", form.as_bytes()).await;
    assert_eq!(answer.expect("an answer").status, 403);
    let answer = rig.stranger("/console").send("DELETE", b"").await;
    assert_eq!(answer.expect("an answer").status, 405);
}

#[tokio::test]
async fn assets_are_kept_for_ever_and_need_no_key() {
    let rig = rig().await;
    let page = Browser::signed_in(&rig, KEY).await.page("/console").await;
    for (before, kind) in [
        (
            "<link rel=\"stylesheet\" href=\"",
            "text/css; charset=utf-8",
        ),
        ("<script src=\"", "text/javascript; charset=utf-8"),
        ("<link rel=\"icon\" href=\"", "image/svg+xml"),
    ] {
        let path = between(&page, before, "\"");
        let asset = rig
            .stranger(path)
            .send("GET", b"")
            .await
            .expect("an answer");
        assert_eq!(
            (asset.status, asset.header("content-type")),
            (200, Some(kind))
        );
        let kept = asset.header("cache-control").expect("a header");
        assert!(kept.contains("immutable"), "{kept}");
        assert_eq!(asset.header("content-encoding"), None);
        let gzip = rig
            .stranger(path)
            .with_header("Accept-Encoding", "br, gzip");
        let gzip = gzip.send("GET", b"").await.expect("an answer");
        assert_eq!(gzip.header("content-encoding"), Some("gzip"));
        assert_eq!(gzip.header("vary"), Some("accept-encoding"));
        assert!(gzip.body.starts_with(&[0x1f, 0x8b]) && gzip.body.len() < 8000);
    }
    let other = rig
        .stranger("/console/assets/console.css")
        .send("GET", b"")
        .await;
    assert_eq!(other.expect("an answer").status, 404);
}

#[tokio::test]
async fn pages_show_what_the_store_holds() {
    let rig = rig().await;
    let client = rig.client("/mcp/s/x");
    client.call("conforming", "{}").await.expect("an answer");
    client.call("bad_output", "{}").await.expect("an answer");
    let decision = rig.activity("status=blocked").await;
    let browser = Browser::signed_in(&rig, KEY).await;

    let overview = browser.page("/console").await;
    let link = between(
        &overview,
        "<h2 class=\"status blocked\">blocked</h2>\n<p class=\"count\"><a href=\"",
        "</a>",
    );
    let (link, count) = link.split_once("\">").expect("a link");
    assert_eq!(count, "1");
    let list = browser.page(&link.replace("&#38;", "&")).await;
    assert_eq!(list.matches("<tr data-row>").count(), 1, "{list}");

    let id = decision["id"].as_str().expect("an id");
    let record = browser.page(&format!("/console/activity/{id}")).await;
    let sentence = decision["reason"].as_str().expect("a reason");
    assert!(record.contains(sentence), "{record}");
    assert!(record.contains("<code>/id</code>") && record.contains("schema.type"));
    // The line of the declared schema that the finding points at is marked.
    let marked = between(&record, "<mark>", "</mark>").trim();
    assert_eq!(marked, "&quot;type&quot;: &quot;integer&quot;", "{record}");
    assert!(record.contains("Output schema, generation 1"), "{record}");
    let similar = between(
        &record,
        "<a href=\"/console/activity?",
        "\">show calls like this",
    );
    let similar = similar.replace("&#38;", "&");
    let similar = browser.page(&format!("/console/activity?{similar}")).await;
    assert_eq!(similar.matches("<tr data-row>").count(), 1, "{similar}");
    assert!(record.contains(decision["hash"].as_str().expect("a hash")));

    let servers = browser.page("/console/servers").await;
    assert!(
        servers.contains(">x</a>") && servers.contains("stdio"),
        "{servers}"
    );
    assert!(browser.page("/console/servers/x").await.contains("once"));
    assert!(browser.page("/console/tools").await.contains("bad_output"));
    let tool = browser.page("/console/tools/x%3Abad_output").await;
    assert!(
        tool.contains("mcpServers.x.output_validation.mode"),
        "{tool}"
    );
    assert_eq!(browser.get("/console/tools/x%3Anothing").await.status, 404);
    assert_eq!(browser.get("/console/activity/nothing").await.status, 400);
}

#[tokio::test]
async fn records_come_in_pages_that_keep_their_filters() {
    let rig = rig().await;
    let client = rig.client("/mcp/s/x");
    for _ in 0..3 {
        client.call("conforming", "{}").await.expect("an answer");
    }
    let browser = Browser::signed_in(&rig, KEY).await;
    let first = browser
        .page("/console/activity?type=tool_call&limit=2&stage=")
        .await;
    assert_eq!(first.matches("<tr data-row>").count(), 2);
    assert!(
        first.contains("data-events=\"/console/events?type=tool_call\""),
        "{first}"
    );
    let older = between(
        &first,
        "<a href=\"/console/activity?type=tool_call&#38;limit=2&#38;cursor=",
        "\"",
    );
    let second = format!("/console/activity?type=tool_call&limit=2&cursor={older}");
    let second = browser.page(&second).await;
    assert_eq!(second.matches("<tr data-row>").count(), 1);
    assert!(second.contains(">Newest</a>") && !second.contains("data-events"));
    let wrong = browser.page("/console/activity?since=soon").await;
    assert!(wrong.contains("not a time") && wrong.contains("value=\"soon\""));
}

#[tokio::test]
async fn a_page_hears_of_new_records() {
    let rig = rig().await;
    let browser = Browser::signed_in(&rig, KEY).await;
    let mut events = browser.at("/console/events?status=blocked");
    events = events.with_header("Accept", "text/event-stream");
    let mut events = events.open("GET", b"").await.expect("an answer");
    assert_eq!(events.status, 200);
    assert!(
        events
            .event()
            .await
            .expect("a stream")
            .expect("a beginning")
            .comment
    );
    rig.client("/mcp/s/x")
        .call("bad_output", "{}")
        .await
        .expect("an answer");
    let event = events.event().await.expect("a stream").expect("an event");
    assert_eq!(event.name.as_deref(), Some("activity"));
}

#[tokio::test]
async fn what_a_server_writes_stays_text() {
    let declared = json!({
        "name": HOSTILE, "description": HOSTILE, "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true},
    });
    let script = Script::new("hostile").tool(Tool::new(declared.to_string()));
    let (server, _folder) = scripted("h", &script);
    let rig = Rig::over(vec![strict(server)]).await;
    rig.client("/mcp/s/h")
        .call(HOSTILE, "{}")
        .await
        .expect("an answer");
    let browser = Browser::signed_in(&rig, KEY).await;
    let record = rig.activity("type=tool_call").await;
    let name = encoded(HOSTILE);
    for path in [
        "/console".to_owned(),
        "/console/activity".to_owned(),
        format!(
            "/console/activity/{}",
            record["id"].as_str().expect("an id")
        ),
        "/console/servers/h".to_owned(),
        "/console/tools".to_owned(),
        format!("/console/tools/h%3A{name}"),
        "/console/activity?rule=%3Cscript%3E".to_owned(),
    ] {
        let page = browser.page(&path).await;
        for forbidden in ["<script>", "<img", "\u{202e}"] {
            assert!(!page.contains(forbidden), "{forbidden} on {path}: {page}");
        }
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[tokio::test]
async fn a_result_is_tried_without_a_call() {
    let rig = rig().await;
    let browser = Browser::signed_in(&rig, KEY).await;
    assert!(browser.page("/console/try").await.contains("outputSchema"));
    let before = rig.activities("").await.len();
    let tool = encoded(
        r#"{"name":"t","outputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}}"#,
    );
    let broken = encoded(r#"{"content":[],"structuredContent":{"id":"x"}}"#);
    for (mode, decision) in [("strict", "blocked"), ("warn", "flagged")] {
        let form = format!("tool={tool}&result={broken}&mode={mode}");
        let answer = browser.submit("/console/try", &form).await;
        let page = text(&answer.body);
        assert_eq!(answer.status, 200);
        assert!(
            page.contains(&format!("<span class=\"status {decision}\">")),
            "{page}"
        );
        assert!(page.contains("schema.type") && page.contains("nothing found"));
    }
    // The case is one of the corpus, and the same by every way.
    let form = format!("tool={tool}&result={broken}&mode=warn");
    let file = browser.submit("/console/try/case", &form).await;
    assert_eq!(
        file.header("content-disposition"),
        Some("attachment; filename=\"case.json\"")
    );
    let case: Value = serde_json::from_slice(&file.body).expect("JSON");
    let strict = &case["cases"][0]["expect"]["strict"];
    assert_eq!(strict["findings"], json!(["schema.type"]));
    assert_eq!(case["cases"][0]["result"]["structuredContent"]["id"], "x");
    let shown = text(&browser.submit("/console/try", &form).await.body);
    assert!(shown.contains("Corpus case"), "{shown}");
    let asked = format!(
        r#"{{"tool":{},"result":{},"mode":"warn"}}"#,
        r#"{"name":"t","outputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}}"#,
        r#"{"content":[],"structuredContent":{"id":"x"}}"#
    );
    let rest = rig.client("/api/v1/inspect");
    let rest = rest
        .send("POST", asked.as_bytes())
        .await
        .expect("an answer");
    let rest: Value = serde_json::from_slice(&rest.body).expect("JSON");
    assert_eq!(rest["verdict"]["decision"], "flagged");
    assert_eq!(
        rest["corpus_file"].as_str().map(str::as_bytes),
        Some(&file.body[..])
    );
    let answer = browser
        .submit("/console/try", "tool=nonsense&result=%7B%7D")
        .await;
    assert!(text(&answer.body).contains("This is not a tool"));
    assert_eq!(rig.activities("").await.len(), before);
}

#[tokio::test]
async fn a_gateway_without_a_file_shows_the_patch() {
    let rig = rig().await;
    let operator = Browser::signed_in(&rig, ADMIN_KEY).await;
    let form = "server=x&tool=integer&mode=off";
    let answer = operator.submit("/console/policy/mode", form).await;
    assert_eq!(answer.status, 303);
    let page = operator.page("/console/policy").await;
    assert!(page.contains("not started from a file"), "{page}");
    assert!(
        page.contains("&quot;integer&quot;:{&quot;output_validation&quot;"),
        "{page}"
    );
}

#[tokio::test]
async fn signing_in_and_out_is_recorded_and_wrong_keys_once_a_minute() {
    let rig = rig().await;
    let browser = Browser::signed_in(&rig, KEY).await;
    browser.submit("/console/sign-out", "").await;
    let records = rig.activities("type=login").await;
    let reasons: Vec<_> = records.iter().map(|record| &record["reason"]).collect();
    assert_eq!(
        reasons,
        ["signed out of the console", "signed in to the console"]
    );
    assert!(
        records
            .iter()
            .all(|record| record["caller"] == "key:client")
    );
    for _ in 0..20 {
        assert_eq!(sign_in(&rig, "a-guess").await.status, 401);
    }
    let refused = rig.activity("type=access_refusal").await;
    assert!(!refused.to_string().contains("a-guess"), "{refused}");
    // One, or two if a minute began in between.
    let refused = rig.activities("type=access_refusal").await;
    assert!((1..=2).contains(&refused.len()), "{refused:?}");
}
