//! The configuration in use, without its secrets; a change of the file; and reading the file again. A refusal lists every
//! mistake and the next step, in the words of `config check`.

use bytes::Bytes;
use countersign_config::ServerChangeError;
use countersign_dial::ReadError;
use hyper::body::Incoming;
use hyper::{Response, StatusCode};
use serde_json::json;

use super::{ApiError, ApiResult, ok};
use crate::config_change::{AppliedConfig, ConfigRefusal, ReloadRequest};
use crate::http::intake::{self, BodyError};
use crate::http::json as respond_json;
use crate::path::reply::Body;
use crate::services::Services;
use crate::state::{Caller, Snapshot};

/// As much as a file may have.
const MAX_BYTES: usize = 4 << 20;

/// The configuration in use.
pub(super) fn show(snapshot: &Snapshot) -> Response<Body> {
    let config = Bytes::from(snapshot.settings.config.show());
    respond_json(StatusCode::OK, config)
}

/// Changes the file by a JSON merge patch, and applies it.
pub(super) async fn patch(services: &Services, caller: &Caller, body: Incoming) -> ApiResult {
    let text = read_text(services, body, "the patch").await?;
    let by = Some(caller.name.to_string());
    let request = ReloadRequest::Patch(text);
    answer(services.reloads.request_by(request, by).await)
}

/// The body of a request that changes something; `what` is its name in messages.
pub(super) async fn read_text(
    services: &Services,
    body: Incoming,
    what: &str,
) -> Result<String, ApiError> {
    let body = intake::read_body(body, MAX_BYTES, &services.intake).await;
    let body = body.map_err(|error| match error {
        BodyError::Unreadable(ReadError::TooLarge) => {
            let message = format!("{what} is too large");
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, &message)
        }
        _ => ApiError::bad_request(format!("{what} is incomplete")),
    })?;
    let text = String::from_utf8(body.into());
    text.map_err(|_| ApiError::bad_request(format!("{what} is not UTF-8")))
}

/// Reads the file again.
pub(super) async fn reread(services: &Services, caller: &Caller) -> ApiResult {
    let by = Some(caller.name.to_string());
    answer(services.reloads.request_by(ReloadRequest::Reread, by).await)
}

/// Revokes the key or certificate of a caller, for every gateway that shares the store.
pub(super) async fn revoke(services: &Services, caller: &Caller, name: &str) -> ApiResult {
    let by = Some(caller.name.to_string());
    let request = ReloadRequest::Revoke(name.to_owned());
    match services.reloads.request_by(request, by).await {
        Ok(_) => ok(&json!({ "caller": name, "revoked": true })),
        Err(refused) => answer(Err(refused)),
    }
}

/// Answers what a change came to.
pub(super) fn answer(outcome: Result<AppliedConfig, ConfigRefusal>) -> ApiResult {
    let refused = match outcome {
        Ok(applied) => return ok(&applied),
        Err(refused) => refused,
    };
    let status = match &refused {
        ConfigRefusal::Config(_) => StatusCode::BAD_REQUEST,
        ConfigRefusal::FileOnly(_) => StatusCode::FORBIDDEN,
        ConfigRefusal::Server(ServerChangeError::Unknown { .. }) | ConfigRefusal::UnknownCaller => {
            StatusCode::NOT_FOUND
        }
        ConfigRefusal::NoFile
        | ConfigRefusal::Base(_)
        | ConfigRefusal::Server(_)
        | ConfigRefusal::NotRunning(_) => StatusCode::CONFLICT,
        ConfigRefusal::Stopping | ConfigRefusal::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        ConfigRefusal::Unwritable(_) | ConfigRefusal::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let errors = refused.notices();
    let first = errors.first();
    let text = json!({
        "error": first.map(|error| &error.message),
        "hint": first.and_then(|error| error.hint.as_ref()),
        "errors": errors,
    });
    Ok(respond_json(status, Bytes::from(text.to_string())))
}
