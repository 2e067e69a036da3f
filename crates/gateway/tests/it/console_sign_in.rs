//! Signing in to the console at an issuer: who gets a session, with which rights, and in which browser.

use std::cell::RefCell;
use std::collections::BTreeMap;

use countersign_config::Issuer as IssuerConfig;
use countersign_fixture::client::Response;
use serde_json::{Value, json};

use crate::console::Browser;
use crate::support::{ADMIN_KEY, Rig, WAIT, preset, strict, text};
use crate::tokens::issuer::{Issuer, SigningKey, now};

const PUBLIC_URL: &str = "https://tools.example.com";
const SESSION: &str = "countersign_console";

/// A gateway whose console opens to users of an issuer.
struct LoginRig {
    rig: Rig,
    issuer: Issuer,
    key: SigningKey,
}

impl LoginRig {
    async fn start() -> Self {
        let key = SigningKey::new("one");
        let issuer = Issuer::start(&key).await;
        let url = issuer.url.clone();
        let rig = Rig::with(vec![strict(preset("x", "demo"))], |config| {
            config.public_url = Some(PUBLIC_URL.to_owned());
            let mut with_login = IssuerConfig::new("corp", &url);
            with_login.login.client_id = Some("the-gateway".to_owned());
            with_login.groups_claim = Some("/groups".to_owned());
            with_login.clock_skew = std::time::Duration::ZERO;
            let without_login = IssuerConfig::new("partner", "http://127.0.0.1:9");
            config.auth.issuers = vec![with_login, without_login];
            config.auth.read_groups = vec!["watch".to_owned()];
            config.auth.manage_groups = vec!["ops".to_owned()];
        })
        .await;
        Self { rig, issuer, key }
    }

    /// The callback that a browser comes back with after its user has signed in.
    async fn approve(&self, browser: &LoginBrowser<'_>, claims: &Value) -> String {
        browser.approve(&self.issuer, &self.key, claims).await
    }

    async fn sign_in(&self, browser: &LoginBrowser<'_>, claims: &Value) -> Response {
        browser.sign_in(&self.issuer, &self.key, claims).await
    }
}

/// A browser that keeps cookies by their rules: one that is `Strict` is not sent with a request that another site has begun.
pub(crate) struct LoginBrowser<'a> {
    rig: &'a Rig,
    cookies: RefCell<BTreeMap<String, (String, String)>>,
}

impl<'a> LoginBrowser<'a> {
    pub(crate) fn new(rig: &'a Rig) -> Self {
        Self {
            rig,
            cookies: RefCell::default(),
        }
    }

    /// A request that a page of the gateway, or the user, has begun.
    async fn get(&self, path: &str) -> Response {
        self.send("GET", path, false).await
    }

    /// A request that the issuer has begun.
    pub(crate) async fn come_back(&self, path: &str) -> Response {
        self.send("GET", path, true).await
    }

