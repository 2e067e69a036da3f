//! `/connect/SERVER`: a user gives the gateway a token for its own calls, and no other user can be made to.

use std::cell::RefCell;
use std::collections::BTreeMap;

use countersign_config::{Config, Issuer as IssuerConfig};
use countersign_fixture::client::{HttpClient, MODERN_META, Response, request};
use countersign_gateway::Gateway;
use serde_json::{Value, json};

use crate::oauth::callers::server;
use crate::oauth::issuer::{CANARY, Issuer as ServerIssuer, ServerEra};
use crate::oauth::log_in;
use crate::support::{Rig, config, text};
use crate::tokens::issuer::{Issuer, SigningKey};

const PUBLIC_URL: &str = "https://tools.example.com";
const RESOURCE: &str = "https://tools.example.com/mcp/s/crm";

/// A gateway whose callers come from an issuer, before a server where each caller logs in.
struct ConnectRig {
    rig: Rig,
    /// Knows the users of the gateway.
    issuer: Issuer,
    key: SigningKey,
    /// The authorization server of the server.
    server: ServerIssuer,
}

impl ConnectRig {
    async fn start() -> Self {
        let key = SigningKey::new("one");
        let issuer = Issuer::start(&key).await;
        let server_issuer = ServerIssuer::start().await;
        server_issuer.change(|it| it.era = ServerEra::Modern);
        let configure = |config: &mut Config| configure(config, &issuer);
        let rig = Rig::with(vec![server(&server_issuer)], configure).await;
        log_in(&rig, &server_issuer).await;
        Self {
            rig,
            issuer,
            key,
            server: server_issuer,
        }
    }

    /// A second gateway with the same configuration, on the same store.
    async fn beside(&self) -> Rig {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = config(self.rig.folder.path(), vec![server(&self.server)]);
        configure(&mut config, &self.issuer);
        let gateway = Gateway::start(config).await.expect("the gateway starts");
        gateway.settled().await;
        Rig { gateway, folder }
    }

    fn client(&self, user: &str) -> HttpClient {
        let mut claims = self.issuer.claims(RESOURCE);
        claims["sub"] = json!(user);
        let bearer = format!("Bearer {}", self.key.sign(&claims));
        let client = self.rig.stranger("/mcp/s/crm");
        client.with_header("Authorization", &bearer)
    }

