//! `Query`: which records are wanted. The same parser serves the command line and the REST interface, so both answer alike.
//!
//! A word outside its closed set is an error that lists the allowed ones; an unknown parameter is an error too. Lists are separated
//! by commas. Newest first, in pages; a cursor holds a place in the store, so pages do not shift while records arrive.

use countersign_inspect::UnknownWord;
use thiserror::Error;

use crate::id::{NotAUlid, Ulid};
use crate::record::{Decision, Kind, Record, Stage, Status, parse_rule, stored_name};
use crate::time::{NotATime, Timestamp};

const DEFAULT_LIMIT: usize = 50;
/// Records in one page at most.
pub const MAX_LIMIT: usize = 1000;
/// Values one filter may list.
const MAX_VALUES: usize = 64;

/// What a list may be asked with. The last three are about pages and no filters.
static PARAMETERS: [&str; 15] = [
    "type",
    "status",
    "decision",
    "stage",
    "rule",
    "server",
    "tool",
    "caller",
    "since",
    "until",
    "request_id",
    "parent_id",
    "limit",
    "cursor",
    "total",
];

/// How many of them are filters.
const FILTERS: usize = 12;

/// A parameter that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A word outside its closed set, or an unknown parameter.
    #[error(transparent)]
    Unknown(#[from] UnknownWord),
    /// `since` or `until` is not a time.
    #[error("{parameter}: {why}")]
    Time {
        /// Which one.
        parameter: &'static str,
        /// Why.
        why: NotATime,
    },
    /// `limit` is not a number in range.
    #[error("limit must be a number from 1 to {MAX_LIMIT}")]
    Limit,
    /// `total` is not a boolean.
    #[error("total must be true or false")]
    Total,
    /// The cursor was not made by this store.
    #[error("not a cursor of this store; leave it out to start again")]
    Cursor,
    /// `parent_id` is not an id.
    #[error("parent_id: {0}")]
    Id(NotAUlid),
    /// A filter lists too many values.
    #[error("{parameter} lists more than {MAX_VALUES} values")]
    TooMany {
        /// Which one.
        parameter: &'static str,
    },
}

/// Which records match. An empty list or `None` does not filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Any of these types.
    pub types: Vec<Kind>,
    /// Any of these statuses.
    pub statuses: Vec<Status>,
    /// Any of these decisions. `flagged` also finds a result that was rewritten and would have been flagged without it.
    pub decisions: Vec<Decision>,
    /// A finding of any of these stages.
    pub stages: Vec<Stage>,
    /// A finding of any of these rules.
    pub rules: Vec<String>,
    /// Any of these servers.
    pub servers: Vec<String>,
    /// Any of these tools.
    pub tools: Vec<String>,
    /// Any of these callers.
    pub callers: Vec<String>,
    /// Not before this.
    pub since: Option<Timestamp>,
    /// Before this.
    pub until: Option<Timestamp>,
    /// This request id.
    pub request_id: Option<String>,
    /// Decisions about this call.
    pub parent_id: Option<Ulid>,
}

impl Filter {
    /// A filter from parameters as a person or a URL gives them; periods count back from `now`. What is about pages is refused.
    pub fn from_pairs(
        pairs: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
        now: Timestamp,
    ) -> Result<Self, QueryError> {
        let filters = PARAMETERS.get(..FILTERS).unwrap_or_default();
        let mut query = Query::default();
        for (key, value) in pairs {
            if !filters.contains(&key.as_ref()) {
                let unknown = UnknownWord::new("parameter", key.as_ref(), filters);
                return Err(unknown.into());
            }
            query.set(key.as_ref(), value.as_ref(), now)?;
        }
        Ok(query.filter)
    }