    async fn send(&self, method: &str, path: &str, is_cross_site: bool) -> Response {
        let sent: Vec<String> = {
            let cookies = self.cookies.borrow();
            let fits = |rules: &str| {
                let is_held_back = is_cross_site && rules.contains("SameSite=Strict");
                let is_below = rules.contains("Path=/;") || path.starts_with("/console");
                !is_held_back && is_below
            };
            let fitting = cookies.iter().filter(|(_, (_, rules))| fits(rules));
            fitting
                .map(|(name, (value, _))| format!("{name}={value}"))
                .collect()
        };
        let mut client = self.rig.stranger(path);
        if !sent.is_empty() {
            client = client.with_header("Cookie", &sent.join("; "));
        }
        let answer = client.send(method, b"").await.expect("an answer");
        let mut cookies = self.cookies.borrow_mut();
        for (name, value) in &answer.headers {
            if !name.eq_ignore_ascii_case("set-cookie") {
                continue;
            }
            let (pair, rules) = value.split_once(';').expect("attributes");
            let (name, value) = pair.split_once('=').expect("a cookie");
            assert!(rules.contains("; HttpOnly;") || rules.starts_with(" HttpOnly;"));
            if rules.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), (value.to_owned(), rules.to_owned()));
            }
        }
        drop(cookies);
        answer
    }

    /// Begins a login, which the user completes at the issuer with a token of these claims. Gives the address of the callback.
    pub(crate) async fn approve(
        &self,
        issuer: &Issuer,
        key: &SigningKey,
        claims: &Value,
    ) -> String {
        let sent = self.get("/console/sign-in/corp").await;
        assert_eq!(sent.status, 303, "{}", text(&sent.body));
        let location = sent.header("location").expect("an address");
        let query = issuer.approve(location, key, claims);
        format!("/login/callback?{query}")
    }

    /// Signs a user in. Gives the page that the browser gets at the callback.
    pub(crate) async fn sign_in(
        &self,
        issuer: &Issuer,
        key: &SigningKey,
        claims: &Value,
    ) -> Response {
        let callback = self.approve(issuer, key, claims).await;
        self.come_back(&callback).await
    }

    /// The cookie of the session with its rules, if the browser has one.
    fn session_cookie(&self) -> Option<(String, String)> {
        self.cookies.borrow().get(SESSION).cloned()
    }

    /// The browser in its session.
    pub(crate) fn session(&self) -> Browser<'a> {
        let (id, _) = self.session_cookie().expect("a session");
        Browser {
            rig: self.rig,
            cookie: format!("{SESSION}={id}"),
        }
    }
}

pub(crate) fn user(name: &str, groups: &[&str]) -> Value {
    json!({"sub": name, "groups": groups})
}

#[tokio::test]
async fn a_reader_signs_in_at_the_issuer_reads_and_signs_out() {
    let login = LoginRig::start().await;
    let browser = LoginBrowser::new(&login.rig);
    let form = text(&browser.get("/console/sign-in").await.body);
    assert!(
        form.contains("href=\"/console/sign-in/corp\">Sign in at corp</a>"),
        "{form}"
    );
    assert!(
        form.contains("name=\"key\"") && !form.contains("partner"),
        "{form}"
    );
    let page = login.sign_in(&browser, &user("ada", &["watch"])).await;
    let shown = text(&page.body);
    assert_eq!(page.status, 200, "{shown}");
    assert!(shown.contains("signed in as corp:ada"), "{shown}");
    // Not a redirect: the browser would not send the new cookie with it.
    assert!(
        shown.contains("<meta http-equiv=\"refresh\" content=\"0;url=/console\">"),
        "{shown}"
    );
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    let (_, rules) = browser.session_cookie().expect("a session");
    for rule in ["HttpOnly", "SameSite=Strict", "Path=/console", "; Secure"] {
        assert!(rules.contains(rule), "{rules}");
    }
    assert_eq!(browser.cookies.borrow().len(), 1, "the login is used up");
    let overview = browser.get("/console").await;
    assert!(text(&overview.body).contains("corp:ada, viewer"));
    assert_eq!(browser.get("/console/sign-in/corp").await.status, 303);
    let session = browser.session();
    let refused = session
        .submit("/console/policy/mode", "server=x&mode=off")
        .await;
    assert_eq!(refused.status, 403);
    assert!(text(&refused.body).contains("auth.manage_groups"));
    session.submit("/console/sign-out", "").await;
    assert_eq!(session.get("/console").await.status, 303);
    let records = login.rig.activities("type=login").await;
    let told = records.iter().map(|it| (&it["caller"], &it["reason"]));
    let told: Vec<_> = told.collect();
    let ada = &json!("corp:ada");
    let (signed_in, signed_out) = (
        json!("signed in to the console"),
        json!("signed out of the console"),
    );
    assert_eq!(told, [(ada, &signed_out), (ada, &signed_in)]);
}

