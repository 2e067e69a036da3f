//! The settings of an inspector: those blocks of `mcp_config.json` that are about inspection, under the same keys and
//! read by the same code. An unknown key or value is an error that names what is allowed.

use std::collections::BTreeMap;
use std::fmt;

use countersign_inspect::config::{
    InputValidation, OutputSanitisation, OutputValidation, RawInputValidation,
    RawOutputSanitisation, RawOutputValidation,
};
use countersign_inspect::{Inspector, MAX_MESSAGE_DEPTH, Mode, Policy, Sanitisation, UnknownWord};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

type Object = BTreeMap<String, Box<RawValue>>;

const KEYS: &[&str] = &[
    "output_validation",
    "input_validation",
    "output_sanitisation",
    "max_message_bytes",
    "max_message_depth",
    "activity",
    "tools",
];
const TOOL_KEYS: &[&str] = &[
    "output_validation",
    "input_validation",
    "output_sanitisation",
    "free_text",
];
const WORDS_ON_STORE_ERROR: &[&str] = &["auto", "refuse", "continue"];

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The dotted path of the key.
    pub key: String,
    /// What is allowed there, if the set is closed.
    pub allowed: Vec<String>,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl ConfigError {
    /// The parts as JSON text, for languages whose errors have only a message.
    pub fn to_json(&self) -> String {
        let Self {
            key,
            allowed,
            message,
        } = self;
        serde_json::json!({"message": message, "key": key, "allowed": allowed}).to_string()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

/// What to do with a result whose record could not be handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnStoreError {
    /// Refuse in strict mode, go on otherwise.
    #[default]
    Auto,
    Refuse,
    Continue,
}

impl OnStoreError {
    pub(crate) fn refuses(self, mode: Mode) -> bool {
        match self {
            Self::Auto => mode == Mode::Strict,
            Self::Refuse => true,
            Self::Continue => false,
        }
    }
}

/// The settings, resolved.
pub(crate) struct Resolved {
    pub(crate) inspector: Inspector,
    pub(crate) on_store_error: OnStoreError,
    /// Some tool's arguments are to be blocked before they are sent.
    pub(crate) is_input_strict: bool,
}

/// The three blocks that may stand at the top and under a tool.
#[derive(Clone, Default)]
struct Blocks {
    output: RawOutputValidation,
    input: RawInputValidation,
    sanitisation: RawOutputSanitisation,
}

impl Blocks {
    fn read(object: &Object, path: &str) -> Result<Self, ConfigError> {
        let sanitisation: RawOutputSanitisation = read_block(
            object,
            path,
            "output_sanitisation",
            RawOutputSanitisation::KEYS,
        )?;
        if let Some((key, why)) = sanitisation.problem() {
            return Err(error(format!("{path}output_sanitisation.{key}"), &why));
        }
        Ok(Self {
            output: read_block(object, path, "output_validation", RawOutputValidation::KEYS)?,
            input: read_block(object, path, "input_validation", RawInputValidation::KEYS)?,
            sanitisation,
        })
    }
}

/// Limits on whole messages.
#[derive(Clone, Copy)]
struct Limits {
    bytes: usize,
    depth: Option<u32>,
}

/// Reads the settings of one server's inspector from JSON text.
pub(crate) fn resolve(text: &str, server: Option<&str>) -> Result<Resolved, ConfigError> {
    let object: Object = serde_json::from_str(text)
        .map_err(|_| error(String::new(), "the settings must be a JSON object"))?;
    check_keys(&object, "", KEYS)?;
    let global = Blocks::read(&object, "")?;
    let limits = Limits {
        bytes: read_number(&object, "max_message_bytes", 1, 1 << 30)?.unwrap_or(16 << 20),
        depth: read_number(&object, "max_message_depth", 1, 1_000_000)?,
    };
    let base = policy(&[&global], limits, None)?;
    let mut is_input_strict = base.input.mode == Mode::Strict;
    let mut inspector = Inspector::new(base);
    if let Some(server) = server {
        inspector = inspector.for_server(server);
    }
    let tools: BTreeMap<String, Object> = read(&object, "", "tools")?.unwrap_or_default();
    for (name, tool) in tools {
        let path = format!("tools.{name}.");
        check_keys(&tool, &path, TOOL_KEYS)?;
        let blocks = Blocks::read(&tool, &path)?;
        let free_text = read(&tool, &path, "free_text")?;
        let policy = policy(&[&global, &blocks], limits, free_text)?;
        is_input_strict |= policy.input.mode == Mode::Strict;
        inspector = inspector.with_tool_policy(name, policy);
    }
    Ok(Resolved {
        inspector,
        on_store_error: on_store_error(&object)?,
        is_input_strict,
    })
}

fn policy(
    blocks: &[&Blocks],
    limits: Limits,
    free_text: Option<bool>,
) -> Result<Policy, ConfigError> {
    let output = OutputValidation::resolve(blocks.iter().map(|block| &block.output));
    let sanitisation = OutputSanitisation::resolve(blocks.iter().map(|block| &block.sanitisation));
    // What the guard on structured content allows, and the two levels around it.
    let guarded = output.max_depth.saturating_add(2);
    Ok(Policy {
        input: InputValidation::resolve(blocks.iter().map(|block| &block.input)),
        sanitisation: Sanitisation::compile(&sanitisation)
            .map_err(|why| error("output_sanitisation".to_owned(), &why.to_string()))?,
        free_text,
        max_message_bytes: limits.bytes,
        max_message_depth: limits.depth.unwrap_or(MAX_MESSAGE_DEPTH.max(guarded)),
        output,
        ..Policy::default()
    })
}

fn on_store_error(object: &Object) -> Result<OnStoreError, ConfigError> {
    let activity: Object = read(object, "", "activity")?.unwrap_or_default();
    check_keys(&activity, "activity.", &["on_store_error"])?;
    let word: Option<String> = read(&activity, "activity.", "on_store_error")?;
    match word.as_deref() {
        None | Some("auto") => Ok(OnStoreError::Auto),
        Some("refuse") => Ok(OnStoreError::Refuse),
        Some("continue") => Ok(OnStoreError::Continue),
        Some(other) => {
            let why = UnknownWord::new("value", other, WORDS_ON_STORE_ERROR).to_string();
            Err(error("activity.on_store_error".to_owned(), &why))
        }
    }
}

fn check_keys(object: &Object, path: &str, allowed: &[&'static str]) -> Result<(), ConfigError> {
    let unknown = object.keys().find(|key| !allowed.contains(&key.as_str()));
    let Some(key) = unknown else {
        return Ok(());
    };
    let words: Vec<String> = allowed.iter().map(|word| (*word).to_owned()).collect();
    Err(ConfigError {
        key: format!("{path}{key}"),
        message: format!("{path}{key}: unknown key; allowed: {}", words.join(", ")),
        allowed: words,
    })
}

fn read<T: DeserializeOwned>(
    object: &Object,
    path: &str,
    key: &str,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = object.get(key) else {
        return Ok(None);
    };
    let read = serde_json::from_str(value.get());
    read.map(Some)
        .map_err(|why| error(format!("{path}{key}"), &why.to_string()))
}

fn read_block<T: DeserializeOwned + Default>(
    object: &Object,
    path: &str,
    block: &str,
    keys: &[&str],
) -> Result<T, ConfigError> {
    let Some(value) = object.get(block) else {
        return Ok(T::default());
    };
    serde_json::from_str(value.get()).map_err(|why| {
        let why = why.to_string();
        // The message begins with the key, or quotes the one that is unknown.
        let named = why.split_once(": ").map(|(key, _)| key);
        let quoted = why
            .strip_prefix("unknown key \"")
            .and_then(|rest| rest.split('"').next());
        let key = named.filter(|key| keys.contains(key)).or(quoted);
        let key = key.map_or_else(
            || format!("{path}{block}"),
            |key| format!("{path}{block}.{key}"),
        );
        error(key, &why)
    })
}

fn read_number<N: TryFrom<u64>>(
    object: &Object,
    key: &str,
    least: u64,
    most: u64,
) -> Result<Option<N>, ConfigError> {
    let Some(number) = read::<u64>(object, "", key)? else {
        return Ok(None);
    };
    let in_range = (least..=most).contains(&number);
    match N::try_from(number) {
        Ok(number) if in_range => Ok(Some(number)),
        _ => Err(error(
            key.to_owned(),
            &format!("must be from {least} to {most}"),
        )),
    }
}

/// Reads an `output_sanitisation` block by itself.
pub(crate) fn read_sanitisation(text: &str) -> Result<RawOutputSanitisation, ConfigError> {
    let value: Box<RawValue> = serde_json::from_str(text)
        .map_err(|_| error(String::new(), "the settings must be a JSON object"))?;
    let object = Object::from([("output_sanitisation".to_owned(), value)]);
    Ok(Blocks::read(&object, "")?.sanitisation)
}

/// An error about a key. Positions are left out: the text was written by the program, not by a person.
pub(crate) fn error(key: String, why: &str) -> ConfigError {
    let why = why.rsplit_once(" at line ").map_or(why, |(why, _)| why);
    let last = key.rsplit('.').next().unwrap_or_default();
    let why = why.strip_prefix(&format!("{last}: ")).unwrap_or(why);
    let allowed = why
        .split_once("allowed: ")
        .map_or("", |(_, allowed)| allowed);
    let allowed = allowed.split(';').next().unwrap_or_default();
    let allowed = allowed.split(", ").filter(|word| !word.is_empty());
    ConfigError {
        allowed: allowed.map(str::to_owned).collect(),
        message: if key.is_empty() {
            why.to_owned()
        } else {
            format!("{key}: {why}")
        },
        key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> ConfigError {
        resolve(text, None).err().expect("an error")
    }

    #[test]
    fn a_tool_overrides_what_holds_for_all() {
        let text = r#"{"output_validation":{"mode":"strict","max_bytes":9},"tools":{"a":{"output_validation":{"mode":"warn"}}}}"#;
        let resolved = resolve(text, Some("s")).expect("settings");
        let policy = |tool| {
            resolved
                .inspector
                .policy(&resolved.inspector.tool_name(tool))
                .output
        };
        assert_eq!((policy("a").mode, policy("a").max_bytes), (Mode::Warn, 9));
        assert_eq!(policy("b").mode, Mode::Strict);
    }

    #[test]
    fn mistakes_name_the_key_and_what_is_allowed() {
        let error = refused(r#"{"tools":{"a":{"output_validation":{"mode":"stirct"}}}}"#);
        assert_eq!(error.key, "tools.a.output_validation.mode");
        assert_eq!(error.allowed, ["off", "warn", "strict"]);
        let error = refused(r#"{"output_validation":{"mod":1}}"#);
        assert_eq!(error.key, "output_validation.mod");
        assert!(error.allowed.contains(&"max_depth".to_owned()), "{error:?}");
        let error = refused(r#"{"outputs":1}"#);
        assert_eq!(
            (error.key.as_str(), error.allowed.len()),
            ("outputs", KEYS.len())
        );
        let error = refused(r#"{"activity":{"on_store_error":"stop"}}"#);
        assert_eq!(error.allowed, WORDS_ON_STORE_ERROR);
        assert_eq!(
            refused(r#"{"max_message_bytes":0}"#).key,
            "max_message_bytes"
        );
        assert_eq!(
            refused(r#"{"output_sanitisation":{"families":["x"]}}"#).key,
            "output_sanitisation.families"
        );
        assert_eq!(refused("[]").message, "the settings must be a JSON object");
    }
}
