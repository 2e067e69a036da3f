//! How the gateway gets a token for a server: by a login of a user, or by credentials of its own.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use countersign_inspect::word_enum;

use super::foreign_keys;
use super::keys::Form;
use super::problem::Problem;
use super::reader::Reader;
use super::rules::check_url;
use super::secret::Secret;
use super::setting::{SameValue, keys, plain, read_into, read_word};

keys! {
    /// How the gateway gets a token for a server. Only for a server with a `url`; see `docs/guides/oauth-servers.md`.
    #[block("oauth", &foreign_keys::OAUTH)]
    pub struct OAuth {
        /// `authorization_code`: a user logs in once, with `countersign auth login NAME`. `client_credentials`: the gateway
        /// gets tokens with `client_id` and `client_secret` or a private key, without a user.
        #[key(Form::Choice(OAuthGrant::WORDS), Reload)]
        grant: OAuthGrant = OAuthGrant::AuthorizationCode;
        /// Whose token a call is made with: `gateway` is one token for all callers. With `caller`, each caller logs in for its
        /// own calls; the tools are still listed with the gateway's own token.
        #[key(Form::Choice(OAuthCredentials::WORDS), Reload)]
        credentials: OAuthCredentials = OAuthCredentials::Gateway;
        /// The identifier that the authorization server has given this client. Without it the client names the address of
        /// a document about itself, or registers itself, whichever the authorization server supports.
        #[key(Form::Text, Reload)]
        client_id: Option<String> = None;
        /// The secret that belongs to it; best a reference such as `${env:NAME}`.
        #[key(Form::Text, Reload)]
        client_secret: Option<Secret> = None, read read_client_secret;
        /// A private key in place of the secret: the gateway proves with signed assertions who it is (`private_key_jwt`). PEM
        /// (PKCS #8), best a reference such as `${env:NAME}`; there, a line break may be written as `\\n`.
        #[key(Form::Text, Reload)]
        private_key: Option<Secret> = None, read read_client_secret;
        /// A file with that key. It is read for each assertion, so a new key holds at once. A relative path begins at the
        /// folder of the configuration file.
        #[key(Form::Text, Reload)]
        private_key_file: Option<PathBuf> = None;
        /// How assertions are signed. `auto` follows from the key: `ES256`, `ES384`, `EdDSA` or `RS256`.
        #[key(Form::Choice(SigningAlgorithm::WORDS), Reload)]
        signing_algorithm: SigningAlgorithm = SigningAlgorithm::Auto;
        /// The name of the key (`kid`), if the authorization server knows several keys of this client.
        #[key(Form::Text, Reload)]
        key_id: Option<String> = None;
        /// Where a client id metadata document is served for this gateway: an `https://` address with a path. Not set:
        /// `/oauth/client.json` below `public_url`, if that is set.
        #[key(Form::Text, Reload)]
        client_metadata_url: Option<String> = None, read read_metadata_url;
        /// The scopes to ask for. Empty: those that the server asks for.
        #[key(Form::Texts, Reload)]
        scopes: Vec<String> = Vec::new(), read read_scopes;
        /// `omit` leaves out the parameter that says which server a token is for, for authorization servers that refuse it,
        /// such as Microsoft Entra.
        #[key(Form::Choice(ResourceParameter::WORDS), Reload)]
        resource: ResourceParameter = ResourceParameter::Send;
        /// How the client proves who it is at the token endpoint. `auto`: with a private key `private_key_jwt`; with a secret
        /// what the authorization server lists.
        #[key(Form::Choice(TokenAuthMethod::WORDS), Reload)]
        token_endpoint_auth_method: TokenAuthMethod = TokenAuthMethod::Auto;
        /// Whether the authorization server may be at a loopback or private address. Always so if `url` names such an
        /// address. Link-local addresses are never connected to.
        #[key(Form::Flag, Reload)]
        allow_private: bool = false;
    }
}

word_enum! {
    /// How a token is obtained.
    #[derive(Default)]
    pub enum OAuthGrant {
        /// A user logs in.
        #[default]
        AuthorizationCode = "authorization_code",
        /// The gateway has credentials of its own.
        ClientCredentials = "client_credentials",
    }
}

word_enum! {
    /// Whose token a call is made with.
    #[derive(Default)]
    pub enum OAuthCredentials {
        /// One token for all callers.
        #[default]
        Gateway = "gateway",
        /// A token of each caller.
        Caller = "caller",
    }
}

word_enum! {
    /// Whether requests for tokens say which server they are for.
    #[derive(Default)]
    pub enum ResourceParameter {
        /// They do, as MCP asks for.
        #[default]
        Send = "send",
        /// They do not.
        Omit = "omit",
    }
}

word_enum! {
    /// How a client shows its secret.
    #[derive(Default)]
    pub enum TokenAuthMethod {
        /// As the authorization server lists it.
        #[default]
        Auto = "auto",
        /// In a header.
        Basic = "client_secret_basic",
        /// In the form.
        Post = "client_secret_post",
        /// Not at all: it signs an assertion with a private key.
        PrivateKeyJwt = "private_key_jwt",
    }
}

word_enum! {
    /// How a client signs assertions.
    #[derive(Default)]
    pub enum SigningAlgorithm {
        /// As the key is.
        #[default]
        Auto = "auto",
        /// ECDSA over P-256.
        Es256 = "ES256",
        /// ECDSA over P-384.
        Es384 = "ES384",
        /// Ed25519.
        EdDsa = "EdDSA",
        /// RSA with PKCS #1 padding.
        Rs256 = "RS256",
        /// RSA with PSS padding.
        Ps256 = "PS256",
    }
}

