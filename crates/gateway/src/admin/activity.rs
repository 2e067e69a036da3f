//! The activity log as a resource: a page, one record, counts. A parameter that is not understood
//! is refused with the words that are.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONTENT_DISPOSITION, HeaderValue};
use serde_json::json;

use super::preview::{self, PreviewQuery};
use super::{ApiError, ApiResult, ok, pairs};
use crate::http::with_type;
use crate::services::Services;
use crate::state::Snapshot;
use countersign_audit::{
    GroupBy, HourCounts, Page, Query, Reader, StoreError, StoredRecord, Summary, Timestamp, Ulid,
    UnknownWord, parse_period,
};

const DAY: Duration = Duration::from_hours(24);

pub(super) async fn list(services: &Services, query: &str) -> ApiResult {
    let query = Query::from_pairs(pairs(query), Timestamp::now());
    let query = query.map_err(|why| ApiError::bad_request(why.to_string()))?;
    ok(&page(services, query).await?)
}

/// A page of records.
pub(super) async fn page(services: &Services, query: Query) -> Result<Page, ApiError> {
    read(services, move |reader| reader.list(&query)).await
}

pub(super) async fn show(services: &Services, id: &str) -> ApiResult {
    ok(&record(services, id).await?)
}

/// One record.
pub(super) async fn record(services: &Services, id: &str) -> Result<StoredRecord, ApiError> {
    let id: Result<Ulid, _> = id.parse();
    let id = id.map_err(|_| ApiError::bad_request("not an activity id"))?;
    let stored = read(services, move |reader| reader.show(id)).await?;
    stored.ok_or_else(|| ApiError::not_found("no such activity"))
}

pub(super) async fn summary(services: &Services, query: &str) -> ApiResult {
    let (by, period) = grouping(query).map_err(ApiError::bad_request)?;
    let now = Timestamp::now();
    ok(&read(services, move |reader| reader.summary(by, period, now)).await?)
}

/// The counts of each hour of a period.
pub(super) async fn hours(services: &Services, query: &str) -> ApiResult {
    let mut period = DAY;
    for (key, value) in pairs(query) {
        if key != "period" {
            let key: String = key.chars().take(64).collect();
            let why = format!("unknown parameter `{key}`; allowed: period");
            return Err(ApiError::bad_request(why));
        }
        let parsed = parse_period(&value);
        period = parsed.map_err(|why| ApiError::bad_request(format!("period: {why}")))?;
    }
    let now = Timestamp::now();
    let hours = read(services, move |reader| reader.hours(period, now)).await?;
    ok(&json!({ "hours": hours }))
}

/// The proof that the log holds a record.
pub(super) async fn receipt(services: &Services, id: &str) -> ApiResult {
    let id: Result<Ulid, _> = id.parse();
    let id = id.map_err(|_| ApiError::bad_request("not an activity id"))?;
    let receipt = move |reader: &Reader| match reader.receipt(id) {
        Err(StoreError::NoReceipt(why)) => Ok(Err(why)),
        other => other.map(Ok),
    };
    let receipt = read(services, receipt).await?;
    let receipt = receipt.map_err(|why| ApiError::not_found(&why.to_string()))?;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    let mut response = with_type(kind, Bytes::from(receipt.to_string()).into());
    let name = format!("attachment; filename=\"{id}.tlog-proof\"");
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// The counts of each hour of a period, and of each server in all of it.
pub(super) async fn counts(
    services: &Services,
    period: Duration,
    now: Timestamp,
) -> Result<(Vec<HourCounts>, Summary), ApiError> {
    read(services, move |reader| {
        let hours = reader.hours(period, now)?;
        Ok((hours, reader.summary(GroupBy::Server, period, now)?))
    })
    .await
}

pub(super) async fn preview(services: &Services, snapshot: &Snapshot, query: &str) -> ApiResult {
    let query = PreviewQuery::from_pairs(pairs(query), Timestamp::now());
    let query = query.map_err(ApiError::bad_request)?;
    let config = Arc::clone(&snapshot.settings.config);
    let preview = move |reader: &Reader| preview::preview(&config, reader, &query);
    ok(&read(services, preview).await?)
}

fn grouping(query: &str) -> Result<(GroupBy, Duration), String> {
    let (mut by, mut period) = (GroupBy::default(), DAY);
    for (key, value) in pairs(query) {
        match key.as_str() {
            "by" => {
                by = value.parse().map_err(|why: UnknownWord| why.to_string())?;
            }
            "period" => {
                period = parse_period(&value).map_err(|why| format!("period: {why}"))?;
            }
            _ => return Err(format!("unknown parameter `{key}`; allowed: by, period")),
        }
    }
    Ok((by, period))
}

/// Asks the store.
pub(super) async fn read<T: Send + 'static>(
    services: &Services,
    question: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let answer = services.read(question).await;
    answer.ok_or_else(|| ApiError::internal("the activity store cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_asked_for_in_known_words() {
        let hour = Duration::from_hours(1);
        assert_eq!(grouping(""), Ok((GroupBy::Server, DAY)));
        assert_eq!(grouping("by=rule&period=1h"), Ok((GroupBy::Rule, hour)));
        for (query, expected) in [
            (
                "by=client",
                "unknown grouping `client`; allowed: server, tool, rule",
            ),
            ("since=1h", "unknown parameter `since`; allowed: by, period"),
        ] {
            assert_eq!(grouping(query), Err(expected.to_owned()));
        }
        let wrong = grouping("period=long").expect_err("not a period");
        assert!(wrong.starts_with("period: not a time: `long`"), "{wrong}");
    }
}
