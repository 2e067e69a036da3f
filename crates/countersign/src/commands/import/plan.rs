//! What an import would do, server by server, before anything is written: what is new, what is there already, what is
//! there under the same name and is something else. Nothing that exists is ever lost by default.

use std::collections::BTreeMap;
use std::path::PathBuf;

use countersign_config::{is_server_name, server_name};
use serde::Serialize;

use super::arguments::masked;
use super::definition::Definition;
use super::translate::{Moved, Needed, Translated};

/// What to do about a server whose name is taken by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnConflict {
    Show,
    Replace,
    Rename,
}

/// What becomes of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fate {
    Add,
    AlreadyThere,
    Conflict,
    Replace,
    #[default]
    LeftOut,
}

/// One server of a client's file.
#[derive(Debug, Default, Serialize)]
pub(super) struct Planned {
    pub(super) file: PathBuf,
    /// As the client calls it.
    pub(super) from: String,
    /// As it will be called.
    pub(super) name: String,
    pub(super) fate: Fate,
    /// The folder of the only project the client has it for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<PathBuf>,
    /// Its program or address.
    pub(super) what: String,
    /// Its arguments, without the secrets among them.
    pub(super) args: Vec<String>,
    /// Why, where that is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    /// Variables its secrets move to.
    pub(super) secrets: Vec<String>,
    /// Variables that the operator has to set.
    pub(super) needed: Vec<String>,
    pub(super) notes: Vec<String>,
    #[serde(skip)]
    pub(super) definition: Definition,
    #[serde(skip)]
    pub(super) off: bool,
    #[serde(skip)]
    pub(super) quarantined: bool,
    #[serde(skip)]
    pub(super) moved: Vec<Moved>,
    #[serde(skip)]
    pub(super) missing: Vec<Needed>,
}

/// What is there: in the configuration, in the env file, and in the plan so far.
#[derive(Debug)]
pub(super) struct Existing {
    pub(super) servers: BTreeMap<String, Definition>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) on_conflict: OnConflict,
}

impl Planned {
    /// A server that stays where it is.
    pub(super) fn left_out(file: PathBuf, from: &str, why: impl Into<String>) -> Self {
        Self {
            file,
            from: from.to_owned(),
            name: from.to_owned(),
            why: Some(why.into()),
            ..Self::default()
        }
    }

    /// Whether it is written.
    pub(super) fn is_written(&self) -> bool {
        matches!(self.fate, Fate::Add | Fate::Replace)
    }
}

impl Existing {
    /// Decides about one server, and remembers it for the next. `translate` makes its definition for a name.
    pub(super) fn plan(
        &mut self,
        file: PathBuf,
        from: &str,
        translate: impl Fn(&str) -> Result<Translated, String>,
    ) -> Planned {
        let Some(name) = allowed(from) else {
            return Planned::left_out(
                file,
                from,
                "nothing of its name can be a server's name here",
            );
        };
        let (name, fate, why, translated) = match self.decide(&name, translate) {
            Ok(decided) => decided,
            Err(why) => return Planned::left_out(file, from, why),
        };
        let planned = Planned {
            fate,
            why,
            what: translated.definition.shown(),
            args: masked(&translated.definition.args),
            secrets: translated
                .moved
                .iter()
                .map(|moved| moved.variable.clone())
                .collect(),
            needed: translated
                .needed
                .iter()
                .map(|needed| needed.variable.clone())
                .collect(),
            notes: translated.notes,
            definition: translated.definition,
            moved: translated.moved,
            missing: translated.needed,
            ..Planned::left_out(file, from, "")
        };
        let planned = Planned { name, ..planned };
        self.remember(&planned);
        planned
    }

    fn decide(
        &self,
        name: &str,
        translate: impl Fn(&str) -> Result<Translated, String>,
    ) -> Result<(String, Fate, Option<String>, Translated), String> {
        let translated = translate(name)?;
        let Some(why) = self.conflict(name, &translated) else {
            let fate = if self.servers.contains_key(name) {
                Fate::AlreadyThere
            } else {
                Fate::Add
            };
            return Ok((name.to_owned(), fate, None, translated));
        };
        match self.on_conflict {
            OnConflict::Show => Ok((name.to_owned(), Fate::Conflict, Some(why), translated)),
            OnConflict::Replace if self.servers.contains_key(name) => {
                Ok((name.to_owned(), Fate::Replace, Some(why), translated))
            }
            OnConflict::Replace => Ok((name.to_owned(), Fate::Add, Some(why), translated)),
            OnConflict::Rename => {
                for number in 2..100 {
                    let other = numbered(name, number);
                    let translated = translate(&other)?;
                    if self.conflict(&other, &translated).is_none() {
                        let known = self.servers.contains_key(&other);
                        let fate = if known { Fate::AlreadyThere } else { Fate::Add };
                        return Ok((other, fate, Some(why), translated));
                    }
                }
                Err(format!("there are a hundred servers like {name}"))
            }
        }
    }

