//! What operators and their programs ask: the REST interface, the metrics and the stream of events. It reads the store and
//! the snapshot and changes nothing but the configuration. Shapes as in the quickstart: the thing itself, without an envelope.

mod activity;
mod auth;
mod config;
pub(crate) mod connect;
pub(crate) mod console;
mod events;
mod export;
mod inspect;
mod issuer_login;
pub(crate) mod login_callback;
mod logins;
mod metrics;
mod openapi;
pub(crate) mod preview;
mod server_changes;
mod servers;
mod tools;

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ALLOW, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use logins::record_refused;

use crate::http::{json as respond_json, with_type};
use crate::path::reply::Body;
use crate::services::Services;
use crate::state::{Admission, Caller, Snapshot};

/// The content type of the metrics.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What can be requested. A test compares the `OpenAPI` document with this list.
const RESOURCES: [(&str, Resource); 24] = [
    ("activity", Resource::Activities),
    ("activity/summary", Resource::Summary),
    ("activity/export", Resource::Export),
    ("activity/hours", Resource::Hours),
    ("activity/{id}", Resource::Activity),
    ("activity/{id}/receipt", Resource::Receipt),
    ("callers/{name}/revoke", Resource::RevokeCaller),
    ("config", Resource::Config),
    ("config/reload", Resource::Reload),
    ("inspect", Resource::Inspect),
    ("openapi.json", Resource::Description),
    ("policy/preview", Resource::Preview),
    ("servers", Resource::Servers),
    ("servers/{name}", Resource::Server),
    ("servers/{name}/auth", Resource::ServerAuth),
    ("servers/{name}/disable", Resource::DisableServer),
    ("servers/{name}/enable", Resource::EnableServer),
    ("servers/{name}/login", Resource::Login),
    ("servers/{name}/login/complete", Resource::CompleteLogin),
    ("servers/{name}/logs", Resource::ServerLogs),
    ("servers/{name}/restart", Resource::RestartServer),
    ("status", Resource::Status),
    ("tools", Resource::Tools),
    ("tools/{name}", Resource::Tool),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    Activities,
    Summary,
    Export,
    Hours,
    Activity,
    Receipt,
    RevokeCaller,
    Config,
    Reload,
    Inspect,
    Description,
    Preview,
    Servers,
    Server,
    ServerAuth,
    DisableServer,
    EnableServer,
    Login,
    CompleteLogin,
    ServerLogs,
    RestartServer,
    Status,
    Tools,
    Tool,
}