plain! {
    OAuthGrant: read_word, OAuthGrant::clone;
    OAuthCredentials: read_word, OAuthCredentials::clone;
    ResourceParameter: read_word, ResourceParameter::clone;
    TokenAuthMethod: read_word, TokenAuthMethod::clone;
    SigningAlgorithm: read_word, SigningAlgorithm::clone;
}

impl Default for OAuth {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl SameValue for OAuth {
    fn is_same(&self, other: &Self) -> bool {
        let words = |it: &Self| {
            let method = it.token_endpoint_auth_method;
            (
                it.grant,
                it.credentials,
                it.resource,
                (method, it.signing_algorithm),
                it.allow_private,
            )
        };
        let texts = |it: &Self| {
            let secret = it.client_secret.as_ref().or(it.private_key.as_ref());
            let secret = secret.map(|secret| secret.expose().to_owned());
            let address = it.client_metadata_url.clone();
            let key = (it.private_key_file.clone(), it.key_id.clone());
            (
                it.client_id.clone(),
                secret,
                address,
                key,
                it.scopes.clone(),
            )
        };
        words(self) == words(other) && texts(self) == texts(other)
    }
}

impl OAuth {
    /// Whether a token that was obtained under the one can be used under the other, secrets included.
    pub fn is_like(&self, other: &Self) -> bool {
        self.is_same(other)
    }

    /// What is wrong with it for a server at this address, whose headers have these names.
    pub(crate) fn check<'h>(
        &self,
        url: &str,
        mut headers: impl Iterator<Item = &'h String>,
    ) -> Result<(), Problem> {
        let refuse = |message: &str, hint: &str| Err(Problem::new(message, hint));
        if headers.any(|name| name.eq_ignore_ascii_case("authorization")) {
            let message = "\"oauth\" and an \"Authorization\" header are both given";
            return refuse(message, "keep one of them");
        }
        if self.credentials == OAuthCredentials::Caller
            && self.grant == OAuthGrant::ClientCredentials
        {
            let message = "\"credentials\": \"caller\" with the grant client_credentials, which knows no callers";
            return refuse(message, "remove one of them");
        }
        self.check_client()?;
        if url.starts_with("http://") && !self.allow_private && !names_private_host(url) {
            let message = "a token would be sent without TLS";
            let hint = "write \"https://\" in \"url\", or set \"allow_private\": true for a host in your own network";
            return refuse(message, hint);
        }
        Ok(())
    }
}

impl OAuth {
    /// Whether assertions are signed with a private key.
    pub fn has_private_key(&self) -> bool {
        self.private_key.is_some() || self.private_key_file.is_some()
    }

    /// Has a relative path begin at this folder.
    pub(crate) fn begin_at(&mut self, folder: &Path) {
        if let Some(path) = &mut self.private_key_file {
            *path = folder.join(&*path);
        }
    }

    /// What is wrong with the client that it names.
    fn check_client(&self) -> Result<(), Problem> {
        let has_key = self.has_private_key();
        let has_secret = self.client_secret.is_some();
        let method = self.token_endpoint_auth_method;
        let is_signed = method == TokenAuthMethod::PrivateKeyJwt;
        let by_itself = self.grant == OAuthGrant::ClientCredentials;
        let (message, hint) = if by_itself && !(has_secret || has_key) {
            (
                "\"client_credentials\" needs a \"client_id\" and a \"client_secret\", or a private key",
                "the authorization server's operator gives them out",
            )
        } else if (by_itself || has_secret || has_key) && self.client_id.is_none() {
            (
                "a \"client_secret\" or a private key without a \"client_id\"",
                "give both, or neither",
            )
        } else if has_secret && has_key
            || self.private_key.is_some() && self.private_key_file.is_some()
        {
            (
                "more than one of \"client_secret\", \"private_key\" and \"private_key_file\"",
                "keep the one that the authorization server knows",
            )
        } else if is_signed && !has_key || has_key && !is_signed && method != TokenAuthMethod::Auto
        {
            (
                "\"token_endpoint_auth_method\" does not fit the client",
                "write \"private_key_jwt\" with a private key, or remove it",
            )
        } else if (self.key_id.is_some() || self.signing_algorithm != SigningAlgorithm::Auto)
            && !has_key
        {
            (
                "\"key_id\" and \"signing_algorithm\" are for a private key",
                "set \"private_key\" or \"private_key_file\" too",
            )
        } else {
            return Ok(());
        };
        Err(Problem::new(message, hint))
    }
}

/// Whether an address names `localhost`, or a loopback or private address.
fn names_private_host(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    match host.parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

fn read_client_secret(reader: &mut Reader<'_, '_>, node: u32, secret: &mut Option<Secret>) {
    *secret = reader.server_secret(node, true);
}

fn read_metadata_url(reader: &mut Reader<'_, '_>, node: u32, url: &mut Option<String>) {
    read_into(reader, node, url);
    let Some(url) = url else { return };
    let rest = url.strip_prefix("https://");
    let has_path = rest.is_some_and(|rest| {
        rest.split_once('/')
            .is_some_and(|(_, path)| !path.is_empty())
    });
    let checked = check_url(url);
    reader.usable(node, checked);
    if !has_path {
        let message = "not an https:// address with a path";
        reader.refuse(node, message, "write \"https://host/oauth/client.json\"");
    }
}

fn read_scopes(reader: &mut Reader<'_, '_>, node: u32, scopes: &mut Vec<String>) {
    read_into(reader, node, scopes);
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    if scopes
        .iter()
        .any(|scope| scope.is_empty() || !scope.bytes().all(fits))
    {
        let message = "a scope has characters that it cannot have";
        reader.refuse(node, message, "write one scope a string, without spaces");
    }
}
