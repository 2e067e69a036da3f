//! Which records are meant: the same options, with the same words, on every command that takes some. What they mean is
//! decided by the audit crate alone, so that a gateway, asked the same, answers the same.

use clap::Args;

/// Parameters as the REST interface takes them.
pub(in crate::commands) type Pairs = Vec<(&'static str, String)>;

/// Which records; several values are separated by commas.
#[derive(Debug, Args)]
pub(super) struct Which {
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
    /// The client's request id
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// The call that decisions are about, by its record's id
    #[arg(long, value_name = "ID")]
    parent_id: Option<String>,
}

/// From when to when.
#[derive(Debug, Args)]
pub(super) struct When {
    /// Not before: `1h`, `7d`, or a time as in RFC 3339
    #[arg(long)]
    since: Option<String>,
    /// Before: `1h`, `7d`, or a time as in RFC 3339
    #[arg(long)]
    until: Option<String>,
}

impl Which {
    pub(super) fn pairs(&self) -> Pairs {
        given([
            ("type", &self.kind),
            ("status", &self.status),
            ("decision", &self.decision),
            ("stage", &self.stage),
            ("rule", &self.rule),
            ("server", &self.server),
            ("tool", &self.tool),
            ("request_id", &self.request_id),
            ("parent_id", &self.parent_id),
        ])
    }
}

impl When {
    pub(super) fn pairs(&self) -> Pairs {
        given([("since", &self.since), ("until", &self.until)])
    }
}

fn given<const N: usize>(options: [(&'static str, &Option<String>); N]) -> Pairs {
    let given = options.into_iter();
    given
        .filter_map(|(key, value)| Some((key, value.clone()?)))
        .collect()
}

/// The parameters as a URL's query.
pub(in crate::commands) fn query(pairs: &[(&'static str, String)]) -> String {
    let pairs = pairs.iter();
    let pairs = pairs.map(|(key, value)| format!("{key}={}", encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A value as it can stand in a URL's query or path.
pub(in crate::commands) fn encoded(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' => {
                safe.push(byte.into());
            }
            _ => safe.extend(['%', digit(byte >> 4), digit(byte & 15)]),
        }
    }
    safe
}

fn digit(nibble: u8) -> char {
    char::from_digit(nibble.into(), 16).unwrap_or('0')
}

#[cfg(test)]
mod tests {
    use super::query;

    #[test]
    fn whatever_is_asked_can_stand_in_a_url() {
        let pairs = [("tool", "a b&c=é".to_owned()), ("status", "x,y".to_owned())];
        assert_eq!(query(&pairs), "tool=a%20b%26c%3d%c3%a9&status=x,y");
    }
}
