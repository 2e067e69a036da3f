//! An authorization server for tests: a real listener that serves metadata, keys and introspection, and the tokens it signs.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use countersign_dial::{Budget, gather, lock};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, LOCATION};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::text;

/// Made for tests; it guards nothing.
const RSA_PEM: &str = include_str!("../../../../token/tests/token/keys/rsa.pem");

/// How the server answers a request for its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeysAnswer {
    /// With its keys.
    Keys,
    /// With this status and body; a redirect goes to the body.
    Other(u16, String),
    /// Never.
    Silence,
}

/// The server. Its port is closed when it is dropped.
pub(crate) struct Issuer {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    task: tokio::task::JoinHandle<()>,
}

struct State {
    keys: Vec<Value>,
    answer: KeysAnswer,
    introspection: Value,
    requests: Vec<String>,
    /// The logins of browsers: a code, the hash of its verifier, and the token.
    logins: HashMap<String, (String, String)>,
}

impl Issuer {
    /// A server with one key, `one`.
    pub(crate) async fn start(key: &SigningKey) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State {
            keys: vec![key.jwk()],
            answer: KeysAnswer::Keys,
            introspection: json!({"active": false}),
            requests: Vec::new(),
            logins: HashMap::new(),
        }));
        let (shared, base) = (Arc::clone(&state), url.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (state, base) = (Arc::clone(&shared), base.clone());
                let service = service_fn(move |request| {
                    let (state, base) = (Arc::clone(&state), base.clone());
                    async move { Ok::<_, Infallible>(respond(&state, &base, request).await) }
                });
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move { drop(served.await) });
            }
        });
        Self { url, state, task }
    }

    /// Publishes these keys, and no others.
    pub(crate) fn publish(&self, keys: &[&SigningKey]) {
        lock(&self.state).keys = keys.iter().map(|key| key.jwk()).collect();
    }

    pub(crate) fn answer(&self, answer: KeysAnswer) {
        lock(&self.state).answer = answer;
    }

    /// What the server says about every opaque token.
    pub(crate) fn explain(&self, answer: Value) {
        lock(&self.state).introspection = answer;
    }

    /// Method, path, credentials and body of every request so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        lock(&self.state).requests.clone()
    }

    /// How often the keys were fetched.
    pub(crate) fn key_fetches(&self) -> usize {
        let requests = self.requests();
        requests
            .iter()
            .filter(|it| it.starts_with("GET /keys"))
            .count()
    }

    /// How often a token was asked about.
    pub(crate) fn questions(&self) -> usize {
        let requests = self.requests();
        requests
            .iter()
            .filter(|it| it.starts_with("POST /introspect"))
            .count()
    }

    /// What a user's browser does: the user logs in, and the browser comes back with this query. The token that its code is
    /// worth is signed with this key, with these claims instead of the good ones.
    pub(crate) fn approve(&self, url: &str, key: &SigningKey, changes: &Value) -> String {
        let (address, query) = url.split_once('?').expect("a query");
        assert_eq!(address, format!("{}/authorize", self.url));
        let asked: HashMap<String, String> = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        assert_eq!(asked["code_challenge_method"], "S256");
        let mut claims = self.claims(&asked["resource"]);
        for (name, value) in changes.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        let mut state = lock(&self.state);
        let code = format!("code-{}", state.logins.len());
        let login = (asked["code_challenge"].clone(), key.sign(&claims));
        state.logins.insert(code.clone(), login);
        let mut answer = form_urlencoded::Serializer::new(String::new());
        answer
            .append_pair("code", &code)
            .append_pair("state", &asked["state"])
            .append_pair("iss", &self.url);
        answer.finish()
    }

    /// Claims of a good token for a resource.
    pub(crate) fn claims(&self, resource: &str) -> Value {
        let now = now();
        json!({
            "iss": self.url, "sub": "2482897", "aud": resource, "exp": now + 300, "iat": now,
            "scope": "mcp:use", "groups": ["sales"],
        })
    }
}

