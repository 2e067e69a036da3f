//! An authorization server whose tokens are accepted.

use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use super::effective::EffectiveSettings;
use super::keys::Form;
use super::oauth::ResourceParameter;
use super::problem::Problem;
use super::reader::Reader;
use super::rules::check_url;
use super::secret::Secret;
use super::setting::{Keys, Setting, ShownBlock, keys, read_into};

/// Callers of other kinds have these names before the colon.
const RESERVED: [&str; 5] = ["key", "cert", "local", "anonymous", "group"];
const NAMES: &str = "1 to 32 characters of a-z, 0-9, _ and -";
const MAX_NAME: usize = 32;
/// With a larger difference, tokens would be accepted long after their expiry.
const MAX_SKEW: Duration = Duration::from_mins(10);

keys! {
    /// An authorization server whose tokens are accepted.
    #[block("issuer")]
    pub struct Issuer {
        /// The name of this issuer in callers: `corp` in `corp:2482897`. 1 to 32 characters of a-z, 0-9, _ and -, and
        /// not `key`, `cert`, `local`, `anonymous` or `group`.
        #[key(Form::Text, Reload)]
        name: String = String::new(), default "", read read_name;
        /// The issuer's address, exactly as `iss` in its tokens and `issuer` in its metadata have it, with or without a
        /// slash at the end. Its keys are found by its metadata.
        #[key(Form::Text, Reload)]
        issuer: String = String::new(), default "";
        /// Audiences (`aud`) that are accepted beside the address of the endpoint itself, for issuers that do not know
        /// `resource` (RFC 8707).
        #[key(Form::Texts, Reload)]
        audiences: Vec<String> = Vec::new(), read read_audiences;
        /// Where its tokens list the groups of a caller: a JSON pointer such as `/groups` or `/realm_access/roles`.
        /// `null`: callers have no groups.
        #[key(Form::OptionalText, Reload)]
        groups_claim: Option<String> = None, read read_pointer;
        /// By how much its clock may differ from the gateway's. No more than 10 minutes.
        #[key(Form::Duration, Reload)]
        clock_skew: Duration = Duration::from_mins(1), read read_skew;
        /// For issuers whose tokens are opaque: they are asked what a token means.
        #[key(Form::Block(Introspection::BLOCK), Reload)]
        introspection: Introspection = Introspection::default();
        /// How users sign in at the issuer with a browser, at pages of the gateway.
        #[key(Form::Block(IssuerLogin::BLOCK), Reload)]
        login: IssuerLogin = IssuerLogin::default();
        /// Whether the issuer may be at a loopback or private address although its address is a name. Link-local
        /// addresses and metadata services of clouds are never connected to.
        #[key(Form::Flag, Reload)]
        allow_private: bool = false;
    }
}

keys! {
    /// How an issuer is asked about opaque tokens (RFC 7662). Off until `client_id` is set.
    #[block("introspection")]
    pub struct Introspection {
        /// The address that is asked. `null`: `introspection_endpoint` of the issuer's metadata.
        #[key(Form::OptionalText, Reload)]
        endpoint: Option<String> = None, read read_endpoint;
        /// The gateway's own client at the issuer. `null`: opaque tokens are refused.
        #[key(Form::OptionalText, Reload)]
        client_id: Option<String> = None;
        /// The secret of that client; best a reference such as `${env:NAME}`.
        #[key(Form::OptionalText, Reload)]
        client_secret: Option<Secret> = None;
    }
}

keys! {
    /// How users sign in at an issuer with a browser, at pages of the gateway: the console and `/connect/SERVER`. Off until
    /// `client_id` is set. The redirect address of this client is `/login/callback` below `public_url`.
    #[block("login")]
    pub struct IssuerLogin {
        /// The gateway's own client at the issuer. `null`: users cannot sign in with a browser.
        #[key(Form::OptionalText, Reload)]
        client_id: Option<String> = None;
        /// The secret of that client, if it has one; best a reference such as `${env:NAME}`.
        #[key(Form::OptionalText, Reload)]
        client_secret: Option<Secret> = None;
        /// The scopes to ask for. Empty: `auth.scopes`.
        #[key(Form::Texts, Reload)]
        scopes: Vec<String> = Vec::new();
        /// `omit` leaves out the parameter that says which resource a token is for, for issuers that refuse it, such as
        /// Microsoft Entra.
        #[key(Form::Choice(ResourceParameter::WORDS), Reload)]
        resource: ResourceParameter = ResourceParameter::Send;
    }
}

impl Default for IssuerLogin {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl Default for Issuer {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl Default for Introspection {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl Issuer {
    /// An issuer without further settings.
    pub fn new(name: &str, issuer: &str) -> Self {
        Self {
            name: name.to_owned(),
            issuer: issuer.to_owned(),
            ..Self::default()
        }
    }
}

impl Setting for Vec<Issuer> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let nodes: Vec<_> = reader.tape().children(node).collect();
        let mut issuers = Self::with_capacity(nodes.len());
        for node in nodes {
            let mut issuer = Issuer::default();
            issuer.read_keys(reader, node);
            reader.usable(node, check(&issuer, &issuers));
            issuers.push(issuer);
        }
        Some(issuers)
    }