    /// What speaks against giving a server this name.
    fn conflict(&self, name: &str, translated: &Translated) -> Option<String> {
        if self
            .servers
            .get(name)
            .is_some_and(|known| *known != translated.definition)
        {
            return Some(format!("{name} is another server in the configuration"));
        }
        let other = translated.moved.iter().find(|moved| {
            let known = self.variables.get(&moved.variable);
            known.is_some_and(|known| *known != moved.value)
        });
        other.map(|moved| format!("{} has another value in the env file", moved.variable))
    }

    fn remember(&mut self, planned: &Planned) {
        if planned.is_written() {
            self.servers
                .insert(planned.name.clone(), planned.definition.clone());
            let moved = planned.moved.iter();
            self.variables
                .extend(moved.map(|moved| (moved.variable.clone(), moved.value.clone())));
        }
    }
}

fn allowed(name: &str) -> Option<String> {
    if is_server_name(name) {
        Some(name.to_owned())
    } else {
        server_name(name)
    }
}

/// `name-2`, cut so that it is still a name.
fn numbered(name: &str, number: usize) -> String {
    let ending = format!("-{number}");
    let kept = name.len().min(20 - ending.len());
    format!(
        "{}{ending}",
        name.get(..kept).unwrap_or(name).trim_end_matches('-')
    )
}

#[cfg(test)]
mod tests {
    use super::Fate::{Add, AlreadyThere, Conflict, LeftOut, Replace};
    use super::*;

    fn translated(
        command: &str,
        secret: Option<&str>,
    ) -> impl Fn(&str) -> Result<Translated, String> {
        let (command, secret) = (command.to_owned(), secret.map(str::to_owned));
        move |name| {
            let variable = format!("{}_T", name.to_uppercase().replace('-', "_"));
            Ok(Translated {
                definition: Definition {
                    command: Some(command.clone()),
                    ..Definition::default()
                },
                moved: secret
                    .iter()
                    .map(|value| Moved {
                        variable: variable.clone(),
                        value: value.clone(),
                    })
                    .collect(),
                ..Translated::default()
            })
        }
    }

    fn fates(on_conflict: OnConflict) -> Vec<(String, Fate)> {
        let known = Definition {
            command: Some("x".to_owned()),
            ..Definition::default()
        };
        let mut existing = Existing {
            servers: [("a".to_owned(), known)].into(),
            variables: [("B_T".to_owned(), "old".to_owned())].into(),
            on_conflict,
        };
        let mut plan = |name: &str, command: &str, secret| {
            let planned = existing.plan("f".into(), name, translated(command, secret));
            (planned.name, planned.fate)
        };
        vec![
            plan("a", "x", None),
            plan("A", "y", None),
            plan("b", "x", Some("new")),
            plan("b", "x", Some("old")),
            plan("日本", "x", None),
            plan("A", "y", None),
        ]
    }

    #[test]
    fn nothing_is_lost_unless_asked_for() {
        let named = |fates: &[(&str, Fate)]| {
            fates
                .iter()
                .map(|(name, fate)| ((*name).to_owned(), *fate))
                .collect::<Vec<_>>()
        };
        let shown = [
            ("a", AlreadyThere),
            ("a", Conflict),
            ("b", Conflict),
            ("b", Add),
            ("日本", LeftOut),
            ("a", Conflict),
        ];
        assert_eq!(fates(OnConflict::Show), named(&shown));
        let replaced = [
            ("a", AlreadyThere),
            ("a", Replace),
            ("b", Add),
            ("b", Replace),
            ("日本", LeftOut),
            ("a", AlreadyThere),
        ];
        assert_eq!(fates(OnConflict::Replace), named(&replaced));
        let renamed = [
            ("a", AlreadyThere),
            ("a-2", Add),
            ("b-2", Add),
            ("b", Add),
            ("日本", LeftOut),
            ("a-2", AlreadyThere),
        ];
        assert_eq!(fates(OnConflict::Rename), named(&renamed));
        assert_eq!(numbered(&"x".repeat(20), 12).len(), 20);
    }
}