    /// Does the record match every part?
    pub fn matches(&self, record: &Record) -> bool {
        fn any<T: PartialEq>(wanted: &[T], is: Option<&T>) -> bool {
            wanted.is_empty() || is.is_some_and(|is| wanted.contains(is))
        }
        let found = |stage: &Stage| record.findings.iter().any(|f| f.stage == *stage);
        let ruled = |rule: &String| record.findings.iter().any(|f| f.rule == *rule);
        any(&self.types, Some(&record.kind()))
            && any(&self.statuses, Some(&record.status()))
            && (any(&self.decisions, record.decision().as_ref())
                || (self.decisions.contains(&Decision::Flagged) && record.is_also_flagged()))
            && (self.stages.is_empty() || self.stages.iter().any(found))
            && (self.rules.is_empty() || self.rules.iter().any(ruled))
            && any(&self.servers, record.server.as_ref())
            && any(&self.tools, record.tool.as_ref())
            && any(&self.callers, record.caller.as_ref())
            && self.since.is_none_or(|since| record.timestamp >= since)
            && self.until.is_none_or(|until| record.timestamp < until)
            && self
                .request_id
                .as_ref()
                .is_none_or(|id| record.request_id.as_ref() == Some(id))
            && self.parent_id.is_none_or(|id| record.parent_id == Some(id))
    }
}

/// A page of matching records, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Which records.
    pub filter: Filter,
    /// How many, 1 to [`MAX_LIMIT`].
    pub limit: usize,
    /// Where the page before ended.
    pub cursor: Option<Cursor>,
    /// Count all matches as well. That scans.
    pub total: bool,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            limit: DEFAULT_LIMIT,
            cursor: None,
            total: false,
        }
    }
}

impl Query {
    /// A query from parameters as a person or a URL gives them; periods count back from `now`.
    pub fn from_pairs(
        pairs: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
        now: Timestamp,
    ) -> Result<Self, QueryError> {
        let mut query = Self::default();
        for (key, value) in pairs {
            query.set(key.as_ref(), value.as_ref(), now)?;
        }
        Ok(query)
    }

    /// Sets one parameter; lists add to what is there.
    pub fn set(&mut self, key: &str, value: &str, now: Timestamp) -> Result<(), QueryError> {
        let filter = &mut self.filter;
        match key {
            "type" => list(&mut filter.types, "type", value, str::parse),
            "status" => list(&mut filter.statuses, "status", value, str::parse),
            "decision" => list(&mut filter.decisions, "decision", value, str::parse),
            "stage" => list(&mut filter.stages, "stage", value, str::parse),
            "rule" => list(&mut filter.rules, "rule", value, |rule| {
                parse_rule(rule).map(stored_name)
            }),
            "server" => list(&mut filter.servers, "server", value, |name| {
                Ok(stored_name(name))
            }),
            "tool" => list(&mut filter.tools, "tool", value, |name| {
                Ok(stored_name(name))
            }),
            "caller" => list(&mut filter.callers, "caller", value, |name| {
                Ok(stored_name(name))
            }),
            "since" => set_time(&mut filter.since, "since", value, now),
            "until" => set_time(&mut filter.until, "until", value, now),
            "request_id" => {
                filter.request_id = Some(stored_name(value));
                Ok(())
            }
            "parent_id" => {
                filter.parent_id = Some(value.parse().map_err(QueryError::Id)?);
                Ok(())
            }
            _ => self.set_page(key, value),
        }
    }

    fn set_page(&mut self, key: &str, value: &str) -> Result<(), QueryError> {
        match key {
            "limit" => {
                self.limit = value
                    .parse()
                    .ok()
                    .filter(|n| (1..=MAX_LIMIT).contains(n))
                    .ok_or(QueryError::Limit)?;
            }
            "cursor" => self.cursor = Some(Cursor::parse(value)?),
            "total" => self.total = value.parse().map_err(|_| QueryError::Total)?,
            _ => return Err(UnknownWord::new("parameter", key, &PARAMETERS).into()),
        }
        Ok(())
    }
}

fn list<T>(
    into: &mut Vec<T>,
    parameter: &'static str,
    value: &str,
    parse: impl Fn(&str) -> Result<T, UnknownWord>,
) -> Result<(), QueryError> {
    for word in value
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
    {
        into.push(parse(word)?);
    }
    if into.len() > MAX_VALUES {
        Err(QueryError::TooMany { parameter })
    } else {
        Ok(())
    }
}

fn set_time(
    into: &mut Option<Timestamp>,
    parameter: &'static str,
    value: &str,
    now: Timestamp,
) -> Result<(), QueryError> {
    let time =
        Timestamp::parse_relative(value, now).map_err(|why| QueryError::Time { parameter, why })?;
    *into = Some(time);
    Ok(())
}

