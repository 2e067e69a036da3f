//! A change of the callers in the file: one is added or removed. It is spliced into the text, so that everything else stays
//! as its author wrote it.

use countersign_tape::{Edits, Kind, Tape};
use thiserror::Error;

use super::callers::check_caller_name;
use super::document::{Document, brief, suggestion};
use super::problem::{ConfigError, Problem};
use super::splice::{append, edited, remove_element};

const CALLERS: &str = "callers";

/// What is to be done with a caller of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerChange {
    /// It is added at the end.
    Add {
        /// Its name.
        name: String,
        /// The whole entry, as a JSON object. It is written as it is given.
        entry: String,
    },
    /// It is removed.
    Remove(String),
}

/// Why the callers of a file are not changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallerChangeError {
    /// Its name is taken.
    #[error("there is a caller named \"{0}\" already")]
    Exists(String),
    /// There is no such caller.
    #[error("there is no caller named \"{name}\"")]
    Unknown {
        /// The name.
        name: String,
        /// The next step.
        hint: String,
    },
    /// A caller cannot be called this.
    #[error(transparent)]
    Name(ConfigError),
    /// The file is broken, so that nothing can be changed in it.
    #[error(transparent)]
    File(ConfigError),
}

impl CallerChange {
    /// The name of the caller.
    pub fn caller(&self) -> &str {
        let (Self::Add { name, .. } | Self::Remove(name)) = self;
        name
    }

    /// The text of a file with the change made.
    pub fn apply(&self, file: &str) -> Result<String, CallerChangeError> {
        let document = Document::parse(file).map_err(CallerChangeError::File)?;
        let tape = document.tape();
        let callers = callers(tape).map_err(CallerChangeError::File)?;
        let found = entries(tape, callers);
        let found = found.iter().find(|(name, _)| name == self.caller());
        let mut edits = Edits::new(tape.text().as_bytes());
        match (self, found, callers) {
            (Self::Add { name, .. }, Some(_), _) => {
                return Err(CallerChangeError::Exists(brief(name)));
            }
            (Self::Add { name, entry }, None, callers) => {
                let checked = check_caller_name(name);
                checked.map_err(|problem| CallerChangeError::Name(problem.into()))?;
                add(tape, &mut edits, callers, entry);
            }
            (Self::Remove(_), Some((_, entry)), Some(callers)) => {
                remove_element(tape, &mut edits, callers, *entry);
            }
            (Self::Remove(name), ..) => return Err(unknown(tape, callers, name)),
        }
        edited(edits).map_err(CallerChangeError::File)
    }
}

fn unknown(tape: &Tape<'_>, callers: Option<u32>, given: &str) -> CallerChangeError {
    let entries = entries(tape, callers);
    let known: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
    let hint = match known.as_slice() {
        [] => "there are none; `countersign keys add` adds one".to_owned(),
        known => suggestion(given, known, "the callers are"),
    };
    CallerChangeError::Unknown {
        name: brief(given),
        hint,
    }
}

/// The value of `callers`; nothing if the file has none.
fn callers(tape: &Tape<'_>) -> Result<Option<u32>, ConfigError> {
    let hint = "`countersign config check` says what is wrong with it";
    if tape.node(0).kind() != Kind::Object {
        return Err(Problem::new("the file is not an object", hint).into());
    }
    let callers = tape.get(0, CALLERS);
    if callers.is_some_and(|callers| tape.node(callers).kind() != Kind::Array) {
        return Err(Problem::new("\"callers\" is not a list", hint).into());
    }
    Ok(callers)
}

/// The callers that have a name, with it.
fn entries(tape: &Tape<'_>, callers: Option<u32>) -> Vec<(String, u32)> {
    let Some(callers) = callers else {
        return Vec::new();
    };
    let named = tape.children(callers).filter_map(|caller| {
        let is_object = tape.node(caller).kind() == Kind::Object;
        let name = is_object.then(|| tape.get(caller, "name")).flatten()?;
        let is_string = tape.node(name).kind() == Kind::String;
        is_string.then(|| (tape.string(name).into_owned(), caller))
    });
    named.collect()
}

fn add(tape: &Tape<'_>, edits: &mut Edits<'_>, callers: Option<u32>, entry: &str) {
    if let Some(callers) = callers {
        append(tape, edits, callers, entry, 2);
    } else {
        let member = format!("\"{CALLERS}\": [\n    {entry}\n  ]");
        append(tape, edits, 0, &member, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"{"name": "ci", "key_sha256": "00"}"#;

    fn add(file: &str) -> Result<String, CallerChangeError> {
        let change = CallerChange::Add {
            name: "ci".to_owned(),
            entry: ENTRY.to_owned(),
        };
        change.apply(file)
    }

    #[test]
    fn a_caller_is_added_and_removed_and_the_rest_stays_as_written() {
        for (before, after) in [
            ("{}", format!("{{\n  \"callers\": [\n    {ENTRY}\n  ]\n}}")),
            (
                "{\n  \"listen\":  \":1\"\n}\n",
                format!("{{\n  \"listen\":  \":1\",\n  \"callers\": [\n    {ENTRY}\n  ]\n}}\n"),
            ),
            (
                "{\"callers\": [{\"name\": \"b\"}], \"x\":1}",
                format!("{{\"callers\": [{{\"name\": \"b\"}},{ENTRY}], \"x\":1}}"),
            ),
        ] {
            let added = add(before).expect("it can be added");
            assert_eq!(added, after);
            assert!(matches!(add(&added), Err(CallerChangeError::Exists(_))));
            let removed = CallerChange::Remove("ci".to_owned()).apply(&added);
            let removed = removed.expect("it can be removed");
            assert!(!removed.contains("\"ci\""), "{removed}");
            assert_eq!(removed.contains("\"b\""), before.contains("\"b\""));
        }
    }

    #[test]
    fn what_cannot_be_changed_is_refused() {
        let unknown = CallerChange::Remove("cj".to_owned())
            .apply("{\"callers\": [{\"name\": \"ci\"}]}")
            .expect_err("unknown");
        let CallerChangeError::Unknown { hint, .. } = unknown else {
            panic!("{unknown}");
        };
        assert!(hint.contains("ci"), "{hint}");
        for broken in ["[]", "{\"callers\": {}}", "{"] {
            assert!(matches!(add(broken), Err(CallerChangeError::File(_))));
        }
        for name in ["operator", "client", "A", ""] {
            let change = CallerChange::Add {
                name: name.to_owned(),
                entry: ENTRY.to_owned(),
            };
            let refused = change.apply("{}");
            assert!(matches!(refused, Err(CallerChangeError::Name(_))), "{name}");
        }
    }
}