    /// A modern call of a client that shows its user addresses.
    async fn call(&self, user: &str, more: &str) -> Value {
        let capabilities = r#"clientCapabilities":{"elicitation":{"url":{}}}"#;
        let meta = MODERN_META.replace(r#"clientCapabilities":{}"#, capabilities);
        let who = json!({ "who": user });
        let params = format!(r#"{{"name":"ok","arguments":{who}{more},"_meta":{{{meta}}}}}"#);
        let client = self.client(user).modern_headers("tools/call", &params);
        let answer = client.post(&request("1", "tools/call", &params)).await;
        let answer = answer.expect("an answer").message().expect("a message");
        serde_json::from_slice(&answer).expect("JSON")
    }

    /// The path of the link that a user's client shows.
    async fn link(&self, user: &str) -> String {
        let asked = self.call(user, "").await;
        let result = &asked["result"];
        assert_eq!(result["resultType"], "input_required", "{asked}");
        let question = &result["inputRequests"]["countersign_login"];
        assert_eq!(question["method"], "elicitation/create", "{asked}");
        assert_eq!(question["params"]["mode"], "url", "{asked}");
        path_of(&question["params"]["url"])
    }

    fn browser(&self) -> Browser<'_> {
        Browser {
            rig: &self.rig,
            cookies: RefCell::default(),
        }
    }

    /// Opens a page, and signs this user in at the issuer. Gives the page after it.
    async fn sign_in(&self, browser: &Browser<'_>, path: &str, user: &str) -> Response {
        let query = self.approve(browser, path, user).await;
        let back = browser.get(&format!("/login/callback?{query}")).await;
        assert_eq!(back.status, 303, "{}", text(&back.body));
        let next = back.header("location").expect("a page").to_owned();
        browser.get(&next).await
    }

    /// The query that the browser comes back from the issuer with.
    async fn approve(&self, browser: &Browser<'_>, path: &str, user: &str) -> String {
        let sent = browser.get(path).await;
        assert_eq!(sent.status, 303, "{}", text(&sent.body));
        let location = sent.header("location").expect("an address");
        let user = json!({ "sub": user });
        self.issuer.approve(location, &self.key, &user)
    }

    /// Agrees on the page, and logs in at the server's authorization server. Gives the query that the browser comes back with.
    async fn agree(&self, browser: &Browser<'_>, path: &str, page: &Response) -> String {
        assert_eq!(page.status, 200, "{}", text(&page.body));
        let form = format!("csrf={}", csrf(page));
        let sent = browser.post(path, &form).await;
        assert_eq!(sent.status, 200, "{}", text(&sent.body));
        let body = text(&sent.body);
        let (_, rest) = body.split_once("href=\"http").expect("a link");
        let (url, _) = rest.split_once('"').expect("a link");
        let url = format!("http{}", url.replace("&amp;", "&"));
        self.server.approve(&url)
    }

    /// Whether a call of the user reaches the server, with a token of its own.
    async fn is_connected(&self, user: &str) -> bool {
        self.call(user, "").await["result"]["resultType"] == "complete"
    }

    /// The tokens that the calls of a user were made with.
    fn tokens(&self, user: &str) -> Vec<String> {
        let who = format!(r#""who":"{user}""#);
        let asked = self.server.questions().into_iter();
        let of_user = asked.filter(|it| it.body.contains(&who));
        of_user.map(|it| it.authorization).collect()
    }
}

fn configure(config: &mut Config, issuer: &Issuer) {
    config.public_url = Some(PUBLIC_URL.to_owned());
    let mut issuer = IssuerConfig::new("corp", &issuer.url);
    issuer.login.client_id = Some("the-gateway".to_owned());
    config.auth.issuers = vec![issuer];
}

/// The address of the link on a page that says that nothing was connected.
fn beginning(page: &Response) -> String {
    let body = text(&page.body);
    assert!(body.contains("Nothing was connected"), "{body}");
    let (before, _) = body.split_once("\">Begin again</a>").expect("a link");
    let (_, address) = before.rsplit_once("href=\"").expect("a link");
    address.replace("&amp;", "&")
}

fn path_of(url: &Value) -> String {
    let url = url.as_str().expect("an address");
    let path = url.strip_prefix(PUBLIC_URL).expect("a page of the gateway");
    assert!(path.starts_with("/connect/crm?"), "{path}");
    path.to_owned()
}

fn csrf(page: &Response) -> String {
    let body = text(&page.body);
    let (_, rest) = body.split_once("name=\"csrf\" value=\"").expect("a form");
    rest.split('"').next().expect("a token").to_owned()
}

/// A browser with its cookies.
struct Browser<'a> {
    rig: &'a Rig,
    cookies: RefCell<BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    /// The same browser, whose requests a proxy sends to another gateway.
    fn moved_to(&self, rig: &'a Rig) -> Self {
        let cookies = self.cookies.clone();
        Self { rig, cookies }
    }

    async fn get(&self, path: &str) -> Response {
        self.send("GET", path, "", None).await
    }

    async fn post(&self, path: &str, form: &str) -> Response {
        self.send("POST", path, form, Some(PUBLIC_URL)).await
    }

    async fn send(&self, method: &str, path: &str, body: &str, origin: Option<&str>) -> Response {
        let cookies: Vec<String> = {
            let cookies = self.cookies.borrow();
            cookies
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect()
        };
        let mut client = self.rig.stranger(path);
        if !cookies.is_empty() {
            client = client.with_header("Cookie", &cookies.join("; "));
        }
        if let Some(origin) = origin {
            client = client.with_header("Origin", origin);
        }
        let answer = client.send(method, body.as_bytes()).await;
        let answer = answer.expect("an answer");
        for (name, value) in &answer.headers {
            if !name.eq_ignore_ascii_case("set-cookie") {
                continue;
            }
            assert!(
                value.contains("; HttpOnly; SameSite=Lax; Path=/; "),
                "{value}"
            );
            assert!(
                value.starts_with("__Host-") && value.ends_with("; Secure"),
                "{value}"
            );
            let (pair, _) = value.split_once(';').expect("attributes");
            let (name, value) = pair.split_once('=').expect("a cookie");
            self.cookies
                .borrow_mut()
                .insert(name.to_owned(), value.to_owned());
        }
        answer
    }
}

#[tokio::test]
async fn a_user_connects_an_account_and_calls_with_it() {
    let rig = ConnectRig::start().await;
    let link = rig.link("ada").await;
    let browser = rig.browser();
    let page = rig.sign_in(&browser, &link, "ada").await;
    let shown = text(&page.body);
    for part in [
        "<b>crm</b>",
        "<b>corp:ada</b>",
        "<code>use</code>",
        &rig.server.url,
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let query = rig.agree(&browser, &link, &page).await;
    let done = browser.get(&format!("/connect/crm/callback?{query}")).await;
    assert_eq!(done.status, 200, "{}", text(&done.body));
    assert!(text(&done.body).contains("is connected"));
    let answers = r#","inputResponses":{"countersign_login":{"action":"accept"}}"#;
    let called = rig.call("ada", answers).await;
    assert_eq!(called["result"]["content"][0]["text"], "ok", "{called}");
    assert_eq!(rig.tokens("ada"), [format!("Bearer {CANARY}-access-2")]);
    let asked = rig.server.questions();
    assert!(!asked.iter().any(|it| it.body.contains("countersign_login")));
    assert!(!rig.is_connected("bob").await, "the token is ada's alone");
    assert!(rig.tokens("bob").is_empty());
}

#[tokio::test]
async fn clients_are_told_in_the_way_they_understand() {
    let rig = ConnectRig::start().await;
    // The user was asked and has not logged in: a client that accepts by itself must not go round for ever.
    let answers = r#","inputResponses":{"countersign_login":{"action":"accept"}}"#;
    let again = rig.call("ada", answers).await;
    assert_eq!(again["result"]["isError"], true, "{again}");
    let client = rig.client("ada");
    for (capabilities, is_asked) in [("{\"elicitation\":{\"url\":{}}}", true), ("{}", false)] {
        let params = format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"t","version":"0"}}}}"#
        );
        let greeted = client
            .request("initialize", &params)
            .await
            .expect("an answer");
        let session = greeted.header("mcp-session-id").expect("a session");
        let client = client.clone().with_header("Mcp-Session-Id", session);
        let answer = client.call("ok", "{}").await.expect("an answer");
        let answer = answer.message().expect("a message");
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        if is_asked {
            assert_eq!(answer["error"]["code"], -32042, "{answer}");
            let elicitation = &answer["error"]["data"]["elicitations"][0];
            assert_eq!(elicitation["mode"], "url", "{answer}");
            assert!(elicitation["elicitationId"].is_string(), "{answer}");
            path_of(&elicitation["url"]);
        } else {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            let told = answer["result"]["content"][0]["text"].as_str();
            let told = told.expect("a text");
            assert!(
                told.contains(&format!("{PUBLIC_URL}/connect/crm?for=")),
                "{told}"
            );
        }
    }
    assert!(rig.tokens("ada").is_empty());
}