#[tokio::test]
async fn a_user_without_the_right_to_read_is_told_what_is_missing() {
    let login = LoginRig::start().await;
    for (groups, missing) in [
        (&["sales"][..], "auth.read_groups"),
        (&[], "names no groups"),
    ] {
        let browser = LoginBrowser::new(&login.rig);
        let page = login.sign_in(&browser, &user("bob", groups)).await;
        let shown = text(&page.body);
        assert_eq!(page.status, 403, "{shown}");
        assert!(
            shown.contains("corp:bob") && shown.contains("the right to read"),
            "{shown}"
        );
        assert!(shown.contains(missing), "{shown}");
        assert!(!shown.contains("http-equiv"), "{shown}");
        assert!(browser.session_cookie().is_none());
        let page = browser.get("/console").await;
        assert_eq!(page.header("location"), Some("/console/sign-in"));
        assert_eq!(browser.get("/console/sign-in").await.status, 200);
    }
    let refusal = login.rig.activity("type=access_refusal").await;
    assert_eq!(refusal["status"], "rejected");
    assert!(login.rig.activities("type=login").await.is_empty());
}

#[tokio::test]
async fn a_login_is_completed_once_and_in_the_browser_that_began_it() {
    let login = LoginRig::start().await;
    let claims = user("ada", &["ops"]);
    let (browser, other) = (LoginBrowser::new(&login.rig), LoginBrowser::new(&login.rig));
    let callback = login.approve(&browser, &claims).await;
    let foreign = login.approve(&other, &user("mallory", &["ops"])).await;
    let bare = LoginBrowser::new(&login.rig);
    for (visitor, address) in [
        (&bare, &callback),
        (&other, &callback),
        (&browser, &foreign),
    ] {
        let refused = visitor.come_back(address).await;
        assert_eq!(refused.status, 400, "{}", text(&refused.body));
        assert!(visitor.session_cookie().is_none());
    }
    for query in ["", "state=", "state=x&code=y", "code=code-0"] {
        let refused = browser.come_back(&format!("/login/callback?{query}")).await;
        assert_eq!(refused.status, 400, "{query}");
    }
    let asked = login.issuer.requests();
    assert!(
        !asked.iter().any(|it| it.starts_with("POST /token")),
        "{asked:?}"
    );
    assert_eq!(browser.come_back(&callback).await.status, 200);
    let session = browser.session();
    assert!(
        session
            .page("/console")
            .await
            .contains("corp:ada, operator")
    );
    assert_eq!(browser.come_back(&callback).await.status, 400);
    assert_eq!(session.get("/console").await.status, 200);
}

#[tokio::test]
async fn words_of_the_issuer_are_not_shown() {
    let login = LoginRig::start().await;
    let browser = LoginBrowser::new(&login.rig);
    let callback = login.approve(&browser, &user("ada", &["ops"])).await;
    let (_, query) = callback.split_once('?').expect("a query");
    let given = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "code");
    let mut answer = form_urlencoded::Serializer::new(String::new());
    answer
        .extend_pairs(given)
        .append_pair("error", "access_denied")
        .append_pair("error_description", "<b>call 555</b>");
    let refused = format!("/login/callback?{}", answer.finish());
    let page = browser.come_back(&refused).await;
    let shown = text(&page.body);
    assert_eq!(page.status, 502, "{shown}");
    assert!(
        shown.contains("access_denied") && !shown.contains("555"),
        "{shown}"
    );
    assert!(browser.session_cookie().is_none());
    // The login is used up.
    assert_eq!(browser.come_back(&callback).await.status, 400);
}

#[tokio::test]
async fn a_response_or_a_token_that_is_not_the_issuers_opens_nothing() {
    let login = LoginRig::start().await;
    let browser = LoginBrowser::new(&login.rig);
    let callback = login.approve(&browser, &user("ada", &["ops"])).await;
    let encoded: String = form_urlencoded::byte_serialize(login.issuer.url.as_bytes()).collect();
    let mixed = callback.replace(&encoded, "http%3A%2F%2Fevil.example");
    assert_ne!(mixed, callback);
    assert_eq!(browser.come_back(&mixed).await.status, 502);
    for wrong in [
        json!({"aud": "https://other.example/mcp"}),
        json!({"iss": "https://evil.example"}),
        json!({"exp": 1}),
        json!({"sub": "ada\u{202e}"}),
    ] {
        let mut claims = user("ada", &["ops"]);
        for (name, value) in wrong.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        let refused = login.sign_in(&browser, &claims).await;
        assert_eq!(refused.status, 403, "{wrong}: {}", text(&refused.body));
        assert!(browser.session_cookie().is_none(), "{wrong}");
    }
    let other_key = SigningKey::new("one");
    let claims = user("ada", &["ops"]);
    let refused = browser.sign_in(&login.issuer, &other_key, &claims).await;
    assert_eq!(refused.status, 403, "{}", text(&refused.body));
    assert!(browser.session_cookie().is_none());
}

