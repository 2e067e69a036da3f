//! Which tools may be called at all. What a tool says about itself is a hint from a server that is
//! not trusted, so a harmless annotation is not enough when the name says otherwise, and nothing
//! is called that is not known to be harmless or allowed by the person who runs the test.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy::glob;

/// Words in a tool's name that promise a change of the world.
const VERBS: [&str; 38] = [
    "add", "apply", "book", "buy", "call", "cancel", "clear", "commit", "create", "delete",
    "deploy", "destroy", "drop", "edit", "exec", "execute", "insert", "install", "invite", "kill",
    "merge", "move", "order", "pay", "post", "publish", "purge", "push", "put", "remove", "rename",
    "reset", "restart", "run", "send", "set", "update", "write",
];

/// What a tool says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
    /// `idempotentHint`
    pub idempotent: Option<bool>,
}

impl Hints {
    /// Reads the annotations of a declaration.
    pub fn from_declaration(declaration: &Value) -> Self {
        let hint = |name: &str| declaration.get("annotations")?.get(name)?.as_bool();
        Self {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
        }
    }

    /// Whether a repeated call should be answered alike.
    pub fn is_repeatable(self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }
}

/// Why the tester does not call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SafetyRefusal {
    /// Its annotations say that it is destructive.
    SaysDestructive,
    /// Its annotations do not say that it is not destructive, and destructive is the protocol's default.
    SaysNothing,
    /// Its name has a word like `delete`.
    NamedDestructive,
}

impl SafetyRefusal {
    /// The reason in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SaysDestructive => "it says it is destructive",
            Self::SaysNothing => "it does not say it is harmless",
            Self::NamedDestructive => "its name sounds like a change",
        }
    }
}

/// Whether a tool may be called.
pub fn admit(name: &str, hints: Hints, allowed: &[String]) -> Result<(), SafetyRefusal> {
    if allowed.iter().any(|pattern| glob(pattern, name)) {
        return Ok(());
    }
    let harmless = hints.read_only == Some(true) || hints.destructive == Some(false);
    if hints.destructive == Some(true) && hints.read_only != Some(true) {
        Err(SafetyRefusal::SaysDestructive)
    } else if !harmless {
        Err(SafetyRefusal::SaysNothing)
    } else if words(name).any(|word| VERBS.contains(&word.as_str())) {
        Err(SafetyRefusal::NamedDestructive)
    } else {
        Ok(())
    }
}

/// The words of a name: parted by anything that is no letter, and by capitals.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in name.chars() {
        if !letter.is_alphabetic() || (letter.is_uppercase() && after_small) {
            words.push(String::new());
        }
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        after_small = letter.is_lowercase();
    }
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(json: &str) -> Hints {
        Hints::from_declaration(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn only_what_is_harmless_by_word_and_by_name_is_called() {
        let read = hints(r#"{"annotations":{"readOnlyHint":true}}"#);
        let mild = hints(r#"{"annotations":{"destructiveHint":false}}"#);
        let harsh = hints(r#"{"annotations":{"destructiveHint":true}}"#);
        let silent = hints("{}");
        for (name, hints, expected) in [
            ("list_files", read, Ok(())),
            ("getSettings", read, Ok(())),
            ("setFile", read, Err(SafetyRefusal::NamedDestructive)),
            ("delete_file", read, Err(SafetyRefusal::NamedDestructive)),
            ("FILE-DELETE", read, Err(SafetyRefusal::NamedDestructive)),
            ("list_files", mild, Ok(())),
            ("list_files", harsh, Err(SafetyRefusal::SaysDestructive)),
            ("list_files", silent, Err(SafetyRefusal::SaysNothing)),
        ] {
            assert_eq!(admit(name, hints, &[]), expected, "{name} {hints:?}");
        }
        assert_eq!(
            admit("delete_file", harsh, &["delete_*".to_owned()]),
            Ok(())
        );
        assert!(admit("delete_file", harsh, &["list_*".to_owned()]).is_err());
    }
}
