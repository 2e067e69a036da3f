//! Logins to servers that need a token. An operator's command begins a login here and sends the user's browser to the
//! authorization server; the gateway completes it. Tokens are never part of an answer.

use countersign_config::Server;
use hyper::StatusCode;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::json;

use super::config::read_text;
use super::logins::record_login;
use super::{ApiError, ApiResult, ok, pairs};
use crate::services::{LoginError, LoginRequest, Redirect, Services, client_document_url};
use crate::state::{Caller, Snapshot};

/// No name of a caller is longer.
const MAX_CALLER: usize = 512;

/// Begins a login.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin {
    redirect_uri: String,
    #[serde(default)]
    scopes: Vec<String>,
    /// The caller that logs in; without it, the gateway itself.
    caller: Option<String>,
}

/// Completes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Complete {
    query: String,
    caller: Option<String>,
}

/// Begins a login and answers with the address for the browser.
pub(super) async fn begin(
    services: &Services,
    snapshot: &Snapshot,
    name: &str,
    body: Incoming,
) -> ApiResult {
    let server = find(snapshot, name)?;
    let begin: Begin = read(services, body).await?;
    let request = LoginRequest {
        redirect: Redirect::Command(begin.redirect_uri),
        scopes: begin.scopes,
        client_document: client_document_url(&snapshot.settings.config),
    };
    let caller = checked_caller(begin.caller.as_deref())?;
    let begun = services.grants.begin_login(server, caller, &request).await;
    let url = begun
        .ok_or_else(|| no_login(caller))?
        .map_err(|error| refused(&error))?;
    ok(&json!({ "server": name, "authorization_url": url }))
}

/// Completes a login with what the browser came back with.
pub(super) async fn complete(
    services: &Services,
    snapshot: &Snapshot,
    caller: &Caller,
    (name, body): (&str, Incoming),
) -> ApiResult {
    let server = find(snapshot, name)?;
    let complete: Complete = read(services, body).await?;
    let owner = checked_caller(complete.caller.as_deref())?;
    let completed = services
        .grants
        .complete_login(server, owner, &complete.query)
        .await;
    completed
        .ok_or_else(|| no_login(owner))?
        .map_err(|error| refused(&error))?;
    tracing::info!(server = name, owner, "logged in to a server");
    let known = services.grants.status(server, owner).await;
    let known = known.and_then(Result::ok);
    let issuer = known.as_ref().and_then(|status| status["issuer"].as_str());
    let issuer = issuer.unwrap_or("an unknown issuer");
    let reason = format!("logged in at {issuer}{}", of_owner(owner));
    record_login(services, &caller.name, Some(name), reason).await;
    show(services, server, owner).await
}

/// What is known about the token of a server.
pub(super) async fn status(
    services: &Services,
    snapshot: &Snapshot,
    name: &str,
    query: &str,
) -> ApiResult {
    let server = find(snapshot, name)?;
    let caller = caller_parameter(query);
    show(services, server, checked_caller(caller.as_deref())?).await
}

async fn show(services: &Services, server: &Server, caller: Option<&str>) -> ApiResult {
    let status = services.grants.status(server, caller).await;
    let status = status.ok_or_else(|| no_token(caller))?;
    ok(&status.map_err(|error| unavailable(&error))?)
}

/// Removes the token of a server.
pub(super) async fn log_out(
    services: &Services,
    snapshot: &Snapshot,
    caller: &Caller,
    (name, query): (&str, &str),
) -> ApiResult {
    let server = find(snapshot, name)?;
    let owner = caller_parameter(query);
    let owner = checked_caller(owner.as_deref())?;
    let removed = services.grants.log_out(server, owner).await;
    let removed = removed.ok_or_else(|| no_token(owner))?;
    let removed = removed.map_err(|error| unavailable(&error))?;
    tracing::info!(server = name, owner, "logged out of a server");
    if removed {
        let reason = format!("logged out{}", of_owner(owner));
        record_login(services, &caller.name, Some(name), reason).await;
    }
    ok(&json!({ "server": name, "removed": removed }))
}

fn find<'s>(snapshot: &'s Snapshot, name: &str) -> Result<&'s Server, ApiError> {
    let server = snapshot.settings.config.server(name);
    server.ok_or_else(|| ApiError::not_found("no such server"))
}

async fn read<T: serde::de::DeserializeOwned>(
    services: &Services,
    body: Incoming,
) -> Result<T, ApiError> {
    let text = read_text(services, body, "the request").await?;
    // The error would repeat parts of the text, which may hold a code.
    serde_json::from_str(&text)
        .map_err(|_| ApiError::bad_request("the request is not the JSON object that is described"))
}

/// For whom, in a record.
pub(super) fn of_owner(owner: Option<&str>) -> String {
    owner.map_or_else(String::new, |owner| format!(" for {owner}"))
}

/// The caller in a query.
fn caller_parameter(query: &str) -> Option<String> {
    let found = pairs(query).find(|(name, _)| name == "caller");
    found.map(|(_, value)| value)
}

/// A name that callers can have, or none. A NUL could make two rows of the store look like one.
fn checked_caller(caller: Option<&str>) -> Result<Option<&str>, ApiError> {
    let fits = |name: &str| {
        !name.is_empty() && name.len() <= MAX_CALLER && !name.chars().any(char::is_control)
    };
    if caller.is_some_and(|caller| !fits(caller)) {
        return Err(ApiError::bad_request("this is not the name of a caller"));
    }
    Ok(caller)
}

fn no_token(caller: Option<&str>) -> ApiError {
    if caller.is_some() {
        return no_caller_grant();
    }
    let message = "this server has no \"oauth\" in the configuration";
    ApiError::new(StatusCode::CONFLICT, message)
}

fn no_caller_grant() -> ApiError {
    let message = "this server has no \"oauth\" with the credentials caller in the configuration";
    ApiError::new(StatusCode::CONFLICT, message)
}

fn no_login(caller: Option<&str>) -> ApiError {
    if caller.is_some() {
        return no_caller_grant();
    }
    let message =
        "this server has no \"oauth\" with the grant authorization_code in the configuration";
    ApiError::new(StatusCode::CONFLICT, message)
}

fn unavailable(error: &dyn std::error::Error) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, &error.to_string())
}

fn refused(error: &LoginError) -> ApiError {
    let status = match error {
        LoginError::RedirectUri | LoginError::UnknownState => StatusCode::BAD_REQUEST,
        LoginError::NoClient => StatusCode::CONFLICT,
        LoginError::OAuth(_) => StatusCode::BAD_GATEWAY,
        LoginError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    ApiError::new(status, &error.to_string())
}