/// A place in the store between two pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) before: u64,
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, QueryError> {
        let digits = text.strip_prefix("s1-").ok_or(QueryError::Cursor)?;
        let before = u64::from_str_radix(digits, 16)
            .ok()
            .filter(|n| i64::try_from(*n).is_ok());
        before
            .map(|before| Self { before })
            .ok_or(QueryError::Cursor)
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "s1-{:x}", self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> Result<Query, QueryError> {
        Query::from_pairs(pairs.iter().copied(), Timestamp::from_millis(10_000_000))
    }

    #[test]
    fn every_parameter_is_understood() {
        let query = query(&[
            ("type", "tool_call,policy_decision"),
            ("status", "blocked"),
            ("status", "flagged"),
            ("decision", "blocked"),
            ("stage", "guard, contract"),
            ("rule", "schema.type"),
            ("server", "crm,files"),
            ("tool", "search"),
            ("caller", "key:ci"),
            ("since", "1h"),
            ("until", "1970-01-01T02:00:00Z"),
            ("request_id", "7"),
            ("parent_id", "01ARZ3NDEK0000000000000000"),
            ("limit", "5"),
            ("cursor", "s1-ff"),
            ("total", "true"),
        ])
        .expect("understood");
        assert_eq!(query.filter.types, [Kind::ToolCall, Kind::PolicyDecision]);
        assert_eq!(query.filter.statuses, [Status::Blocked, Status::Flagged]);
        assert_eq!(query.filter.stages, [Stage::Guard, Stage::Contract]);
        assert_eq!(query.filter.servers, ["crm", "files"]);
        assert_eq!(query.filter.callers, ["key:ci"]);
        assert_eq!(query.filter.since, Some(Timestamp::from_millis(6_400_000)));
        assert_eq!(
            (query.limit, query.cursor, query.total),
            (5, Some(Cursor { before: 255 }), true)
        );
    }

    #[test]
    fn whatever_is_unknown_is_refused_with_the_allowed_words() {
        for (pair, expected) in [
            (
                ("status", "ok"),
                "unknown status `ok`; allowed: success, error, rejected, flagged, rewritten, blocked",
            ),
            (
                ("decision", "block"),
                "unknown decision `block`; allowed: allowed, flagged, rewritten, blocked; did you mean `blocked`?",
            ),
            (("limit", "0"), "limit must be a number from 1 to 1000"),
            (("limit", "1001"), "limit must be a number from 1 to 1000"),
            (
                ("cursor", "12"),
                "not a cursor of this store; leave it out to start again",
            ),
            (
                ("cursor", "s1-ffffffffffffffff"),
                "not a cursor of this store; leave it out to start again",
            ),
            (("total", "yes"), "total must be true or false"),
        ] {
            assert_eq!(query(&[pair]).expect_err("refused").to_string(), expected);
        }
        let error = query(&[("statuss", "blocked")])
            .expect_err("refused")
            .to_string();
        assert!(
            error.starts_with("unknown parameter `statuss`; allowed: type, status"),
            "{error}"
        );
        assert!(
            query(&[("type", "call")])
                .expect_err("refused")
                .to_string()
                .contains("policy_decision")
        );
        assert!(
            query(&[("since", "soon")])
                .expect_err("refused")
                .to_string()
                .starts_with("since: not a time: `soon`")
        );
        assert!(query(&[("server", &"a,".repeat(65))]).is_err());
    }

    #[test]
    fn a_filter_knows_nothing_of_pages() {
        let now = Timestamp::from_millis(10_000_000);
        let filter = Filter::from_pairs([("status", "blocked"), ("parent_id", "")], now);
        assert!(matches!(filter, Err(QueryError::Id(_))));
        let filter = Filter::from_pairs([("status", "blocked")], now).expect("a filter");
        assert_eq!(filter.statuses, [Status::Blocked]);
        for page in ["limit", "cursor", "total", "nonsense"] {
            let error = Filter::from_pairs([(page, "1")], now).expect_err("refused");
            let error = error.to_string();
            assert!(error.ends_with("request_id, parent_id"), "{error}");
        }
    }

    #[test]
    fn cursors_round_trip() {
        let cursor = Cursor {
            before: 123_456_789,
        };
        assert_eq!(Cursor::parse(&cursor.to_string()), Ok(cursor));
    }
}
