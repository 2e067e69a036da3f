//! What strict mode would block of recorded calls, under the configuration of today with nothing but the mode replaced. The
//! command line and the REST interface ask here, so that both answer alike.

use countersign_audit::{Filter, MAX_LAST_CALLS, Preview, Reader, StoreError, Timestamp};
use countersign_inspect::{Mode, Overrides};

use countersign_config::Config;

/// How far back, where nothing is said.
const PERIOD: &str = "7d";
const PARAMETERS: [&str; 6] = ["mode", "since", "until", "server", "tool", "last"];

/// Which recorded calls strict mode is tried on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewQuery {
    filter: Filter,
    /// No more than the newest calls.
    last: Option<usize>,
}

impl PreviewQuery {
    /// A query from parameters as a person or a URL gives them; periods count back from `now`. The error says what is wrong.
    pub fn from_pairs(
        pairs: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
        now: Timestamp,
    ) -> Result<Self, String> {
        let mut filters = vec![("since".to_owned(), PERIOD.to_owned())];
        let mut last = None;
        for (key, value) in pairs {
            let (key, value) = (key.as_ref(), value.as_ref());
            match key {
                "mode" if value == Mode::Strict.as_str() => {}
                "mode" => return Err(unknown_mode(value)),
                "last" => last = Some(number_of_calls(value)?),
                _ if PARAMETERS.contains(&key) => filters.push((key.to_owned(), value.to_owned())),
                _ => {
                    let allowed = PARAMETERS.join(", ");
                    let key: String = key.chars().take(64).collect();
                    return Err(format!("unknown parameter `{key}`; allowed: {allowed}"));
                }
            }
        }
        let filter = Filter::from_pairs(filters, now).map_err(|why| why.to_string())?;
        Ok(Self { filter, last })
    }
}

fn number_of_calls(value: &str) -> Result<usize, String> {
    let number = value.parse().ok();
    let number = number.filter(|number| (1..=MAX_LAST_CALLS).contains(number));
    number.ok_or_else(|| format!("last must be a number from 1 to {MAX_LAST_CALLS}"))
}

fn unknown_mode(value: &str) -> String {
    if matches!(value, "off" | "warn") {
        return format!(
            "there is nothing to preview for mode `{value}`: it blocks nothing because of a contract; allowed: strict"
        );
    }
    let value: String = value.chars().take(64).collect();
    format!("unknown mode `{value}`; allowed: strict")
}

/// Counts what strict mode would block, from the records of a store. Blocks.
pub fn preview(
    config: &Config,
    reader: &Reader,
    query: &PreviewQuery,
) -> Result<Preview, StoreError> {
    let overrides = |server: &str, tool: &str| Overrides::from(&config.policy(server, tool).output);
    match query.last {
        Some(calls) => reader.preview_last(&query.filter, calls, &overrides),
        None => reader.preview(&query.filter, &overrides),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_asked_for_in_known_words() {
        let now = Timestamp::from_millis(10 * 86_400_000);
        let asked = |pairs: &[(&str, &str)]| PreviewQuery::from_pairs(pairs.iter().copied(), now);
        let week = asked(&[("mode", "strict")]).expect("known").filter;
        assert_eq!(week.since, Some(Timestamp::from_millis(3 * 86_400_000)));
        let day = asked(&[("since", "1d"), ("server", "crm")]).expect("known");
        assert_eq!(
            day.filter.since,
            Some(Timestamp::from_millis(9 * 86_400_000))
        );
        for (pair, expected) in [
            (("mode", "stict"), "unknown mode `stict`; allowed: strict"),
            (
                ("mode", "warn"),
                "there is nothing to preview for mode `warn`: it blocks nothing because of a contract; allowed: strict",
            ),
            (
                ("limit", "1"),
                "unknown parameter `limit`; allowed: mode, since, until, server, tool, last",
            ),
            (("last", "0"), "last must be a number from 1 to 10000"),
            (("last", "10001"), "last must be a number from 1 to 10000"),
        ] {
            assert_eq!(asked(&[pair]), Err(expected.to_owned()));
        }
        assert!(asked(&[("since", "soon")]).is_err());
    }
}
