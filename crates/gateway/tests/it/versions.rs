//! Modern servers that do not speak our version: the versions that they name decide how they are greeted, over stdio and
//! over HTTP.

use countersign_config::Server;
use countersign_fixture::http::Format;
use countersign_fixture::{Eras, Script, preset};
use countersign_gateway::health::{HealthCheck, ServerError};
use countersign_inspect::Era;

use crate::support::{WAIT, config, logged_http, received, scripted, text};

/// An error of the modern era that answers `server/discover`.
fn error(code: i64, data: &str) -> String {
    format!(r#"{{"code":{code},"message":"no","data":{data}}}"#)
}

/// A legacy server that answers `server/discover` with these steps.
fn discovers_with(steps: &str) -> Script {
    let mut script = preset::faults().eras(Eras::Legacy);
    // Otherwise a request without a session never gets as far as its method.
    script.http.sessions = false;
    let replies = serde_json::from_str(&format!("[[{steps}]]")).expect("steps");
    script.methods.insert("server/discover".to_owned(), replies);
    script
}

fn answers(error: &str) -> Script {
    discovers_with(&format!(r#"{{"answer":{{"error":{error}}}}}"#))
}

/// A whole response with the status 400, as HTTP servers send these errors.
fn answers_400(id: &str, error: &str) -> Script {
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
    let body = serde_json::Value::from(body);
    discovers_with(&format!(
        r#"{{"http":{{"status":400,"headers":[["Content-Type","application/json"]],"body":{body}}}}}"#
    ))
}

async fn check(server: &Server) -> Result<HealthCheck, ServerError> {
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(folder.path(), vec![server.clone()]);
    let checked = HealthCheck::run(&config, server, WAIT).await;
    checked.map_err(|failure| failure.error)
}

#[tokio::test]
async fn a_legacy_version_that_both_speak_is_used() {
    let error = error(-32022, r#"{"supported":["2027-01-01","2025-06-18"]}"#);
    let (server, _folder) = scripted("x", &answers(&error));
    let found = check(&server).await.expect("it can be called");
    assert_eq!((found.era, &*found.version), (Era::Legacy, "2025-06-18"));
    for script in [
        answers(&error),
        answers_400("1", &error),
        answers_400("null", &error),
    ] {
        let (server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
        let found = check(&server).await.expect("it can be called");
        assert_eq!((found.era, &*found.version), (Era::Legacy, "2025-06-18"));
        let greeting = |entry: &countersign_fixture::Entry| {
            text(entry.body()).contains(r#""method":"initialize""#)
        };
        let greeting = received(&mut log, greeting).await;
        let greeting = text(greeting.body());
        assert!(
            greeting.contains(r#""protocolVersion":"2025-06-18""#),
            "{greeting}"
        );
    }
}

#[tokio::test]
async fn versions_that_are_not_supported_are_reported_and_initialize_is_not_tried() {
    let error = error(-32022, r#"{"supported":["2027-01-01","2028-01-01"]}"#);
    let expected = ServerError::Version("2027-01-01, 2028-01-01".to_owned());
    let (server, _folder) = scripted("x", &answers(&error));
    assert_eq!(check(&server).await.expect_err("no version"), expected);
    for script in [
        answers(&error),
        answers_400("1", &error),
        answers_400("null", &error),
    ] {
        let (server, fixture, mut log) = logged_http("x", script, Format::Json).await;
        assert_eq!(check(&server).await.expect_err("no version"), expected);
        drop(fixture);
        while let Some(entry) = log.recv().await {
            assert!(!text(entry.body()).contains(r#""initialize""#));
        }
    }
}

#[tokio::test]
async fn other_errors_of_the_modern_era_are_reported_too() {
    for code in [-32020, -32021] {
        let error = error(code, "{}");
        let (server, _folder) = scripted("x", &answers(&error));
        let (http, _fixture, _log) = logged_http("x", answers_400("1", &error), Format::Json).await;
        for server in [server, http] {
            let error = check(&server).await.expect_err("a modern server");
            assert!(
                matches!(error, ServerError::ModernError(told) if told == code.to_string()),
                "{error}"
            );
        }
    }
}
