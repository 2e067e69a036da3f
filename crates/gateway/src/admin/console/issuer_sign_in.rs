//! Signing in at an issuer, with a browser. The session keeps the token that the issuer gave, and each request is let in as a
//! request over REST with that token would be: the session ends with the token, its issuer or the right to read.

use std::sync::Arc;

use countersign_console::{Entrance, Next, Text};
use hyper::{HeaderMap, Response, StatusCode};

use super::sign_in::{NO_RANDOMNESS, open_session};
use super::visit::role;
use super::{SIGN_IN, protected};
use crate::admin::issuer_login::{self, BrowserCookies, entrance};
use crate::events;
use crate::path::reply::Body;
use crate::services::{Services, SessionCredential, SignedIn};
use crate::state::guard::AccessRefusal;
use crate::state::{Caller, Right, Snapshot};

/// Sends the browser to the issuer of this name.
pub(super) async fn begin(
    services: &Services,
    snapshot: &Snapshot,
    headers: &HeaderMap,
    name: &str,
) -> Response<Body> {
    let rules = snapshot.settings.tokens.as_ref();
    let issuer = rules.and_then(|rules| Some((rules, rules.login_issuer(Some(name))?)));
    let Some((rules, issuer)) = issuer else {
        let text = "There is no issuer of this name to sign in at.";
        let page = not_signed_in(Text::new(text));
        return entrance(StatusCode::NOT_FOUND, &page);
    };
    let cookies = BrowserCookies::new(rules, headers);
    let pages = (SIGN_IN, "/console".to_owned());
    let begun = issuer_login::begin(&cookies, services, issuer, pages).await;
    begun.unwrap_or_else(|error| issuer_login::failed(&error, Next::SignIn))
}

/// The browser comes back from the issuer: its user gets a session. The page goes on by itself, and not by a redirect: the
/// request for this page was begun by another site, and with a redirect of it the browser would not send a `Strict` cookie.
pub(in crate::admin) async fn signed_in(
    services: &Arc<Services>,
    snapshot: &Snapshot,
    headers: &HeaderMap,
    user: SignedIn,
) -> Response<Body> {
    let SignedIn { caller, token, .. } = user;
    if role(&caller).is_none() {
        events::NoRight {}.emit(&services.events);
        services.count_refusal(AccessRefusal::Right(Right::Read));
        return protected(entrance(StatusCode::FORBIDDEN, &without_right(&caller)));
    }
    let credential = SessionCredential::Token {
        caller: Arc::clone(&caller.name),
        token,
    };
    let cookie = open_session(services, snapshot, headers, (&caller, credential)).await;
    let Some((name, value)) = cookie else {
        let page = not_signed_in(Text::new(NO_RANDOMNESS));
        return protected(entrance(StatusCode::SERVICE_UNAVAILABLE, &page));
    };
    let page = Entrance {
        title: "Signed in",
        text: Text::new(format!("You have signed in as {}.", caller.name)),
        next: Next::Console,
    };
    let mut response = protected(entrance(StatusCode::OK, &page));
    response.headers_mut().append(name, value);
    response
}

/// Says what a user lacks.
fn without_right(caller: &Caller) -> Entrance {
    let why = if caller.groups.is_empty() {
        "its token names no groups. groups_claim of the issuer says where tokens have them"
    } else {
        "none of its groups is in auth.read_groups or auth.manage_groups of the configuration"
    };
    let name = &caller.name;
    let text = format!(
        "You have signed in as {name}. This caller does not have the right to read, which the console needs: {why}. Ask an operator of this gateway for it, or sign in with a key."
    );
    not_signed_in(Text::new(text))
}

fn not_signed_in(text: Text) -> Entrance {
    Entrance {
        title: "Not signed in",
        text,
        next: Next::SignIn,
    }
}