    fn show<'a>(
        &'a self,
        _: Form,
        effective: &'a EffectiveSettings,
    ) -> Option<impl Serialize + 'a> {
        let shown = self.iter().map(|issuer| ShownBlock(issuer, effective));
        Some(shown.collect::<Vec<_>>())
    }
}

/// Checks what takes more than one key of an issuer, or more than one issuer.
fn check(issuer: &Issuer, others: &[Issuer]) -> Result<(), Problem> {
    let Issuer {
        name,
        issuer: url,
        introspection,
        ..
    } = issuer;
    if name.is_empty() || url.is_empty() {
        let hint = "write \"name\": \"corp\", \"issuer\": \"https://id.example.com\"";
        return Err(Problem::new(
            "an issuer needs a \"name\" and an \"issuer\"",
            hint,
        ));
    }
    check_address(url, issuer.allow_private)?;
    if others.iter().any(|other| other.name == *name) {
        let hint = "callers of two issuers must not have the same names; rename one";
        return Err(Problem::new("two issuers have the same name", hint));
    }
    if others.iter().any(|other| other.issuer == *url) {
        let hint = "keep one of them; \"audiences\" can list several";
        return Err(Problem::new("two issuers have the same address", hint));
    }
    let has_more = introspection.endpoint.is_some() || introspection.client_secret.is_some();
    if introspection.client_id.is_none() && has_more {
        let hint = "set \"client_id\" to the gateway's own client at the issuer";
        return Err(Problem::new(
            "\"introspection\" needs a \"client_id\"",
            hint,
        ));
    }
    if issuer.login.client_id.is_none() && issuer.login.client_secret.is_some() {
        let hint = "set \"client_id\" to the gateway's own client at the issuer";
        return Err(Problem::new("\"login\" needs a \"client_id\"", hint));
    }
    match &introspection.endpoint {
        Some(endpoint) => check_address(endpoint, issuer.allow_private),
        None => Ok(()),
    }
}

/// Keys that come over plain http could be anyone's, so that is for this machine and private networks.
fn check_address(url: &str, allow_private: bool) -> Result<(), Problem> {
    check_url(url)?;
    if url.contains('?') {
        let hint = "write it exactly as \"iss\" in the issuer's tokens has it";
        return Err(Problem::new("the address of an issuer has no query", hint));
    }
    if url.starts_with("http://") && !allow_private && !names_private_host(url) {
        let hint =
            "write https://; for an issuer in a private network, set \"allow_private\": true";
        return Err(Problem::new(
            "the issuer's keys would come over plain http",
            hint,
        ));
    }
    Ok(())
}

/// Whether the host is `localhost`, or a loopback or private address.
fn names_private_host(url: &str) -> bool {
    let host = host(url);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// The host of a checked address, without its port.
pub(crate) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn read_name(reader: &mut Reader<'_, '_>, node: u32, name: &mut String) {
    read_into(reader, node, name);
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
        reader.refuse(node, "not a name for an issuer", format!("write {NAMES}"));
    } else if RESERVED.contains(&name.as_str()) {
        let message = "callers of another kind have this name";
        let hint = format!("choose one other than {}", RESERVED.join(", "));
        reader.refuse(node, message, hint);
    }
}

fn read_audiences(reader: &mut Reader<'_, '_>, node: u32, audiences: &mut Vec<String>) {
    read_into(reader, node, audiences);
    if audiences.iter().any(String::is_empty) {
        let hint = "write what \"aud\" in the issuer's tokens has for this gateway";
        reader.refuse(node, "an empty audience", hint);
    }
}

fn read_pointer(reader: &mut Reader<'_, '_>, node: u32, pointer: &mut Option<String>) {
    read_into(reader, node, pointer);
    if pointer.as_ref().is_some_and(|text| !text.starts_with('/')) {
        let hint = "write a JSON pointer, such as \"/groups\" or \"/realm_access/roles\"";
        reader.refuse(node, "not a JSON pointer", hint);
    }
}

fn read_skew(reader: &mut Reader<'_, '_>, node: u32, skew: &mut Duration) {
    read_into(reader, node, skew);
    if *skew > MAX_SKEW {
        let hint = "write \"60s\"; set the clocks if that is not enough";
        reader.refuse(node, "more than 10 minutes", hint);
    }
}

fn read_endpoint(reader: &mut Reader<'_, '_>, node: u32, endpoint: &mut Option<String>) {
    read_into(reader, node, endpoint);
    if let Some(url) = endpoint {
        let checked = check_url(url);
        reader.usable(node, checked);
    }
}
