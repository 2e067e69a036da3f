//! The HTTP listener: one service, a match on the path. A client that misbehaves loses its own connection and no other;
//! what clients send is read with a limit on size and time.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_audit::OnStoreError;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::admin;
use crate::downstream;
use crate::events;
use crate::http::{ClientConnection, Connections, not_allowed, plain, turned_away};
use crate::path::reply::Body;
use crate::services::{Phase, Runtime, Services};
use crate::state::Snapshot;

/// The methods of paths that can only be read.
const READ_METHODS: &str = "GET, HEAD";
/// The methods that some path has.
const ALL_METHODS: &str = "GET, HEAD, POST, PATCH, DELETE";

/// How long a client may take to send a request's head.
const HEAD: Duration = Duration::from_secs(10);

/// How often a timer runs out that nothing waits for. The runtime has to wake the thread that waits for the next timer if
/// a new one runs out before it. The time-outs of heads and calls are all longer than this, so none of them does: without
/// this timer, most requests woke a thread.
const TICK: Duration = Duration::from_secs(1);
/// With a clock further from that of the database than this, a gateway is not ready.
const MAX_CLOCK_SKEW: Duration = Duration::from_mins(1);
/// How long a connection that has sent nothing yet is kept once the gateway drains: its request may be on the way.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Accepts connections until the gateway drains.
pub(super) async fn serve(runtime: Runtime, listener: TcpListener) {
    let services = &runtime.services;
    // The gateway does not end before the connections are accepted that the kernel has already answered for it.
    let _work = services.drain.work();
    let connections = Connections::new();
    let mut ticks = tokio::time::interval(TICK);
    loop {
        let accepted = tokio::select! {
            biased;
            () = services.drain.wait_for_phase(Phase::Draining) => {
                return accept_waiting(&runtime, &listener, &connections).await;
            }
            accepted = listener.accept() => accepted,
            _ = ticks.tick() => continue,
        };
        match accepted {
            Ok((stream, _)) => admit(&runtime, &connections, stream),
            // Out of file descriptors, most likely: another must end first.
            Err(_) if connections.evict() => {
                events::Evicted {}.emit(&services.events);
                sleep(Duration::from_millis(1)).await;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn admit(runtime: &Runtime, connections: &Arc<Connections>, stream: TcpStream) {
    let (client, evicts) = connections.admit();
    if evicts {
        events::Evicted {}.emit(&runtime.services.events);
    }
    tokio::spawn(connection(runtime.clone(), stream, client));
}

/// Accepts the connections that wait in the kernel's queue. Their clients may have sent a request already, and a proxy
/// cannot repeat it elsewhere.
async fn accept_waiting(runtime: &Runtime, listener: &TcpListener, connections: &Arc<Connections>) {
    while let Ok(Ok((stream, _))) = timeout(Duration::from_millis(1), listener.accept()).await {
        admit(runtime, connections, stream);
    }
}

async fn connection(runtime: Runtime, stream: TcpStream, client: ClientConnection) {
    let services = &runtime.services;
    let _work = services.drain.work();
    // Without it small replies may wait for an acknowledgement; the connection works all the same.
    drop(stream.set_nodelay(true));
    let has_request = AtomicBool::new(false);
    let service = service_fn(|mut request: Request<Incoming>| {
        has_request.store(true, Ordering::Relaxed);
        let runtime = runtime.clone();
        request.extensions_mut().insert(client.clone());
        async move {
            let mut response = respond(&runtime, request).await;
            if runtime.services.drain.phase() != Phase::Serving {
                // The client, or a proxy, sends its next request by a new connection, and that elsewhere.
                let headers = response.headers_mut();
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let draining = services.drain.wait_for_phase(Phase::Draining);
    tokio::pin!(draining);
    tokio::select! {
        ended = connection.as_mut() => return drop(ended),
        () = client.closed() => return,
        () = draining => {}
    }
    if !has_request.load(Ordering::Relaxed) {
        tokio::select! {
            ended = connection.as_mut() => return drop(ended),
            () = client.closed() => return,
            () = sleep(FIRST_REQUEST) => {}
        }
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        ended = connection => drop(ended),
        () = client.closed() => {}
    }
}

/// Gives the connection of a request that had the key, or needs none, a lasting place; false if there is none.
fn takes_place(request: &Request<Incoming>) -> bool {
    let client = request.extensions().get::<ClientConnection>();
    client.is_none_or(|client| client.keep().is_ok())
}

fn crowded() -> Response<Body> {
    plain(StatusCode::SERVICE_UNAVAILABLE, "too many connections\n")
}

/// The entrance of every request: the snapshot that is loaded here decides all of it.
async fn respond(runtime: &Runtime, request: Request<Incoming>) -> Response<Body> {
    let (snapshot, services) = (runtime.state.load(), &*runtime.services);
    // Refuse requests until the first plan has installed the guard.
    let Some(guard) = &snapshot.settings.guard else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "starting\n");
    };
    // No path has these two. CONNECT names the host of another server, which the guard would take for a foreign client's.
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        return not_allowed(ALL_METHODS);
    }
    if let Err(refused) = guard.check_hosts(request.headers()) {
        return turned_away(&services.events, refused);
    }
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    // The key is checked before the path is looked up: a client without one must not learn which servers there are.
    let admitted = match path {
        "/healthz" | "/readyz" if !is_read => return not_allowed(READ_METHODS),
        "/healthz" => {
            return plain(StatusCode::OK, "ok\n");
        }
        "/readyz" => return ready(&snapshot, services),
        "/metrics" | "/events" => guard.check_key(request.headers()).map(drop),
        _ if path.starts_with("/api/v1/") => guard.check_api(request.method(), request.headers()),
        _ if path == "/mcp" || path.starts_with("/mcp/") => guard.check_mcp(request.headers()),
        _ => {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        }
    };
    match admitted {
        Ok(()) if !takes_place(&request) => crowded(),
        Ok(()) if path == "/metrics" && !is_read => not_allowed(READ_METHODS),
        Ok(()) if path.starts_with("/mcp") => {
            downstream::http::respond(runtime, snapshot, request).await
        }
        Ok(()) => admin::respond(&runtime.services, snapshot, request).await,
        Err(refused) => turned_away(&services.events, refused),
    }
}

/// Whether calls may come: not while the gateway stops, nor while they would be refused for want of a record or recorded at
/// a time that is far from that of the other gateways.
fn ready(snapshot: &Snapshot, services: &Services) -> Response<Body> {
    let refuses = snapshot.settings.config.activity.on_store_error != OnStoreError::Continue;
    let stats = services.store.stats();
    let not_ready = |why: &'static str| plain(StatusCode::SERVICE_UNAVAILABLE, why);
    if services.drain.phase() != Phase::Serving {
        not_ready("stopping\n")
    } else if refuses && !stats.healthy {
        not_ready("the activity store is down\n")
    } else if stats.clock_skew > MAX_CLOCK_SKEW {
        not_ready("the clock differs from that of the database\n")
    } else {
        plain(StatusCode::OK, "ready\n")
    }
}
