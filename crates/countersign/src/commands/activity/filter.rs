//! Which records a command is about: the same options on every command that takes some. The audit crate alone decides
//! what they mean, so that a gateway that is asked with the same words gives the same records.

use clap::Args;

/// Parameters as the REST interface takes them.
pub(in crate::commands) type Pairs = Vec<(&'static str, String)>;

/// Which records; several values are separated by commas.
#[derive(Debug, Args)]
pub(super) struct RecordFilter {
    /// What it is about: `tool_call`, `policy_decision`, …
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// How it ended: success, error, rejected, flagged, rewritten, blocked
    #[arg(long)]
    status: Option<String>,
    /// What was decided: allowed, flagged (also if the text was rewritten as well), rewritten, blocked
    #[arg(long)]
    decision: Option<String>,
    /// A stage that found something: transport, shape, guard, contract, …
    #[arg(long)]
    stage: Option<String>,
    /// A rule that found something, such as `schema.type`
    #[arg(long)]
    rule: Option<String>,
    /// The server
    #[arg(long)]
    server: Option<String>,
    /// The tool, by its own name
    #[arg(long)]
    tool: Option<String>,
    /// Who called, such as `key:ci`
    #[arg(long)]
    caller: Option<String>,
    /// The client's request id
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// The call that decisions are about, by its record's id
    #[arg(long, value_name = "ID")]
    parent_id: Option<String>,
}

/// From when to when.
#[derive(Debug, Args)]
pub(super) struct TimeRange {
    /// Not before: `1h`, `7d`, or a time as in RFC 3339
    #[arg(long)]
    since: Option<String>,
    /// Before: `1h`, `7d`, or a time as in RFC 3339
    #[arg(long)]
    until: Option<String>,
}

impl RecordFilter {
    pub(super) fn pairs(&self) -> Pairs {
        given_pairs([
            ("type", &self.kind),
            ("status", &self.status),
            ("decision", &self.decision),
            ("stage", &self.stage),
            ("rule", &self.rule),
            ("server", &self.server),
            ("tool", &self.tool),
            ("caller", &self.caller),
            ("request_id", &self.request_id),
            ("parent_id", &self.parent_id),
        ])
    }
}

impl TimeRange {
    pub(super) fn pairs(&self) -> Pairs {
        given_pairs([("since", &self.since), ("until", &self.until)])
    }
}

/// The parameters that have a value.
pub(in crate::commands) fn given_pairs<const N: usize>(
    options: [(&'static str, &Option<String>); N],
) -> Pairs {
    let given = |(key, value): (_, &Option<String>)| Some((key, value.clone()?));
    options.into_iter().filter_map(given).collect()
}

/// The parameters as a URL's query.
pub(super) fn query_string(pairs: &[(&'static str, String)]) -> String {
    let pairs = pairs.iter();
    let pairs = pairs.map(|(key, value)| format!("{key}={}", url_encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A value as it can stand in a URL's query or path.
pub(in crate::commands) fn url_encoded(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' => {
                safe.push(byte.into());
            }
            _ => safe.extend([format!("%{byte:02x}")]),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::query_string;

    #[test]
    fn whatever_is_asked_can_stand_in_a_url() {
        let pairs = [("tool", "a b&c=é".to_owned()), ("status", "x,y".to_owned())];
        assert_eq!(query_string(&pairs), "tool=a%20b%26c%3d%c3%a9&status=x,y");
    }
}
