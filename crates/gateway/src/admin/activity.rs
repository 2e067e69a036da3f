//! The activity log as a resource: a page, one record, counts. A parameter that is not understood
//! is refused with the words that are.

use std::sync::Arc;
use std::time::Duration;

use countersign_audit::{
    GroupBy, Query, Reader, StoreError, Timestamp, Ulid, UnknownWord, parse_period,
};
use hyper::{Response, StatusCode};

use super::preview::{self, PreviewQuery};
use super::{error, ok, pairs};
use crate::path::reply::Body;
use crate::services::Services;
use crate::state::Snapshot;

const DAY: Duration = Duration::from_hours(24);

pub(super) async fn list(services: &Services, query: &str) -> Response<Body> {
    let query = match Query::from_pairs(pairs(query), Timestamp::now()) {
        Ok(query) => query,
        Err(why) => return error(StatusCode::BAD_REQUEST, &why.to_string()),
    };
    match read(services, move |reader| reader.list(&query)).await {
        Ok(page) => ok(&page),
        Err(response) => response,
    }
}

pub(super) async fn show(services: &Services, id: &str) -> Response<Body> {
    let Ok(id) = id.parse::<Ulid>() else {
        return error(StatusCode::BAD_REQUEST, "not an activity id");
    };
    match read(services, move |reader| reader.show(id)).await {
        Ok(Some(stored)) => ok(&stored),
        Ok(None) => error(StatusCode::NOT_FOUND, "no such activity"),
        Err(response) => response,
    }
}

pub(super) async fn summary(services: &Services, query: &str) -> Response<Body> {
    let (by, period) = match grouping(query) {
        Ok(grouping) => grouping,
        Err(why) => return error(StatusCode::BAD_REQUEST, &why),
    };
    let now = Timestamp::now();
    match read(services, move |reader| reader.summary(by, period, now)).await {
        Ok(summary) => ok(&summary),
        Err(response) => response,
    }
}

pub(super) async fn preview(
    services: &Services,
    snapshot: &Snapshot,
    query: &str,
) -> Response<Body> {
    let query = match PreviewQuery::from_pairs(pairs(query), Timestamp::now()) {
        Ok(query) => query,
        Err(why) => return error(StatusCode::BAD_REQUEST, &why),
    };
    let config = Arc::clone(&snapshot.settings.config);
    match read(services, move |reader| {
        preview::preview(&config, reader, &query)
    })
    .await
    {
        Ok(preview) => ok(&preview),
        Err(response) => response,
    }
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

/// Asks the store; the error is the response.
pub(super) async fn read<T: Send + 'static>(
    services: &Services,
    question: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Response<Body>> {
    services.read(question).await.ok_or_else(|| {
        error(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the activity store cannot be read",
        )
    })
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
