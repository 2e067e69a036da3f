//! `TokenRules`: which tokens open the gateway, and what clients are told about getting one. Made from `public_url` and
//! `auth`; never from a header of a request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_config::{
    Config, Introspection, Issuer, IssuerLogin, ResourceParameter, is_server_name,
};
use countersign_oauth::{
    Challenge, Client, ClientAuthentication, Reach, ResourceMetadata, Secret, ServerMetadata,
};
use countersign_token as token;

/// The endpoint whose resource stands for every path that is no endpoint.
const MAIN: &str = "/mcp";
/// Where the metadata of resources is, before the path of the endpoint.
pub const METADATA: &str = "/.well-known/oauth-protected-resource";

/// What holds for tokens, if an issuer is configured.
#[derive(Debug)]
pub struct TokenRules {
    /// The issuers whose tokens are accepted.
    pub issuers: Vec<Arc<IssuerRules>>,
    public_url: String,
    /// The scopes that a call needs.
    pub(crate) scopes: Vec<String>,
    scope_implies: BTreeMap<String, Vec<String>>,
    pub(crate) read_groups: Vec<String>,
    pub(crate) manage_groups: Vec<String>,
}

/// What holds for the tokens of one issuer.
#[derive(Debug, PartialEq, Eq)]
pub struct IssuerRules {
    /// The issuer, as its tokens are checked.
    pub issuer: token::Issuer,
    pub(crate) reach: Reach,
    pub(crate) introspection: Option<IntrospectionRules>,
    pub(crate) login: Option<BrowserLoginRules>,
}

/// How users sign in at the issuer with a browser.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BrowserLoginRules {
    client_id: String,
    secret: Option<Secret>,
    pub(crate) scopes: Vec<String>,
    pub(crate) sends_resource: bool,
}

/// How the issuer is asked about opaque tokens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IntrospectionRules {
    /// Where; nothing if the issuer's metadata says it.
    pub(crate) endpoint: Option<String>,
    pub(crate) client_id: String,
    pub(crate) secret: Option<Secret>,
}

impl TokenRules {
    /// The rules of a configuration; none if no token is accepted.
    pub fn from_config(config: &Config) -> Option<Self> {
        let public_url = config.public_url.clone()?;
        let auth = &config.auth;
        if auth.issuers.is_empty() {
            return None;
        }
        let issuers = auth.issuers.iter();
        let issuers = issuers.map(|issuer| Arc::new(IssuerRules::new(issuer, &auth.scopes)));
        Some(Self {
            issuers: issuers.collect(),
            public_url,
            scopes: auth.scopes.clone(),
            scope_implies: auth.scope_implies.clone(),
            read_groups: auth.read_groups.clone(),
            manage_groups: auth.manage_groups.clone(),
        })
    }

    /// The address of the gateway as users know it, without a slash at its end.
    pub fn public_url(&self) -> &str {
        self.public_url.trim_end_matches('/')
    }

    /// An issuer at which users can sign in with a browser: the one of this name, or without a name the first.
    pub fn login_issuer(&self, name: Option<&str>) -> Option<&Arc<IssuerRules>> {
        let mut issuers = self.login_issuers();
        issuers.find(|it| name.is_none_or(|name| it.issuer.name == name))
    }

    /// The issuers at which users can sign in with a browser.
    pub fn login_issuers(&self) -> impl Iterator<Item = &Arc<IssuerRules>> {
        self.issuers.iter().filter(|it| it.login.is_some())
    }

    /// The resource that a token has to be for, to open this path.
    pub fn resource(&self, path: &str) -> String {
        let endpoint = endpoint_path(path).unwrap_or(MAIN);
        format!("{}{endpoint}", self.public_url)
    }

    /// The metadata of the endpoint at this path, as JSON; nothing if no endpoint can be there. Whether the server exists
    /// makes no difference.
    pub fn metadata(&self, path: &str) -> Option<String> {
        let endpoint = endpoint_path(path)?;
        let resource = format!("{}{endpoint}", self.public_url);
        let issuers: Vec<String> = self
            .issuers
            .iter()
            .map(|it| it.issuer.url.clone())
            .collect();
        Some(ResourceMetadata::new(&resource, &issuers, &self.scopes).to_json())
    }

    /// The challenge for a request to this path. `error` is for requests that had a token; `more` are scopes that the
    /// request needs beside those of every call.
    pub fn challenge(&self, path: &str, error: Option<&str>, more: &BTreeSet<String>) -> String {
        let mut scopes = self.scopes.clone();
        scopes.extend(
            more.iter()
                .filter(|scope| !self.scopes.contains(scope))
                .cloned(),
        );
        Challenge {
            resource_metadata: ResourceMetadata::address(&self.resource(path)),
            scope: (!scopes.is_empty()).then(|| scopes.join(" ")),
            error: error.map(str::to_owned),
        }
        .to_header()
    }

    /// Whether a caller of this name would be one of a configured issuer.
    pub fn has_issuer_of(&self, name: &str) -> bool {
        let issuer = name.split_once(':').map(|(issuer, _)| issuer);
        let mut names = self.issuers.iter().map(|rules| &*rules.issuer.name);
        names.any(|name| Some(name) == issuer)
    }

    /// The scopes with those that they stand for. A scope that stands for itself, or for one that stands for it, changes
    /// nothing.
    pub(crate) fn with_implied(&self, scopes: &BTreeSet<String>) -> BTreeSet<String> {
        let mut all = scopes.clone();
        let mut waiting: Vec<&String> = scopes.iter().collect();
        while let Some(scope) = waiting.pop() {
            for implied in self.scope_implies.get(scope).into_iter().flatten() {
                if all.insert(implied.clone()) {
                    waiting.push(implied);
                }
            }
        }
        all
    }
}

