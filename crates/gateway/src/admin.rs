//! What operators and their programs ask: the REST interface, the metrics and the stream of events. It reads the store and
//! the snapshot and changes nothing but the configuration. Shapes as in the quickstart: the thing itself, without an envelope.

mod activity;
mod config;
mod events;
mod export;
mod metrics;
mod openapi;
pub(crate) mod preview;
mod servers;
mod tools;

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use crate::http::{json as respond_json, plain};
use crate::path::reply::Body;
use crate::services::Services;
use crate::state::Snapshot;

/// What can be asked for. The `OpenAPI` document is held against this list.
const RESOURCES: [(&str, Resource); 13] = [
    ("activity", Resource::Activities),
    ("activity/summary", Resource::Summary),
    ("activity/export", Resource::Export),
    ("activity/{id}", Resource::Activity),
    ("config", Resource::Config),
    ("config/reload", Resource::Reload),
    ("openapi.json", Resource::Description),
    ("policy/preview", Resource::Preview),
    ("servers", Resource::Servers),
    ("servers/{name}/logs", Resource::ServerLogs),
    ("status", Resource::Status),
    ("tools", Resource::Tools),
    ("tools/{name}", Resource::Tool),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    Activities,
    Summary,
    Export,
    Activity,
    Config,
    Reload,
    Description,
    Preview,
    Servers,
    ServerLogs,
    Status,
    Tools,
    Tool,
}

impl Resource {
    /// What it can be asked with, as a header lists it.
    fn methods(self) -> &'static str {
        match self {
            Self::Config => "GET, PATCH",
            Self::Reload => "POST",
            _ => "GET",
        }
    }

    /// The resource of a path, and the id or name in it if it has one.
    fn find(path: &str) -> Option<(Self, &str)> {
        RESOURCES
            .iter()
            .find_map(|(pattern, resource)| match pattern.split_once('{') {
                None => (path == *pattern).then_some((*resource, "")),
                Some((before, rest)) => {
                    let (_, after) = rest.split_once('}')?;
                    let id = path.strip_prefix(before)?.strip_suffix(after)?;
                    (!id.is_empty() && !id.contains('/')).then_some((*resource, id))
                }
            })
    }
}

/// Answers a request under `/metrics`, `/events` or `/api/v1/`.
pub(crate) async fn respond(
    services: &Arc<Services>,
    snapshot: Arc<Snapshot>,
    request: Request<Incoming>,
) -> Response<Body> {
    match request.uri().path() {
        "/metrics" => {
            let mut response = plain(StatusCode::OK, "");
            *response.body_mut() = Body::from(Bytes::from(metrics::render(services, &snapshot)));
            let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        "/events" => {
            let max_streams = snapshot.settings.config.activity.max_event_streams;
            events::respond(services, max_streams, &request).await
        }
        _ => resource(services, &snapshot, request).await,
    }
}

/// Answers a request under `/api/v1/`.
async fn resource(
    services: &Arc<Services>,
    snapshot: &Snapshot,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().strip_prefix("/api/v1/").unwrap_or_default();
    let query = head.uri.query().unwrap_or_default();
    let Some((resource, id)) = Resource::find(path) else {
        return error(StatusCode::NOT_FOUND, "no such resource");
    };
    let allowed = resource.methods();
    if !allowed.split(", ").any(|method| method == head.method) {
        let mut refused = error(StatusCode::METHOD_NOT_ALLOWED, &format!("use {allowed}"));
        let allowed = HeaderValue::from_static(allowed);
        refused.headers_mut().insert(ALLOW, allowed);
        return refused;
    }
    match resource {
        Resource::Activities => activity::list(services, query).await,
        Resource::Summary => activity::summary(services, query).await,
        Resource::Export => export::respond(services, query),
        Resource::Activity => activity::show(services, id).await,
        Resource::Config if head.method == Method::PATCH => config::patch(services, body).await,
        Resource::Config => config::show(snapshot),
        Resource::Reload => config::reread(services).await,
        Resource::Description => respond_json(StatusCode::OK, Body::from(openapi::document())),
        Resource::Preview => activity::preview(services, snapshot, query).await,
        Resource::Servers => servers::list(snapshot),
        Resource::ServerLogs => servers::logs(snapshot, id),
        Resource::Status => status(services, snapshot),
        Resource::Tools => tools::list(snapshot),
        Resource::Tool => tools::show(snapshot, id),
    }
}

fn status(services: &Services, snapshot: &Snapshot) -> Response<Body> {
    let counts: serde_json::Map<_, _> = services
        .events
        .counts()
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    ok(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "routing_mode": snapshot.settings.config.routing_mode.as_str(),
        "servers": snapshot.servers().len(),
        "counts": counts,
        "config": services.reloads.status(),
    }))
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

/// A part of a query string: a plus sign is a space.
fn decoded(text: &str) -> String {
    percent_decoded(&text.replace('+', " "))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escaped = || {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            u8::from_str_radix(digits, 16).ok()
        };
        match byte {
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
    fn paths_are_found() {
        for (path, found) in [
            ("activity", Some((Resource::Activities, ""))),
            ("activity/export", Some((Resource::Export, ""))),
            ("activity/01A", Some((Resource::Activity, "01A"))),
            ("activity/", None),
            ("tools/s:a%2Fb", Some((Resource::Tool, "s:a%2Fb"))),
            ("activity/a/b", None),
            ("servers/a/logs", Some((Resource::ServerLogs, "a"))),
            ("servers//logs", None),
            ("servers/a/b/logs", None),
            ("servers/a", None),
            ("nothing", None),
        ] {
            assert_eq!(Resource::find(path), found, "{path}");
        }
    }

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
