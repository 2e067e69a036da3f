//! A call that needs a login of its caller, because each caller of the server has a token of its own. What the client is told:
//! where its user can log in, in the way that the client understands.

use std::sync::Arc;

use bytes::Bytes;
use countersign_config::OAuthCredentials;
use countersign_inspect::ClientEra;
use countersign_tape::{Edits, Kind, Span, members};
use countersign_wire::Method;
use countersign_wire::json::{member, path};
use countersign_wire::meta::CLIENT_CAPABILITIES;

use super::call::Call;
use super::route::Route;
use crate::services::{CallerGrant, Services};

/// The key of the gateway's own question among those of a result.
pub(crate) const LOGIN_QUESTION: &str = "countersign_login";
const RESPONSES: &str = "inputResponses";

/// What a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NeededLogin {
    pub(crate) server: Arc<str>,
    pub(crate) caller: Arc<str>,
    /// Tells logins of different callers and servers apart.
    pub(crate) id: String,
    /// The page where the user can log in; nothing if only an operator can do it.
    pub(crate) url: Option<String>,
    pub(crate) asks: Asks,
}

/// How a client can be asked to open a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// By a question in the result.
    InResult,
    /// By an error that names the page.
    ByError,
    /// Not at all: it is told in words.
    InWords,
}

impl NeededLogin {
    pub(crate) fn new(services: &Services, route: &Route, call: &Call) -> Self {
        let (server, caller) = (route.upstream.name(), &call.client.caller.name);
        let id = services.grants.connect_link(server, caller);
        let id = id.unwrap_or_default();
        let url = page_url(route, caller, &id);
        Self {
            server: Arc::clone(server),
            caller: Arc::clone(caller),
            asks: if url.is_some() {
                asks(call)
            } else {
                Asks::InWords
            },
            id,
            url,
        }
    }

    /// What an agent reads, in our own words.
    pub(crate) fn text(&self) -> String {
        let server = &self.server;
        match &self.url {
            Some(url) => format!(
                "the server {server} needs a login of its user; open {url} in a browser, log in there, then make the call again"
            ),
            None => format!(
                "the server {server} needs a login of this caller; an operator can log in with: countersign auth login {server} --caller {}",
                shell_word(&self.caller)
            ),
        }
    }

    /// What a person is shown beside the address.
    pub(crate) fn question(&self) -> String {
        format!("Log in to the server {} to use its tools.", self.server)
    }
}

/// The page of the gateway where this caller can log in: a caller of an issuer at which users can sign in with a browser.
fn page_url(route: &Route, caller: &str, id: &str) -> Option<String> {
    let rules = route.settings.tokens.as_ref()?;
    let (issuer, _) = caller.split_once(':')?;
    rules.login_issuer(Some(issuer))?;
    let (base, server) = (rules.public_url(), route.upstream.name());
    Some(format!("{base}/connect/{server}?for={id}&issuer={issuer}"))
}

fn asks(call: &Call) -> Asks {
    match call.client.era {
        ClientEra::Modern if !opens_pages_by_params(&call.params) => Asks::InWords,
        // The user has been asked already and has not logged in.
        ClientEra::Modern if own_responses(&call.params).next().is_some() => Asks::InWords,
        ClientEra::Modern if may_ask(call.method) => Asks::InResult,
        ClientEra::Modern => Asks::InWords,
        ClientEra::Legacy | ClientEra::Unnegotiated => {
            let session = call.client.session.as_ref();
            let capabilities = session.and_then(|session| session.capabilities());
            match capabilities {
                Some(declared) if opens_pages(declared, Span::whole(declared)) => Asks::ByError,
                _ => Asks::InWords,
            }
        }
    }
}

/// Whether the result of a method can hold questions.
fn may_ask(method: Method) -> bool {
    matches!(
        method,
        Method::CallTool | Method::GetPrompt | Method::ReadResource
    )
}

fn opens_pages_by_params(params: &[u8]) -> bool {
    let declared = path(params, Span::whole(params), &["_meta", CLIENT_CAPABILITIES]);
    declared.is_some_and(|declared| opens_pages(params, declared))
}

/// Whether a client declares that it shows its user addresses to open.
fn opens_pages(bytes: &[u8], capabilities: Span) -> bool {
    let url = path(bytes, capabilities, &["elicitation", "url"]);
    url.is_some_and(|url| url.kind(bytes) == Some(Kind::Object))
}

/// The keys of `inputResponses` members that answer the gateway's own question.
fn own_responses(params: &[u8]) -> impl Iterator<Item = Span> {
    let all = members(params, Span::whole(params));
    all.filter(|(key, value)| {
        key.is_text(params, RESPONSES) && member(params, *value, LOGIN_QUESTION).is_some()
    })
    .map(|(key, _)| key)
}

/// The parameters for the server, which did not ask that question.
pub(crate) fn without_own_responses(params: &Bytes) -> Bytes {
    let mut edits = Edits::new(params);
    for key in own_responses(params) {
        edits.remove_member(Span::whole(params), key);
    }
    if edits.is_empty() {
        return params.clone();
    }
    match edits.apply() {
        Ok(edited) => Bytes::from(edited.to_vec()),
        Err(_) => params.clone(),
    }
}

/// The grant that a call is made with, if each caller of the server has one of its own.
pub(crate) fn caller_grant(services: &Services, route: &Route, call: &Call) -> Option<CallerGrant> {
    let server = route.settings.config.server(route.upstream.name())?;
    let oauth = server.oauth.as_ref()?;
    if oauth.credentials != OAuthCredentials::Caller {
        return None;
    }
    services
        .grants
        .caller_grant(server, &call.client.caller.name)
}

/// A word for a shell: names of issuers' users may hold spaces.
fn shell_word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":._@/+-".contains(&byte);
    if text.bytes().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_opens_pages_only_if_it_says_so() {
        for (capabilities, expected) in [
            (r#"{"elicitation":{"url":{}}}"#, true),
            (r#"{"elicitation":{"url":{},"form":{}}}"#, true),
            (r#"{"elicitation":{}}"#, false),
            (r#"{"elicitation":{"url":true}}"#, false),
            (r#"{"elicitation":{"form":{"url":{}}}}"#, false),
            ("{}", false),
        ] {
            let bytes = capabilities.as_bytes();
            assert_eq!(
                opens_pages(bytes, Span::whole(bytes)),
                expected,
                "{capabilities}"
            );
            let params = format!(r#"{{"_meta":{{"{CLIENT_CAPABILITIES}":{capabilities}}}}}"#);
            assert_eq!(
                opens_pages_by_params(params.as_bytes()),
                expected,
                "{params}"
            );
        }
    }

    #[test]
    fn a_server_does_not_see_the_answer_to_our_question() {
        for (params, sent) in [
            (
                r#"{"name":"t","inputResponses":{"countersign_login":{"action":"accept"}},"arguments":{}}"#,
                r#"{"name":"t","arguments":{}}"#,
            ),
            (
                r#"{"name":"t","inputResponses":{"who":{"action":"accept"}}}"#,
                r#"{"name":"t","inputResponses":{"who":{"action":"accept"}}}"#,
            ),
            (r#"{"name":"t"}"#, r#"{"name":"t"}"#),
        ] {
            let given = Bytes::from(params);
            assert_eq!(without_own_responses(&given), sent);
        }
    }

    #[test]
    fn a_name_is_one_word_of_a_shell() {
        assert_eq!(shell_word("key:ci"), "key:ci");
        assert_eq!(shell_word("corp:a b'c"), r"'corp:a b'\''c'");
    }
}