#[tokio::test]
async fn a_forwarded_link_connects_nothing_for_its_sender() {
    let rig = ConnectRig::start().await;
    let link = rig.link("mallory").await;
    let browser = rig.browser();
    let page = rig.sign_in(&browser, &link, "victim").await;
    assert_eq!(page.status, 403, "{}", text(&page.body));
    assert!(text(&page.body).contains("made for another user"));
    let posted = browser.post(&link, "csrf=x").await;
    assert_eq!(posted.status, 403);
    // Without the part that names the user, the account is connected to the user who signed in.
    let page = browser.get("/connect/crm").await;
    let query = rig.agree(&browser, "/connect/crm", &page).await;
    let done = browser.get(&format!("/connect/crm/callback?{query}")).await;
    assert_eq!(done.status, 200, "{}", text(&done.body));
    assert!(!rig.is_connected("mallory").await);
    assert!(rig.is_connected("victim").await);
}

#[tokio::test]
async fn a_login_is_completed_once_and_by_the_browser_that_began_it() {
    let rig = ConnectRig::start().await;
    let link = rig.link("ada").await;
    let (browser, other) = (rig.browser(), rig.browser());
    let query = rig.approve(&browser, &link, "ada").await;
    let callback = format!("/login/callback?{query}");
    // An attacker's own login, sent to a victim: the victim must not become the attacker.
    let stolen = other.get(&callback).await;
    assert_eq!(stolen.status, 400, "{}", text(&stolen.body));
    assert_eq!(browser.get(&callback).await.status, 303);
    assert_eq!(browser.get(&callback).await.status, 400, "a replayed state");
    let page = browser.get(&link).await;
    let query = rig.agree(&browser, &link, &page).await;
    let callback = format!("/connect/crm/callback?{query}");
    assert_eq!(
        other.get(&callback).await.status,
        403,
        "nobody has signed in"
    );
    rig.sign_in(&other, "/connect/crm", "bob").await;
    let foreign = other.get(&callback).await;
    assert_eq!(foreign.status, 400, "{}", text(&foreign.body));
    assert!(!rig.is_connected("bob").await && !rig.is_connected("ada").await);
    assert_eq!(browser.get(&callback).await.status, 200);
    assert_eq!(browser.get(&callback).await.status, 400, "a replayed state");
    assert!(rig.is_connected("ada").await && !rig.is_connected("bob").await);
}