#[tokio::test]
async fn a_session_ends_with_its_token() {
    let login = LoginRig::start().await;
    let browser = LoginBrowser::new(&login.rig);
    // A machine under load may need longer than the first token lives.
    for life in [2, 8, 32] {
        let mut claims = user("ada", &["watch"]);
        claims["exp"] = json!(now() + life);
        login.sign_in(&browser, &claims).await;
        if browser.get("/console").await.status == 200 {
            break;
        }
    }
    let session = browser.session();
    let events = session.at("/console/events");
    let events = events.with_header("Accept", "text/event-stream");
    let mut events = events.open("GET", b"").await.expect("an answer");
    assert_eq!(events.status, 200);
    let ended = async { while let Ok(Some(_)) = events.event().await {} };
    tokio::time::timeout(WAIT, ended).await.expect("an end");
    let page = session.get("/console").await;
    assert_eq!(
        (page.status, page.header("location")),
        (303, Some("/console/sign-in"))
    );
}

#[tokio::test]
async fn a_hostile_name_stays_text() {
    let login = LoginRig::start().await;
    let hostile = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>";
    for groups in [&["watch"][..], &[]] {
        let browser = LoginBrowser::new(&login.rig);
        let page = login.sign_in(&browser, &user(hostile, groups)).await;
        let mut pages = vec![text(&page.body)];
        if browser.session_cookie().is_some() {
            let session = browser.session();
            for path in ["/console", "/console/activity?type=login"] {
                pages.push(session.page(path).await);
            }
        }
        assert_eq!(pages.len(), if groups.is_empty() { 1 } else { 3 });
        for page in pages {
            assert!(page.contains("corp:&lt;script&gt;"), "{page}");
            assert!(
                !page.contains("<script>") && !page.contains("<img"),
                "{page}"
            );
        }
    }
}

#[tokio::test]
async fn a_browser_is_sent_only_to_a_configured_issuer() {
    let login = LoginRig::start().await;
    let browser = LoginBrowser::new(&login.rig);
    for name in ["", "partner", "nothing", "..%2Fx", "corp/x"] {
        let page = browser.get(&format!("/console/sign-in/{name}")).await;
        assert_eq!(page.status, 404, "{name}");
        assert!(page.header("location").is_none());
    }
    let refused = browser.send("POST", "/console/sign-in/corp", false).await;
    assert_eq!(refused.status, 405);
    let sent = browser
        .get("/console/sign-in/corp?return_to=https://evil.example")
        .await;
    let location = sent.header("location").expect("an address");
    let authorize = format!("{}/authorize?", login.issuer.url);
    assert!(
        location.starts_with(&authorize) && !location.contains("evil"),
        "{location}"
    );
    // Keys go on working beside it.
    let operator = Browser::signed_in(&login.rig, ADMIN_KEY).await;
    assert!(operator.page("/console").await.contains("key:operator"));
}

#[tokio::test]
async fn a_gateway_without_issuers_offers_keys_only() {
    let rig = Rig::over(vec![strict(preset("x", "demo"))]).await;
    let browser = LoginBrowser::new(&rig);
    let form = browser.get("/console/sign-in").await;
    assert!(!text(&form.body).contains("Sign in at"));
    assert_eq!(browser.get("/console/sign-in/corp").await.status, 404);
    assert_eq!(browser.get("/login/callback?state=x").await.status, 404);
}
