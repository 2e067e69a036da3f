//! One setting that differs between two configurations, with both values as `config show` prints them.

use std::collections::BTreeSet;
use std::fmt;

use countersign_config::Config;
use serde_json::Value;

use super::{SERVERS, changed_secrets, changed_servers, is_reached_otherwise, server, shown};

/// A value is told up to this length.
const MAX_VALUE: usize = 300;
const MASK: &str = "[redacted]";

/// One setting that differs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SettingChange {
    key: String,
    /// Nothing if it was not there.
    old: Option<Value>,
    new: Option<Value>,
}

/// Every setting that differs. What servers inherit from a setting of the whole file is told once.
pub(crate) fn changes(old: &Config, new: &Config) -> Vec<SettingChange> {
    let [before, after] = [old, new].map(shown);
    let mut changes = Vec::new();
    for key in keys(&before, &after) {
        if key != SERVERS {
            compare(key, before.get(key), after.get(key), &mut changes);
        }
    }
    for key in changed_secrets(old, new) {
        let mut changed = changes.iter();
        if !changed.any(|change: &SettingChange| change.is_within(key)) {
            changes.push(SettingChange::of_secret(key));
        }
    }
    let inherited = changes.clone();
    for name in changed_servers((old, &before), (new, &after)) {
        let (key, told) = (format!("{SERVERS}.{name}"), changes.len());
        compare(
            &key,
            server(&before, name),
            server(&after, name),
            &mut changes,
        );
        if changes.len() == told && is_reached_otherwise(old, new, name) {
            changes.push(SettingChange::of_secret(&key));
        }
        changes.retain(|change| !change.is_inherited(&key, &inherited));
    }
    changes
}

/// The members that either object has.
pub(super) fn keys<'a>(before: &'a Value, after: &'a Value) -> BTreeSet<&'a String> {
    let objects = [before, after].into_iter().filter_map(Value::as_object);
    objects.flat_map(|members| members.keys()).collect()
}

/// Depth of recursion is that of a configuration, which is not deep.
fn compare(key: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<SettingChange>) {
    if old == new {
        return;
    }
    if let (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) = (old, new) {
        for member in keys(old, new) {
            let key = format!("{key}.{member}");
            compare(&key, old.get(member), new.get(member), changes);
        }
        return;
    }
    changes.push(SettingChange {
        key: key.to_owned(),
        old: old.cloned(),
        new: new.cloned(),
    });
}

impl SettingChange {
    /// A secret that differs: neither value may be told.
    fn of_secret(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            old: Some(MASK.into()),
            new: Some(MASK.into()),
        }
    }

    fn is_within(&self, key: &str) -> bool {
        let rest = self.key.strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Whether it is what one of `others` makes of the server that `prefix` names, or of one of its tools.
    fn is_inherited(&self, prefix: &str, others: &[Self]) -> bool {
        let own = self.key.strip_prefix(prefix);
        own.and_then(|own| own.strip_prefix('.'))
            .is_some_and(|own| {
                others.iter().any(|other| {
                    let before = own.strip_suffix(other.key.as_str());
                    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
                        && (&self.old, &self.new) == (&other.old, &other.new)
                })
            })
    }
}

/// `key old -> new`, with values as JSON.
impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |value: &Option<Value>| {
            let Some(value) = value else {
                return "unset".to_owned();
            };
            let mut text = value.to_string();
            if text.len() > MAX_VALUE {
                text.truncate(text.floor_char_boundary(MAX_VALUE));
                text.push('…');
            }
            text
        };
        write!(
            f,
            "{} {} -> {}",
            self.key,
            value(&self.old),
            value(&self.new)
        )
    }
}
