//! Tokens of an authorization server: which are accepted, what clients are told, and that nothing of them goes further.

mod attacks;
mod introspection;
pub(crate) mod issuer;
mod keys;
mod metadata;
mod scopes;
mod secrecy;

use countersign_config::{Config, Issuer as IssuerConfig};
use countersign_fixture::client::{HttpClient, Response};
use countersign_fixture::http::{self, Format};
use countersign_fixture::{Entry, preset};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::support::{KEY, Rig, logged_http, result, text};
use issuer::{Issuer, SigningKey};

/// What users type; not where the gateway of the test listens.
const PUBLIC_URL: &str = "https://tools.example.com";
const RESOURCE: &str = "https://tools.example.com/mcp/s/x";
const METADATA: &str = "https://tools.example.com/.well-known/oauth-protected-resource/mcp/s/x";

/// A gateway that trusts an issuer, over one server whose log is kept.
struct TokenRig {
    rig: Rig,
    issuer: Issuer,
    key: SigningKey,
    log: UnboundedReceiver<Entry>,
    _server: http::Server,
}

impl TokenRig {
    async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// The same with a changed configuration.
    async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let key = SigningKey::new("one");
        let issuer = Issuer::start(&key).await;
        Self::over(issuer, key, change).await
    }

    async fn over(issuer: Issuer, key: SigningKey, change: impl FnOnce(&mut Config)) -> Self {
        let (server, fixture, log) = logged_http("x", preset::faults(), Format::Json).await;
        let url = issuer.url.clone();
        let rig = Rig::with(vec![server], |config| {
            config.public_url = Some(PUBLIC_URL.to_owned());
            config.auth.issuers = vec![IssuerConfig::new("corp", &url)];
            config.auth.issuers[0].groups_claim = Some("/groups".to_owned());
            change(config);
        })
        .await;
        Self {
            rig,
            issuer,
            key,
            log,
            _server: fixture,
        }
    }

    /// A good token for `/mcp/s/x`.
    fn token(&self) -> String {
        self.key.sign(&self.issuer.claims(RESOURCE))
    }

    /// A token for `/mcp/s/x` with these claims instead of the good ones; `null` removes one.
    fn token_with(&self, changes: &Value) -> String {
        let mut claims = self.issuer.claims(RESOURCE);
        for (name, value) in changes.as_object().expect("an object") {
            claims[name] = value.clone();
            if value.is_null() {
                claims.as_object_mut().expect("an object").remove(name);
            }
        }
        self.key.sign(&claims)
    }

    fn client(&self, path: &str, token: &str) -> HttpClient {
        let bearer = format!("Bearer {token}");
        self.rig
            .stranger(path)
            .with_header("Authorization", &bearer)
    }

    /// Calls the tool `ok` with a token.
    async fn call(&self, token: &str) -> Response {
        let client = self.client("/mcp/s/x", token);
        client.call("ok", "{}").await.expect("an answer")
    }

    async fn works(&self, token: &str) {
        let answer = self.call(token).await;
        assert_eq!(answer.status, 200, "{}", text(&answer.body));
        assert!(result(&answer).contains(r#""text":"ok""#));
    }

    /// Checks that a token is refused as an invalid one, for this reason.
    async fn refuses(&self, token: &str, reason: &str) {
        let answer = self.call(token).await;
        let body = text(&answer.body);
        assert_eq!(answer.status, 401, "{reason}: {body}");
        let challenge = answer.header("www-authenticate").expect("a challenge");
        let expected = format!(
            r#"Bearer error="invalid_token", resource_metadata="{METADATA}", scope="mcp:use""#
        );
        assert_eq!(challenge, expected, "{reason}");
        assert!(body.contains(reason), "{reason}: {body}");
    }

    /// Checks that no call reached the server.
    fn nothing_forwarded(&mut self) {
        while let Ok(entry) = self.log.try_recv() {
            let message = text(entry.body());
            assert!(!message.contains("tools/call"), "{message}");
        }
    }
}

#[tokio::test]
async fn a_token_opens_the_endpoint_it_is_for() {
    let rig = TokenRig::start().await;
    let token = rig.token();
    rig.works(&token).await;
    // The second time it is remembered.
    rig.works(&token).await;
    for path in ["/mcp", "/mcp/all", "/mcp/s/other"] {
        let answer = rig.client(path, &token).request("ping", "{}").await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 401, "{path}");
    }
    for (path, resource) in [
        ("/mcp", "/mcp"),
        ("/mcp/call", "/mcp/call"),
        ("/mcp/all", "/mcp/all"),
    ] {
        let claims = rig.issuer.claims(&format!("{PUBLIC_URL}{resource}"));
        let client = rig.client(path, &rig.key.sign(&claims));
        let answer = client.request("tools/list", "{}").await.expect("an answer");
        assert_eq!(answer.status, 200, "{path}");
    }
}