impl Resource {
    /// What it can be asked with, as a header lists it.
    fn methods(self) -> &'static str {
        match self {
            Self::Config => "GET, PATCH",
            Self::Servers => "GET, POST",
            Self::Server | Self::ServerAuth => "GET, DELETE",
            Self::Reload
            | Self::Inspect
            | Self::RevokeCaller
            | Self::DisableServer
            | Self::EnableServer
            | Self::RestartServer
            | Self::Login
            | Self::CompleteLogin => "POST",
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
    admission: Admission,
    request: Request<Incoming>,
) -> Response<Body> {
    let answer = match request.uri().path() {
        "/metrics" => {
            let page = Bytes::from(metrics::render(services, &snapshot));
            Ok(with_type(HeaderValue::from_static(METRICS), page.into()))
        }
        "/events" => {
            let max_streams = snapshot.settings.config.activity.max_event_streams;
            events::respond(services, max_streams, admission, &request).await
        }
        _ => resource(services, &snapshot, admission.caller(), request).await,
    };
    answer.unwrap_or_else(Response::from)
}

/// Answers a request under `/api/v1/`.
async fn resource(
    services: &Arc<Services>,
    snapshot: &Snapshot,
    caller: &Caller,
    request: Request<Incoming>,
) -> ApiResult {
    let (head, body) = request.into_parts();
    let path = head.uri.path().strip_prefix("/api/v1/").unwrap_or_default();
    let query = head.uri.query().unwrap_or_default();
    let (resource, id) =
        Resource::find(path).ok_or_else(|| ApiError::not_found("no such resource"))?;
    let allowed = resource.methods();
    if !allowed.split(", ").any(|method| method == head.method) {
        return Ok(not_allowed(allowed));
    }
    match resource {
        Resource::Activities => activity::list(services, query).await,
        Resource::Summary => activity::summary(services, query).await,
        Resource::Export => export::respond(services, query),
        Resource::Hours => activity::hours(services, query).await,
        Resource::Activity => activity::show(services, id).await,
        Resource::Receipt => activity::receipt(services, id).await,
        Resource::Config if head.method == Method::PATCH => {
            config::patch(services, caller, body).await
        }
        Resource::Config => Ok(config::show(snapshot)),
        Resource::RevokeCaller => config::revoke(services, caller, id).await,
        Resource::Reload => config::reread(services, caller).await,
        Resource::Inspect => inspect::respond(services, snapshot, body).await,
        Resource::Description => Ok(respond_json(StatusCode::OK, openapi::document())),
        Resource::Preview => activity::preview(services, snapshot, query).await,
        Resource::Servers if head.method == Method::POST => {
            server_changes::add(services, caller, body).await
        }
        Resource::Servers => servers::list(services, snapshot),
        Resource::Server if head.method == Method::DELETE => {
            server_changes::remove(services, caller, id).await
        }
        Resource::Server => servers::show(services, snapshot, id),
        Resource::ServerAuth if head.method == Method::DELETE => {
            auth::log_out(services, snapshot, caller, (id, query)).await
        }
        Resource::ServerAuth => auth::status(services, snapshot, id, query).await,
        Resource::Login => {
            let begun = auth::begin(services, snapshot, id, body).await;
            record_refused(services, &caller.name, id, begun).await
        }
        Resource::CompleteLogin => {
            let completed = auth::complete(services, snapshot, caller, (id, body)).await;
            record_refused(services, &caller.name, id, completed).await
        }
        Resource::DisableServer => server_changes::disable(services, caller, id).await,
        Resource::EnableServer => server_changes::enable(services, caller, id).await,
        Resource::RestartServer => server_changes::restart(services, caller, id).await,
        Resource::ServerLogs => servers::logs(snapshot, id),
        Resource::Status => status(services, snapshot),
        Resource::Tools => tools::list(snapshot),
        Resource::Tool => tools::show(snapshot, id),
    }
}

fn status(services: &Services, snapshot: &Snapshot) -> ApiResult {
    let counts: serde_json::Map<_, _> = services
        .events
        .counts()
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    let stats = services.store.stats();
    ok(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "routing_mode": snapshot.settings.config.routing_mode.as_str(),
        "servers": snapshot.servers().len(),
        "counts": counts,
        "config": services.reloads.status(),
        "store": {
            "healthy": stats.healthy,
            "committed": stats.committed,
            "lost": stats.dropped + stats.failed,
            "signed_heads": stats.checkpoints,
        },
    }))
}

/// The result of a handler: a response, or why there is none.
type ApiResult = Result<Response<Body>, ApiError>;

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
struct ApiError {
    status: StatusCode,
    message: String,
}

impl ApiError {
    fn new(status: StatusCode, message: &str) -> Self {
        let message = message.to_owned();
        Self { status, message }
    }

    fn bad_request(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, &why.into())
    }

    fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }

    fn internal(what: &str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    }
}

impl From<ApiError> for Response<Body> {
    fn from(error: ApiError) -> Self {
        let text = json!({ "error": error.message }).to_string();
        respond_json(error.status, Bytes::from(text))
    }
}

/// The response to a method that a resource does not have.
fn not_allowed(allowed: &'static str) -> Response<Body> {
    let message = format!("use {allowed}");
    let mut response = Response::from(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, &message));
    let allowed = HeaderValue::from_static(allowed);
    response.headers_mut().insert(ALLOW, allowed);
    response
}

fn ok(value: &impl Serialize) -> ApiResult {
    let text = serde_json::to_vec(value);
    let text = text.map_err(|_| ApiError::internal("the answer cannot be written"))?;
    Ok(respond_json(StatusCode::OK, Bytes::from(text)))
}

/// The parameters of a query string, decoded.
fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    form_urlencoded::parse(query.as_bytes()).into_owned()
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
            ("activity/01A/receipt", Some((Resource::Receipt, "01A"))),
            ("servers/a/logs", Some((Resource::ServerLogs, "a"))),
            ("servers//logs", None),
            ("servers/a/b/logs", None),
            ("servers/a", Some((Resource::Server, "a"))),
            ("servers/a/restart", Some((Resource::RestartServer, "a"))),
            ("servers/a/login", Some((Resource::Login, "a"))),
            (
                "servers/a/login/complete",
                Some((Resource::CompleteLogin, "a")),
            ),
            ("servers/", None),
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
