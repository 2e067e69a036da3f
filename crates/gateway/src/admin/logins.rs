//! Records of logins: to servers, by an operator, and to the console. They say who, which server and which issuer. No token,
//! code or key is in them.

use countersign_audit::{Kind, Outcome, Record, Source, Timestamp};
use hyper::StatusCode;

use super::{ApiError, ApiResult};
use crate::services::Services;

/// Records that a caller has logged in or out, to a server or else to the console.
pub(super) async fn record_login(
    services: &Services,
    caller: &str,
    server: Option<&str>,
    reason: String,
) {
    record(services, caller, server, (Outcome::Success, reason)).await;
}

/// Passes the result of a login on. A refused one is recorded, no more often than once a minute.
pub(super) async fn record_refused(
    services: &Services,
    caller: &str,
    server: &str,
    result: ApiResult,
) -> ApiResult {
    if let Err(ApiError { status, message }) = &result
        && *status != StatusCode::NOT_FOUND
        && let Some(count) = services.refused_logins.count(Timestamp::now())
    {
        let reason = match count {
            1 => format!("refused a login: {message}"),
            count => format!("refused {count} logins, the last one: {message}"),
        };
        let told = (Outcome::Rejected, reason);
        record(services, caller, Some(server), told).await;
    }
    result
}

async fn record(
    services: &Services,
    caller: &str,
    server: Option<&str>,
    (outcome, reason): (Outcome, String),
) {
    let mut record = Record::new(services.store.next_id(), Kind::Login, outcome);
    record.source = Source::Api;
    record.caller = Some(caller.to_owned());
    record.server = server.map(str::to_owned);
    record.reason = Some(reason);
    let records = vec![record];
    services.metrics.observe(&records);
    // A login holds even if the store is down.
    let _recorded = services.store.commit((), records).await;
}
