//! The REST interface: what the gateway knows, as JSON. It reads the store and the snapshot and
//! changes nothing. Shapes as in the quickstart: the thing itself, without an envelope.

use std::sync::Arc;

use bytes::Bytes;
use countersign_audit::{Query, Reader, StoreError, Timestamp, Ulid};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::http::json as respond_json;
use crate::catalogue::Tool;
use crate::reply::Body;
use crate::shared::Shared;
use crate::snapshot::Server;
use crate::upstream::State;

/// Answers a request under `/api/v1/`.
pub(super) async fn respond(shared: &Arc<Shared>, request: &Request<Incoming>) -> Response<Body> {
    let path = request
        .uri()
        .path()
        .strip_prefix("/api/v1/")
        .unwrap_or_default();
    let query = request.uri().query().unwrap_or_default();
    if request.method() != Method::GET {
        return error(StatusCode::METHOD_NOT_ALLOWED, "use GET");
    }
    match path {
        "activity" => activities(shared, query).await,
        "status" => status(shared),
        "servers" => servers(shared),
        "tools" => tools(shared),
        _ => match path.strip_prefix("activity/") {
            Some(id) => activity(shared, id).await,
            None => error(StatusCode::NOT_FOUND, "no such resource"),
        },
    }
}

async fn activities(shared: &Shared, query: &str) -> Response<Body> {
    let query = match Query::from_pairs(pairs(query), Timestamp::now()) {
        Ok(query) => query,
        Err(why) => return error(StatusCode::BAD_REQUEST, &why.to_string()),
    };
    match read(shared, move |reader| reader.list(&query)).await {
        Ok(page) => ok(&page),
        Err(response) => response,
    }
}

async fn activity(shared: &Shared, id: &str) -> Response<Body> {
    let Ok(id) = id.parse::<Ulid>() else {
        return error(StatusCode::BAD_REQUEST, "not an activity id");
    };
    match read(shared, move |reader| reader.show(id)).await {
        Ok(Some(stored)) => ok(&stored),
        Ok(None) => error(StatusCode::NOT_FOUND, "no such activity"),
        Err(response) => response,
    }
}

/// Asks the store where that holds nobody up.
async fn read<T: Send + 'static>(
    shared: &Shared,
    question: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Response<Body>> {
    let reader = shared.store.reader().clone();
    match tokio::task::spawn_blocking(move || question(&reader)).await {
        Ok(Ok(answer)) => Ok(answer),
        failed => {
            let why = failed.map(Result::err);
            tracing::error!(?why, "the activity store cannot be read");
            Err(error(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the activity store cannot be read",
            ))
        }
    }
}

fn status(shared: &Shared) -> Response<Body> {
    let snapshot = shared.snapshot();
    let counts: serde_json::Map<_, _> = shared
        .events
        .counts()
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    ok(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "routing_mode": snapshot.config.routing_mode.as_str(),
        "servers": snapshot.servers().len(),
        "counts": counts,
    }))
}

fn servers(shared: &Shared) -> Response<Body> {
    let snapshot = shared.snapshot();
    let servers: Vec<_> = snapshot.servers().iter().map(server).collect();
    ok(&json!({ "servers": servers }))
}

/// What can be said about a server: whether it is there, and how much of it is enforceable.
fn server(server: &Server) -> serde_json::Value {
    let tools = server.tools.all();
    let declared = |tool: &&Arc<Tool>| tool.contract().output().is_some();
    let reasons: Vec<_> = tools
        .iter()
        .filter_map(|tool| {
            let why = tool.contract().output()?.schema().err()?;
            Some(json!({ "tool": tool.name(), "reason": why.to_string() }))
        })
        .collect();
    let with_schema = tools.iter().filter(declared).count();
    json!({
        "name": &**server.upstream.name(),
        "health": match &*server.upstream.state().borrow() {
            State::Ready(_) => "up",
            State::Starting => "starting",
            State::Down => "down",
            State::Stopped => "stopped",
        },
        "tools": tools.len(),
        "list": if server.tools.fresh { "fresh" } else { "remembered" },
        "output_schemas": with_schema,
        "enforceable": with_schema - reasons.len(),
        "unenforceable": reasons,
    })
}

fn tools(shared: &Shared) -> Response<Body> {
    let snapshot = shared.snapshot();
    let tools: Vec<_> = snapshot
        .servers()
        .iter()
        .flat_map(|server| server.tools.all().iter().map(move |tool| (server, tool)))
        .map(|(server, tool)| {
            json!({
                "server": &**server.upstream.name(),
                "tool": tool.name(),
                "wire_name": tool.wire_name(),
                "router": tool.access().as_str(),
                "generation": tool.contract().generation(),
                "output_schema": tool.contract().output().is_some(),
            })
        })
        .collect();
    ok(&json!({ "tools": tools }))
}

fn ok(value: &impl Serialize) -> Response<Body> {
    match serde_json::to_vec(value) {
        Ok(text) => respond_json(StatusCode::OK, Body::from(Bytes::from(text))),
        Err(_) => error(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the answer cannot be written",
        ),
    }
}

fn error(status: StatusCode, message: &str) -> Response<Body> {
    let text = json!({ "error": message }).to_string();
    respond_json(status, Body::from(Bytes::from(text)))
}

/// The parameters of a query string, decoded.
fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(|part| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(key), decoded(value))
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escaped = || {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            u8::from_str_radix(digits, 16).ok()
        };
        match byte {
            b'+' => bytes.push(b' '),
            b'%' if let Some(value) = escaped() => {
                bytes.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        let all: Vec<_> = pairs("a=1&b=x%2Cy+z&&c&d=%zz%").collect();
        let expected = [("a", "1"), ("b", "x,y z"), ("c", ""), ("d", "%zz%")];
        assert_eq!(
            all,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }
}