#[tokio::test]
async fn records_name_the_caller_of_a_token() {
    let rig = TokenRig::start().await;
    rig.works(&rig.token()).await;
    let record = rig.rig.activity("type=tool_call").await;
    assert_eq!(record["caller"], "corp:2482897", "{record}");
}

#[tokio::test]
async fn an_rsa_key_works_as_well() {
    let key = SigningKey::rsa("rsa");
    let issuer = Issuer::start(&key).await;
    let rig = TokenRig::over(issuer, key, |_| {}).await;
    rig.works(&rig.token()).await;
}

#[tokio::test]
async fn an_audience_of_the_issuer_is_accepted_where_it_is_listed() {
    let rig = TokenRig::with(|config| {
        config.auth.issuers[0].audiences = vec!["6e74172b-be56-4843".to_owned()];
    })
    .await;
    let token = rig.token_with(&serde_json::json!({"aud": "6e74172b-be56-4843"}));
    rig.works(&token).await;
    let answer = rig.client("/mcp", &token).request("ping", "{}").await;
    assert_eq!(answer.expect("an answer").status, 200);
    rig.refuses(
        &rig.token_with(&serde_json::json!({"aud": "6e74172b"})),
        "audience",
    )
    .await;
}

#[tokio::test]
async fn a_token_without_the_scope_is_told_to_ask_for_it() {
    let mut rig = TokenRig::with(|config| {
        config.auth.scopes = vec!["mcp:use".to_owned(), "tools".to_owned()];
        let implied = vec!["mcp:use".to_owned(), "tools".to_owned()];
        config
            .auth
            .scope_implies
            .insert("mcp:all".to_owned(), implied);
    })
    .await;
    for scope in ["", "tools", "mcp:use openid"] {
        let token = rig.token_with(&serde_json::json!({"scope": scope}));
        let answer = rig.call(&token).await;
        let challenge = answer.header("www-authenticate").expect("a challenge");
        let expected = format!(
            r#"Bearer error="insufficient_scope", resource_metadata="{METADATA}", scope="mcp:use tools""#
        );
        assert_eq!(
            (answer.status, challenge),
            (403, expected.as_str()),
            "{scope}"
        );
    }
    rig.nothing_forwarded();
    for scope in ["tools mcp:use", "mcp:all"] {
        rig.works(&rig.token_with(&serde_json::json!({"scope": scope})))
            .await;
    }
}

#[tokio::test]
async fn a_token_opens_nothing_but_mcp_unless_a_group_may() {
    let closed = TokenRig::start().await;
    let token = closed
        .key
        .sign(&closed.issuer.claims(&format!("{PUBLIC_URL}/mcp")));
    for path in ["/api/v1/servers", "/metrics"] {
        let answer = closed.client(path, &token).send("GET", b"").await;
        assert_eq!(answer.expect("an answer").status, 403, "{path}");
    }
    let open = TokenRig::with(|config| {
        config.auth.read_groups = vec!["sales".to_owned()];
    })
    .await;
    let token = open
        .key
        .sign(&open.issuer.claims(&format!("{PUBLIC_URL}/mcp")));
    let read = open
        .client("/api/v1/servers", &token)
        .send("GET", b"")
        .await;
    assert_eq!(read.expect("an answer").status, 200);
    let change = open
        .client("/api/v1/servers/x/restart", &token)
        .send("POST", b"")
        .await;
    assert_eq!(change.expect("an answer").status, 403);
}

#[tokio::test]
async fn keys_work_beside_tokens() {
    let rig = TokenRig::start().await;
    rig.works(KEY).await;
    let answer = rig.rig.client("/mcp/s/x").call("ok", "{}").await;
    assert_eq!(answer.expect("an answer").status, 200);
}

#[tokio::test]
async fn without_a_token_the_challenge_has_no_error() {
    let rig = TokenRig::start().await;
    let expected = format!(r#"Bearer resource_metadata="{METADATA}", scope="mcp:use""#);
    for client in [
        rig.rig.stranger("/mcp/s/x"),
        rig.rig
            .stranger("/mcp/s/x")
            .with_header("X-API-Key", "wrong"),
    ] {
        let answer = client.call("ok", "{}").await.expect("an answer");
        let challenge = answer.header("www-authenticate");
        assert_eq!((answer.status, challenge), (401, Some(expected.as_str())));
    }
}

#[tokio::test]
async fn without_issuers_a_token_is_an_unknown_key() {
    let rig = TokenRig::with(|config| config.auth.issuers.clear()).await;
    let answer = rig.call(&rig.token()).await;
    let challenge = answer.header("www-authenticate");
    assert_eq!(
        (answer.status, challenge),
        (401, Some("Bearer realm=\"countersign\""))
    );
    assert_eq!(rig.issuer.requests(), Vec::<String>::new());
}