#[tokio::test]
async fn a_response_of_another_issuer_is_refused() {
    let rig = ConnectRig::start().await;
    let link = rig.link("ada").await;
    let browser = rig.browser();
    let encoded: String = form_urlencoded::byte_serialize(rig.issuer.url.as_bytes()).collect();
    let wrong = "http%3A%2F%2Fevil.example";
    let query = rig.approve(&browser, &link, "ada").await;
    let mixed = query.replace(&encoded, wrong);
    assert_ne!(mixed, query);
    let refused = browser.get(&format!("/login/callback?{mixed}")).await;
    assert_eq!(refused.status, 502, "{}", text(&refused.body));
    let asked = rig.issuer.requests();
    assert!(
        !asked.iter().any(|it| it.starts_with("POST /token")),
        "{asked:?}"
    );
    // The same at the authorization server of the server.
    let page = rig.sign_in(&browser, &link, "ada").await;
    let query = rig.agree(&browser, &link, &page).await;
    let encoded: String = form_urlencoded::byte_serialize(rig.server.url.as_bytes()).collect();
    let before = rig.server.count("authorization_code");
    let mixed = query.replace(&encoded, wrong);
    let refused = browser.get(&format!("/connect/crm/callback?{mixed}")).await;
    assert_eq!(refused.status, 502, "{}", text(&refused.body));
    assert_eq!(rig.server.count("authorization_code"), before);
    assert!(!rig.is_connected("ada").await);
}

#[tokio::test]
async fn a_token_that_the_gateway_does_not_accept_signs_nobody_in() {
    let rig = ConnectRig::start().await;
    let browser = rig.browser();
    for (changes, status) in [
        (json!({"aud": "https://other.example/mcp"}), 403),
        (json!({"iss": "https://evil.example"}), 403),
        (json!({"exp": 1}), 403),
    ] {
        let sent = browser.get("/connect/crm").await;
        let location = sent.header("location").expect("an address").to_owned();
        let query = rig.issuer.approve(&location, &rig.key, &changes);
        let refused = browser.get(&format!("/login/callback?{query}")).await;
        assert_eq!(refused.status, status, "{changes}");
        assert_eq!(browser.get("/connect/crm").await.status, 303, "{changes}");
    }
    // A user without the scope that MCP needs has no calls, and so nothing to connect.
    let sent = browser.get("/connect/crm").await;
    let location = sent.header("location").expect("an address").to_owned();
    let query = rig
        .issuer
        .approve(&location, &rig.key, &json!({"scope": "other"}));
    assert_eq!(
        browser
            .get(&format!("/login/callback?{query}"))
            .await
            .status,
        303
    );
    assert_eq!(browser.get("/connect/crm").await.status, 404);
}

#[tokio::test]
async fn a_form_of_another_site_is_refused() {
    let rig = ConnectRig::start().await;
    let (browser, other) = (rig.browser(), rig.browser());
    let page = rig.sign_in(&browser, "/connect/crm", "ada").await;
    let token = csrf(&page);
    let page = rig.sign_in(&other, "/connect/crm", "bob").await;
    let foreign_token = csrf(&page);
    let asked = rig.server.questions().len();
    for form in [
        String::new(),
        "csrf=".to_owned(),
        format!("csrf={foreign_token}"),
    ] {
        let refused = browser.post("/connect/crm", &form).await;
        assert_eq!(refused.status, 403, "{form}");
    }
    let form = format!("csrf={token}");
    let evil = Some("https://evil.example");
    let refused = browser.send("POST", "/connect/crm", &form, evil).await;
    assert_eq!(refused.status, 403);
    let refused = rig.browser().post("/connect/crm", &form).await;
    assert_eq!(
        refused.status, 403,
        "a browser in which nobody has signed in"
    );
    assert_eq!(rig.server.questions().len(), asked, "nothing was begun");
}

