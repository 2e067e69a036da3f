//! The configuration: what holds, without its secrets; a change of the file; and a reading of it out of turn. Whatever
//! is refused is refused with every mistake and the next step, as `config check` says them.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Response, StatusCode};
use serde_json::json;

use super::{error, ok};
use crate::downstream::http::json as respond_json;
use crate::downstream::intake;
use crate::path::reply::Body;
use crate::reload::{self, Applied, Refused};
use crate::shared::Shared;

/// As much as a file may have.
const MAX_BYTES: usize = 4 << 20;

/// What holds.
pub(super) fn show(shared: &Shared) -> Response<Body> {
    respond_json(
        StatusCode::OK,
        Body::from(Bytes::from(shared.config().show())),
    )
}

/// Changes the file by a JSON merge patch, and makes it hold.
pub(super) async fn patch(shared: &Arc<Shared>, body: Incoming) -> Response<Body> {
    let body = match intake::body(body, MAX_BYTES, &shared.intake).await {
        Ok(body) => body,
        Err(intake::Refused::TooLarge) => {
            return error(StatusCode::PAYLOAD_TOO_LARGE, "the patch is too large");
        }
        Err(_) => return error(StatusCode::BAD_REQUEST, "the patch is incomplete"),
    };
    match std::str::from_utf8(&body) {
        Ok(text) => answer(reload::patch(shared, text.to_owned()).await),
        Err(_) => error(StatusCode::BAD_REQUEST, "the patch is not UTF-8"),
    }
}

/// Reads the file again.
pub(super) async fn reread(shared: &Arc<Shared>) -> Response<Body> {
    let shared = Arc::clone(shared);
    let task = tokio::spawn(async move { reload::reread(&shared).await });
    match task.await {
        Ok(outcome) => answer(outcome),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the reload failed"),
    }
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
        Refused::Unwritable(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let errors = refused.said();
    let first = errors.first();
    let text = json!({
        "error": first.map(|error| &error.message),
        "hint": first.and_then(|error| error.hint.as_ref()),
        "errors": errors,
    });
    respond_json(status, Body::from(Bytes::from(text.to_string())))
}
