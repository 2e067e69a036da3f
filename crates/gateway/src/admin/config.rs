//! The configuration in use, without its secrets; a change of the file; and reading the file again. A refusal lists every
//! mistake and the next step, in the words of `config check`.

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Response, StatusCode};
use serde_json::json;

use super::{error, ok};
use crate::config_change::{Applied, Refused, Request};
use crate::http::{intake, json as respond_json};
use crate::path::reply::Body;
use crate::services::Services;
use crate::state::Snapshot;

/// As much as a file may have.
const MAX_BYTES: usize = 4 << 20;

/// The configuration in use.
pub(super) fn show(snapshot: &Snapshot) -> Response<Body> {
    respond_json(
        StatusCode::OK,
        Body::from(Bytes::from(snapshot.settings.config.show())),
    )
}

/// Changes the file by a JSON merge patch, and applies it.
pub(super) async fn patch(services: &Services, body: Incoming) -> Response<Body> {
    let body = match intake::read_body(body, MAX_BYTES, &services.intake).await {
        Ok(body) => body,
        Err(intake::BodyError::TooLarge) => {
            return error(StatusCode::PAYLOAD_TOO_LARGE, "the patch is too large");
        }
        Err(_) => return error(StatusCode::BAD_REQUEST, "the patch is incomplete"),
    };
    match std::str::from_utf8(&body) {
        Ok(text) => {
            let patch = Request::Patch(text.to_owned());
            answer(services.reloads.request(patch).await)
        }
        Err(_) => error(StatusCode::BAD_REQUEST, "the patch is not UTF-8"),
    }
}

/// Reads the file again.
pub(super) async fn reread(services: &Services) -> Response<Body> {
    answer(services.reloads.request(Request::Reread).await)
}

fn answer(outcome: Result<Applied, Refused>) -> Response<Body> {
    let refused = match outcome {
        Ok(applied) => return ok(&applied),
        Err(refused) => refused,
    };
    let status = match &refused {
        Refused::Config(_) => StatusCode::BAD_REQUEST,
        Refused::FileOnly(_) => StatusCode::FORBIDDEN,
        Refused::NoFile | Refused::Base(_) => StatusCode::CONFLICT,
        Refused::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        Refused::Unwritable(_) | Refused::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let errors = refused.notices();
    let first = errors.first();
    let text = json!({
        "error": first.map(|error| &error.message),
        "hint": first.and_then(|error| error.hint.as_ref()),
        "errors": errors,
    });
    respond_json(status, Body::from(Bytes::from(text.to_string())))
}
