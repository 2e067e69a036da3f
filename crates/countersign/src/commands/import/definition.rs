//! How a server is reached, read from the settings of any client: clients use several keys for one thing. Reads settings and
//! compares them; keys without a meaning here are listed, so that the import can report them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::secrets::has_shape;

/// Keys that say how a server is reached, in every spelling.
pub(super) const KEYS: [&str; 12] = [
    "command",
    "args",
    "env",
    "working_dir",
    "cwd",
    "url",
    "serverUrl",
    "headers",
    "protocol",
    "type",
    "transport",
    "transportType",
];
/// Keys that mean the same here and are carried over.
const SWITCHES: [&str; 3] = ["enabled", "disabled", "quarantined"];

/// How a server is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) working_dir: Option<String>,
    pub(super) url: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    /// The HTTP transport before the one of today.
    pub(super) sse: bool,
}

/// A definition as read from a client's file, with its switches and the keys that have no meaning here.
#[derive(Debug, Clone, Default)]
pub(super) struct ParsedDefinition {
    pub(super) definition: Definition,
    /// It is not to be used.
    pub(super) off: bool,
    /// It has not been approved yet.
    pub(super) quarantined: bool,
    /// Keys that have no meaning here.
    pub(super) left_out: Vec<String>,
}

impl ParsedDefinition {
    /// Reads a server's settings. `Err`: why they cannot be used.
    pub(super) fn from_settings(settings: &Value) -> Result<Self, String> {
        let Some(settings) = settings.as_object() else {
            return Err("it is not an object".to_owned());
        };
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| settings.get(*name)?.as_str());
            found.map(str::to_owned)
        };
        let kind = text(&["protocol", "type", "transport", "transportType"]);
        let definition = Definition {
            command: text(&["command"]),
            args: args(settings.get("args"))?,
            env: texts(settings.get("env"), "env")?,
            working_dir: text(&["working_dir", "cwd"]),
            url: text(&["url", "serverUrl"]),
            headers: texts(settings.get("headers"), "headers")?,
            sse: kind.is_some_and(|kind| kind.eq_ignore_ascii_case("sse")),
        };
        match (&definition.command, &definition.url) {
            (None, None) => return Err("it has neither a command nor a url".to_owned()),
            (Some(_), Some(_)) => return Err("it has a command and a url".to_owned()),
            _ => {}
        }
        let flag = |name: &str| settings.get(name).and_then(Value::as_bool);
        let known = |name: &&String| {
            let name = name.as_str();
            KEYS.contains(&name) || SWITCHES.contains(&name) || name == "name"
        };
        Ok(Self {
            definition,
            off: flag("enabled") == Some(false) || flag("disabled") == Some(true),
            quarantined: flag("quarantined") == Some(true),
            left_out: settings
                .keys()
                .filter(|name| !known(name))
                .cloned()
                .collect(),
        })
    }
}

impl Definition {
    /// As our configuration writes it.
    pub(super) fn members(&self) -> Vec<(&'static str, Value)> {
        let given = [
            ("command", json!(self.command), self.command.is_some()),
            ("args", json!(self.args), !self.args.is_empty()),
            ("env", json!(self.env), !self.env.is_empty()),
            (
                "working_dir",
                json!(self.working_dir),
                self.working_dir.is_some(),
            ),
            ("url", json!(self.url), self.url.is_some()),
            ("headers", json!(self.headers), !self.headers.is_empty()),
            ("protocol", json!("sse"), self.sse),
        ];
        let given = given.into_iter().filter(|(_, _, is_given)| *is_given);
        given.map(|(name, value, _)| (name, value)).collect()
    }

    /// For a person: the program, or the address, without what may be secret in it.
    pub(super) fn describe(&self) -> String {
        match (&self.command, &self.url) {
            (Some(command), _) if command.split_whitespace().any(has_shape) => {
                format!("{} …", command.split_whitespace().next().unwrap_or(""))
            }
            (Some(command), _) => command.clone(),
            (None, Some(url)) => {
                let url = url.split(['?', '#']).next().unwrap_or(url);
                let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
                let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
                let host = host.rsplit('@').next().unwrap_or(host);
                let slash = if rest.contains('/') { "/" } else { "" };
                format!("{scheme}://{host}{slash}{path}")
            }
            (None, None) => String::new(),
        }
    }
}

fn args(value: Option<&Value>) -> Result<Vec<String>, String> {
    let wrong = || "\"args\" is not a list of strings".to_owned();
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(args)) => args
            .iter()
            .map(|arg| scalar(arg).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

/// Clients let numbers stand for strings; `null` is a variable that is not set.
fn texts(value: Option<&Value>, key: &str) -> Result<BTreeMap<String, String>, String> {
    let wrong = || format!("\"{key}\" is not an object of strings");
    match value {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(members)) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| Ok((name.clone(), scalar(value).ok_or_else(wrong)?)))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ParsedDefinition;

    #[test]
    fn one_thing_has_several_spellings() {
        let ours =
            json!({"name": "a", "url": "https://x.example", "protocol": "sse", "timeout": "1s"});
        let theirs = json!({"serverUrl": "https://x.example", "type": "SSE", "disabled": true, "autoApprove": []});
        let (ours, theirs) = (
            ParsedDefinition::from_settings(&ours).expect("readable"),
            ParsedDefinition::from_settings(&theirs).expect("readable"),
        );
        assert_eq!(ours.definition, theirs.definition);
        assert!(theirs.off && !ours.off);
        assert_eq!(theirs.left_out, ["autoApprove"]);
        let one =
            json!({"command": "x", "args": ["a", 1], "env": {"N": 1, "U": null}, "cwd": "/w"});
        let other = json!({"command": "x", "args": ["a", "1"], "env": {"N": "1"}, "working_dir": "/w", "type": "stdio"});
        let [one, other] = [one, other].map(|value| {
            ParsedDefinition::from_settings(&value)
                .expect("readable")
                .definition
        });
        assert_eq!(one, other);
        assert_eq!(
            ParsedDefinition::from_settings(&one.members().into_iter().collect::<Value>())
                .expect("readable")
                .definition,
            one
        );
    }

    #[test]
    fn what_is_shown_has_no_secret() {
        let shown = |server: Value| {
            ParsedDefinition::from_settings(&server)
                .expect("readable")
                .definition
                .describe()
        };
        assert_eq!(shown(json!({"command": "npx"})), "npx");
        assert_eq!(shown(json!({"command": "/My Apps/x"})), "/My Apps/x");
        assert_eq!(
            shown(json!({"command": "npx --key sk-0123456789"})),
            "npx …"
        );
        let url = "https://me:pw@x.example/a?key=s3cret#y";
        assert_eq!(shown(json!({"url": url})), "https://x.example/a");
    }

    #[test]
    fn what_cannot_be_started_is_refused() {
        for bad in [
            json!(1),
            json!({}),
            json!({"command": "x", "url": "y"}),
            json!({"command": "x", "args": "a"}),
            json!({"command": "x", "env": []}),
        ] {
            assert!(ParsedDefinition::from_settings(&bad).is_err(), "{bad}");
        }
    }
}