impl State {
    /// The token for a code, once, to the client that knows the verifier.
    fn redeem(&mut self, body: &str) -> (KeysAnswer, Value) {
        let fields: HashMap<String, String> = form_urlencoded::parse(body.as_bytes())
            .into_owned()
            .collect();
        let refused = KeysAnswer::Other(400, r#"{"error":"invalid_grant"}"#.to_owned());
        let Some((challenge, token)) = self.logins.remove(&fields["code"]) else {
            return (refused, Value::Null);
        };
        if encode(Sha256::digest(&fields["code_verifier"])) != challenge {
            return (refused, Value::Null);
        }
        let granted = json!({"access_token": token, "token_type": "Bearer", "expires_in": 300});
        (KeysAnswer::Keys, granted)
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_secs()
}

async fn respond(
    state: &Mutex<State>,
    base: &str,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    let credentials = request.headers().get(AUTHORIZATION).cloned();
    let head = format!("{} {}", request.method(), request.uri());
    let body = gather(request.into_body(), 1 << 20, &Budget::new(1 << 20)).await;
    let body = text(&body.unwrap_or_default());
    let line = format!("{head} {credentials:?} {body}");
    let (answer, document) = {
        let mut state = lock(state);
        state.requests.push(line);
        match path.as_str() {
            "/.well-known/oauth-authorization-server" => {
                let metadata = json!({
                    "issuer": base, "jwks_uri": format!("{base}/keys"),
                    "introspection_endpoint": format!("{base}/introspect"),
                    "authorization_endpoint": format!("{base}/authorize"),
                    "token_endpoint": format!("{base}/token"),
                    "code_challenge_methods_supported": ["S256"],
                    "authorization_response_iss_parameter_supported": true,
                });
                (KeysAnswer::Keys, metadata)
            }
            "/keys" => (state.answer.clone(), json!({"keys": state.keys})),
            "/introspect" => (KeysAnswer::Keys, state.introspection.clone()),
            "/token" => state.redeem(&body),
            _ => (KeysAnswer::Other(404, String::new()), Value::Null),
        }
    };
    let (status, body) = match answer {
        KeysAnswer::Keys => (200, document.to_string()),
        KeysAnswer::Other(status, body) => (status, body),
        KeysAnswer::Silence => std::future::pending().await,
    };
    let mut response = Response::builder().status(status);
    if (300..400).contains(&status) {
        response = response.header(LOCATION, &body);
    }
    response.body(Full::from(body)).expect("a response")
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key of the issuer.
pub(crate) struct SigningKey {
    pub(crate) id: String,
    pair: Pair,
}

enum Pair {
    Ecdsa(Box<EcdsaKeyPair>),
    Rsa(Box<RsaKeyPair>),
}

impl SigningKey {
    /// A new key for ES256.
    pub(crate) fn new(id: &str) -> Self {
        let random = SystemRandom::new();
        let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let key = EcdsaKeyPair::generate_pkcs8(curve, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(curve, key.as_ref(), &random).expect("a key");
        Self {
            id: id.to_owned(),
            pair: Pair::Ecdsa(Box::new(pair)),
        }
    }

    /// The key for RS256.
    pub(crate) fn rsa(id: &str) -> Self {
        let body: String = RSA_PEM
            .lines()
            .filter(|line| !line.starts_with('-'))
            .collect();
        let key = STANDARD.decode(body).expect("base64");
        let pair = RsaKeyPair::from_pkcs8(&key).expect("a key");
        Self {
            id: id.to_owned(),
            pair: Pair::Rsa(Box::new(pair)),
        }
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Ecdsa(_) => "ES256",
            Pair::Rsa(_) => "RS256",
        }
    }

    /// The modulus of an RSA key.
    pub(crate) fn modulus(&self) -> Vec<u8> {
        match &self.pair {
            Pair::Rsa(pair) => PublicKeyComponents::<Vec<u8>>::from(pair.public()).n,
            Pair::Ecdsa(_) => Vec::new(),
        }
    }

    fn jwk(&self) -> Value {
        match &self.pair {
            Pair::Ecdsa(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y), "kid": self.id})
            }
            Pair::Rsa(pair) => {
                let PublicKeyComponents::<Vec<u8>> { n, e } = pair.public().into();
                json!({"kty": "RSA", "n": encode(n), "e": encode(e), "kid": self.id})
            }
        }
    }

    /// A token with these claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": self.algorithm(), "kid": self.id, "typ": "at+jwt"});
        self.sign_text(&header.to_string(), &claims.to_string())
    }

    /// A token with this header and these claims, as they are.
    pub(crate) fn sign_text(&self, header: &str, claims: &str) -> String {
        let message = format!("{}.{}", encode(header), encode(claims));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Ecdsa(pair) => {
                let signature = pair.sign(&random, message.as_bytes());
                signature.expect("a signature").as_ref().to_vec()
            }
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let (message, space) = (message.as_bytes(), &mut signature);
                pair.sign(&RSA_PKCS1_SHA256, &random, message, space)
                    .expect("a signature");
                signature
            }
        };
        format!("{message}.{}", encode(signature))
    }
}