impl IssuerRules {
    fn new(config: &Issuer, scopes: &[String]) -> Self {
        let issuer = token::Issuer {
            name: config.name.clone(),
            url: config.issuer.clone(),
            audiences: config.audiences.clone(),
            groups_claim: config.groups_claim.clone(),
            clock_skew: config.clock_skew.as_secs(),
        };
        Self {
            issuer,
            reach: Reach::from_url(&config.issuer, config.allow_private),
            introspection: IntrospectionRules::new(&config.introspection),
            login: BrowserLoginRules::new(&config.login, scopes),
        }
    }
}

impl BrowserLoginRules {
    fn new(config: &IssuerLogin, scopes: &[String]) -> Option<Self> {
        let secret = config.client_secret.as_ref();
        let given = Some(&*config.scopes).filter(|given| !given.is_empty());
        Some(Self {
            client_id: config.client_id.clone()?,
            secret: secret.map(|secret| Secret::new(secret.expose())),
            scopes: given.unwrap_or(scopes).to_vec(),
            sends_resource: config.resource == ResourceParameter::Send,
        })
    }

    /// The gateway's client at the issuer of this metadata.
    pub(crate) fn client(&self, metadata: &ServerMetadata) -> Client {
        match &self.secret {
            Some(secret) => Client::with_secret(&self.client_id, secret.clone(), metadata),
            None => Client::public(&self.client_id),
        }
    }
}

impl IntrospectionRules {
    fn new(config: &Introspection) -> Option<Self> {
        let secret = config.client_secret.as_ref();
        Some(Self {
            endpoint: config.endpoint.clone(),
            client_id: config.client_id.clone()?,
            secret: secret.map(|secret| Secret::new(secret.expose())),
        })
    }

    /// The gateway's client, for an endpoint whose issuer did not say how clients prove who they are.
    pub(crate) fn client(&self) -> Client {
        let authentication = match &self.secret {
            Some(secret) => ClientAuthentication::Basic(secret.clone()),
            None => ClientAuthentication::None,
        };
        Client {
            id: self.client_id.clone(),
            authentication,
        }
    }
}

/// The path, if an endpoint can be there.
fn endpoint_path(path: &str) -> Option<&str> {
    let is_endpoint = match path {
        MAIN | "/mcp/call" | "/mcp/all" => true,
        _ => path.strip_prefix("/mcp/s/").is_some_and(is_server_name),
    };
    is_endpoint.then_some(path)
}

#[cfg(test)]
mod tests {
    use countersign_audit::Timestamp;
    use countersign_config::Environment;

    use super::*;
    use crate::caller::{Caller, Rights};

    fn rules() -> TokenRules {
        let mut config = Config::embedded(&Environment::empty());
        config.public_url = Some("https://tools.example.com".to_owned());
        config.auth.issuers = vec![Issuer::new("corp", "https://id.example.com")];
        let implied = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        config.auth.scope_implies = BTreeMap::from([
            ("all".to_owned(), implied(&["mcp:use", "write"])),
            ("write".to_owned(), implied(&["read", "all"])),
        ]);
        config.auth.read_groups = vec!["watch".to_owned()];
        config.auth.manage_groups = vec!["ops".to_owned()];
        TokenRules::from_config(&config).expect("an issuer")
    }

    fn caller(scopes: &[&str], groups: &[&str]) -> Caller {
        let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        rules().caller(&token::Caller {
            issuer: "corp".to_owned(),
            subject: "7".to_owned(),
            groups: set(groups),
            scopes: set(scopes),
            expires: 5,
        })
    }

    #[test]
    fn scopes_open_mcp_and_groups_the_rest() {
        for (scopes, groups, call, read, manage) in [
            (&["mcp:use"][..], &[][..], true, false, false),
            (&["all"], &[], true, false, false),
            (&["other"], &["watch"], false, true, false),
            (&[], &["ops"], false, true, true),
            (&["mcp:use"], &["others"], true, false, false),
        ] {
            let rights = Rights { call, read, manage };
            assert_eq!(
                caller(scopes, groups).rights,
                rights,
                "{scopes:?} {groups:?}"
            );
        }
        let caller = caller(&["write"], &[]);
        assert_eq!(
            (&*caller.name, caller.expires),
            ("corp:7", Some(Timestamp::from_millis(65_000)))
        );
        let scopes: Vec<_> = caller.scopes.into_iter().flatten().collect();
        assert_eq!(scopes, ["all", "mcp:use", "read", "write"]);
    }

    #[test]
    fn the_resource_is_that_of_the_endpoint() {
        let rules = rules();
        for (path, resource) in [
            ("/mcp", "https://tools.example.com/mcp"),
            ("/mcp/s/x", "https://tools.example.com/mcp/s/x"),
            ("/mcp/all", "https://tools.example.com/mcp/all"),
            ("/mcp/s/../x", "https://tools.example.com/mcp"),
            ("/api/v1/status", "https://tools.example.com/mcp"),
        ] {
            assert_eq!(rules.resource(path), resource, "{path}");
        }
        assert!(rules.metadata("/mcp/other").is_none());
    }

    #[test]
    fn a_challenge_has_all_scopes_once() {
        let more = BTreeSet::from(["crm:write".to_owned(), "mcp:use".to_owned()]);
        assert_eq!(
            rules().challenge("/mcp/s/crm", Some("insufficient_scope"), &more),
            "Bearer error=\"insufficient_scope\", resource_metadata=\"https://tools.example.com/.well-known/oauth-protected-resource/mcp/s/crm\", scope=\"mcp:use crm:write\""
        );
    }
}