#[tokio::test]
async fn pages_cannot_be_framed_and_show_text_of_others_as_text() {
    let rig = ConnectRig::start().await;
    let hostile = "<img/src=x/onerror=alert(1)>";
    let challenge =
        json!({"scopes_supported": [hostile], "authorization_servers": [rig.server.url]});
    rig.server.change(|it| {
        it.resource = challenge;
        it.answers
            .insert("POST /mcp".to_owned(), (401, "{}".to_owned()));
    });
    let browser = rig.browser();
    let page = rig.sign_in(&browser, "/connect/crm", "<b>eve</b>").await;
    let shown = text(&page.body);
    assert_eq!(page.status, 200, "{shown}");
    assert!(shown.contains("&lt;img/src=x"), "{shown}");
    assert!(
        !shown.contains("<img") && !shown.contains("<b>eve"),
        "{shown}"
    );
    let policy = page.header("content-security-policy").expect("a policy");
    for part in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "form-action 'self'",
        "base-uri 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(
        !policy.contains("script-src") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn a_page_sends_the_browser_nowhere_but_to_the_issuer_and_back() {
    let rig = ConnectRig::start().await;
    let browser = rig.browser();
    for query in [
        "for=//evil.example",
        "for=https://evil.example/",
        "for=x%0d%0aLocation:%20https://evil.example",
        "return_to=https://evil.example",
    ] {
        let page = format!("/connect/crm?{query}");
        let sent = browser.get(&page).await;
        let location = sent.header("location").expect("an address").to_owned();
        assert!(
            location.starts_with(&format!("{}/authorize?", rig.issuer.url)),
            "{location}"
        );
        let redirect = "redirect_uri=https%3A%2F%2Ftools.example.com%2Flogin%2Fcallback&";
        assert!(location.contains(redirect), "{location}");
        let query = rig.issuer.approve(&location, &rig.key, &json!({}));
        let back = browser.get(&format!("/login/callback?{query}")).await;
        assert_eq!(back.header("location"), Some("/connect/crm"));
        browser.cookies.borrow_mut().clear();
    }
    for path in [
        "/connect/",
        "/connect/a/b",
        "/connect//evil.example",
        "/connect/..%2Fx",
    ] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    assert_eq!(browser.get("/connect/crm?issuer=other").await.status, 404);
    // An authorization server that names a script, or another scheme, gets no browser.
    rig.server.change(|it| {
        it.metadata = json!({"authorization_endpoint": "javascript:alert(1)"});
    });
    let page = rig.sign_in(&browser, "/connect/crm", "ada").await;
    assert_eq!(page.status, 502, "{}", text(&page.body));
}

#[tokio::test]
async fn whether_there_is_a_server_is_not_told_to_strangers() {
    let rig = ConnectRig::start().await;
    let browser = rig.browser();
    for path in ["/connect/crm", "/connect/other"] {
        assert_eq!(browser.get(path).await.status, 303, "{path}");
        let document = path.replace("/connect/", "/oauth/client/") + ".json";
        let answer = browser.get(&document).await;
        assert_eq!(answer.status, 200, "{document}");
        let redirect = format!("{PUBLIC_URL}{path}/callback");
        assert!(text(&answer.body).contains(&redirect), "{document}");
    }
    let page = rig.sign_in(&browser, "/connect/other", "ada").await;
    assert_eq!(page.status, 404);
    let without = Rig::over(Vec::new()).await;
    for path in ["/connect/crm", "/login/callback"] {
        let answer = without.stranger(path).send("GET", b"").await;
        assert_eq!(answer.expect("an answer").status, 404, "{path}");
    }
}

/// A proxy sends a browser to another gateway than the one where its login began, which knows nothing about it.
#[tokio::test]
async fn a_browser_that_comes_back_to_another_gateway_begins_again() {
    let rig = ConnectRig::start().await;
    let other = rig.beside().await;
    let link = rig.link("ada").await;
    let browser = rig.browser();
    let query = rig.approve(&browser, &link, "ada").await;
    let callback = format!("/login/callback?{query}");
    let lost = browser.moved_to(&other).get(&callback).await;
    assert_eq!((lost.status, beginning(&lost)), (400, link.clone()));
    let asked = rig.issuer.requests();
    let is_token = |it: &String| it.starts_with("POST /token");
    assert!(!asked.iter().any(is_token), "{asked:?}");
    // Where it began, it goes on.
    assert_eq!(browser.get(&callback).await.status, 303);
    let page = browser.get(&link).await;
    let form = format!("csrf={}", csrf(&page));
    let lost = browser.moved_to(&other).post(&link, &form).await;
    assert_eq!((lost.status, beginning(&lost)), (403, link.clone()));
    let query = rig.agree(&browser, &link, &page).await;
    let callback = format!("/connect/crm/callback?{query}");
    let before = rig.server.count("authorization_code");
    let lost = browser.moved_to(&other).get(&callback).await;
    assert_eq!((lost.status, beginning(&lost)), (403, link.clone()));
    // Also if the user has signed in there, in another window.
    let there = browser.moved_to(&other);
    rig.sign_in(&there, &link, "ada").await;
    let lost = there.get(&callback).await;
    assert_eq!((lost.status, beginning(&lost)), (400, link.clone()));
    assert_eq!(rig.server.count("authorization_code"), before);
    assert!(!rig.is_connected("ada").await);
    assert_eq!(browser.get(&callback).await.status, 200);
    assert!(rig.is_connected("ada").await);
    // The link leads to a login that can be completed.
    let page = there.get(&beginning(&lost)).await;
    let query = rig.agree(&there, &link, &page).await;
    let done = there.get(&format!("/connect/crm/callback?{query}")).await;
    assert_eq!(done.status, 200, "{}", text(&done.body));
}

/// The scopes of one refusal are asked for once: a server that misses them all the same refuses the call like any other.
#[tokio::test]
async fn a_user_is_asked_for_scopes_that_the_server_misses_and_only_once() {
    let rig = ConnectRig::start().await;
    let browser = rig.browser();
    let connect = async |link: &str, page: Response| {
        let query = rig.agree(&browser, link, &page).await;
        let done = browser.get(&format!("/connect/crm/callback?{query}")).await;
        assert_eq!(done.status, 200, "{}", text(&done.body));
    };
    let link = rig.link("ada").await;
    let page = rig.sign_in(&browser, &link, "ada").await;
    connect(&link, page).await;
    assert!(rig.is_connected("ada").await);
    for scopes in [&["write"][..], &["write", "admin"]] {
        rig.server
            .change(|it| it.needs_scope = scopes.last().copied());
        let link = rig.link("ada").await;
        let page = browser.get(&link).await;
        let shown = text(&page.body);
        for scope in scopes.iter().chain(&["use"]) {
            assert!(shown.contains(&format!("<code>{scope}</code>")), "{shown}");
        }
        connect(&link, page).await;
        assert!(rig.is_connected("ada").await, "{scopes:?}");
    }
    rig.server.change(|it| it.misses_granted_scope = true);
    for _ in 0..2 {
        let refused = rig.call("ada", "").await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(!refused.to_string().contains("/connect/"), "{refused}");
    }
    // The server has seen those calls, each once; the tokens of other users are not concerned.
    assert_eq!(rig.tokens("ada").len(), 7);
    assert_eq!(
        rig.link("bob").await.split('?').next(),
        Some("/connect/crm")
    );
}

/// The page is opened at another gateway than the one whose call was refused, and asks for the same scopes.
#[tokio::test]
async fn scopes_that_a_server_misses_are_asked_for_at_every_gateway() {
    let rig = ConnectRig::start().await;
    let other = rig.beside().await;
    let browser = rig.browser().moved_to(&other);
    let link = rig.link("ada").await;
    let page = rig.sign_in(&browser, &link, "ada").await;
    let query = rig.agree(&browser, &link, &page).await;
    let callback = |query: &str| format!("/connect/crm/callback?{query}");
    assert_eq!(browser.get(&callback(&query)).await.status, 200);
    assert!(rig.is_connected("ada").await);
    for (scope, scopes) in [("write", "use write"), ("admin", "use admin write")] {
        rig.server.change(|it| it.needs_scope = Some(scope));
        let link = rig.link("ada").await;
        let page = browser.get(&link).await;
        let query = rig.agree(&browser, &link, &page).await;
        assert_eq!(browser.get(&callback(&query)).await.status, 200);
        assert!(rig.is_connected("ada").await, "{scope}");
        let status = rig.rig.get("/api/v1/servers/crm/auth?caller=corp%3Aada");
        assert_eq!(status.await["scope"], scopes);
    }
    assert_eq!(rig.server.count("refresh_token"), 0);
}
