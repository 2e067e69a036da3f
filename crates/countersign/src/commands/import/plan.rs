//! What an import would do, server by server, before anything is written: what is new, what is there already, what is
//! there under the same name and is something else. By default nothing that exists is replaced.

use std::collections::BTreeMap;
use std::path::PathBuf;

use countersign_config::{fitting_server_name, numbered_server_name};
use countersign_inspect::word_enum;
use serde::Serialize;

use super::arguments::masked;
use super::definition::Definition;
use super::translate::{MovedSecret, NeededVariable, TranslatedDefinition};

/// What to do about a server whose name is taken by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnConflict {
    Show,
    Replace,
    Rename,
}

word_enum! {
    /// What the import does with a server.
    #[derive(Default)]
    pub enum ImportAction {
        Add = "add",
        AlreadyThere = "already_there",
        Conflict = "conflict",
        Replace = "replace",
        #[default]
        LeftOut = "left_out",
    }
}

/// One server of a client's file.
#[derive(Debug, Default, Serialize)]
pub(super) struct PlannedServer {
    pub(super) file: PathBuf,
    /// As the client calls it.
    pub(super) from: String,
    /// As it will be called.
    pub(super) name: String,
    #[serde(rename = "fate")]
    pub(super) action: ImportAction,
    /// The folder of the only project the client has it for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<PathBuf>,
    /// Its program or address.
    pub(super) what: String,
    /// Its arguments, without the secrets among them.
    pub(super) args: Vec<String>,
    /// Why, where that is not obvious.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    pub(super) secrets: Vec<MovedSecret>,
    pub(super) needed: Vec<NeededVariable>,
    pub(super) notes: Vec<String>,
    #[serde(skip)]
    pub(super) definition: Definition,
    #[serde(skip)]
    pub(super) off: bool,
    #[serde(skip)]
    pub(super) quarantined: bool,
}

/// The servers and variables that exist already: in the configuration, in the env file, and in the plan so far.
#[derive(Debug)]
pub(super) struct ExistingSetup {
    pub(super) servers: BTreeMap<String, Definition>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) on_conflict: OnConflict,
}

impl PlannedServer {
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
        matches!(self.action, ImportAction::Add | ImportAction::Replace)
    }
}

impl ExistingSetup {
    /// Decides about one server, and remembers it for the next. `translate` makes its definition for a name.
    pub(super) fn plan(
        &mut self,
        file: PathBuf,
        from: &str,
        translate: impl Fn(&str) -> Result<TranslatedDefinition, String>,
    ) -> PlannedServer {
        let decided = match fitting_server_name(from) {
            Some(name) => self.decide(&name, translate),
            None => Err("nothing of its name can be a server's name here".to_owned()),
        };
        let (name, action, why, translated) = match decided {
            Ok(decided) => decided,
            Err(why) => return PlannedServer::left_out(file, from, why),
        };
        let planned = PlannedServer {
            name,
            action,
            why,
            what: translated.definition.describe(),
            args: masked(&translated.definition.args),
            secrets: translated.secrets,
            needed: translated.needed,
            notes: translated.notes,
            definition: translated.definition,
            ..PlannedServer::left_out(file, from, "")
        };
        self.remember(&planned);
        planned
    }

    fn decide(
        &self,
        name: &str,
        translate: impl Fn(&str) -> Result<TranslatedDefinition, String>,
    ) -> Result<(String, ImportAction, Option<String>, TranslatedDefinition), String> {
        let translated = translate(name)?;
        let unless_known = |name: &str, known| {
            if self.servers.contains_key(name) {
                known
            } else {
                ImportAction::Add
            }
        };
        let Some(why) = self.conflict(name, &translated) else {
            let action = unless_known(name, ImportAction::AlreadyThere);
            return Ok((name.to_owned(), action, None, translated));
        };
        let action = match self.on_conflict {
            OnConflict::Show => ImportAction::Conflict,
            OnConflict::Replace => unless_known(name, ImportAction::Replace),
            OnConflict::Rename => {
                for number in 2..100 {
                    let other = numbered_server_name(name, number);
                    let translated = translate(&other)?;
                    if self.conflict(&other, &translated).is_none() {
                        let action = unless_known(&other, ImportAction::AlreadyThere);
                        return Ok((other, action, Some(why), translated));
                    }
                }
                return Err(format!("there are a hundred servers like {name}"));
            }
        };
        Ok((name.to_owned(), action, Some(why), translated))
    }

    /// Why a server cannot be given this name.
    fn conflict(&self, name: &str, translated: &TranslatedDefinition) -> Option<String> {
        if self
            .servers
            .get(name)
            .is_some_and(|known| *known != translated.definition)
        {
            return Some(format!("{name} is another server in the configuration"));
        }
        let other = translated.secrets.iter().find(|secret| {
            let known = self.variables.get(&secret.variable);
            known.is_some_and(|known| *known != secret.value)
        });
        other.map(|secret| format!("{} has another value in the env file", secret.variable))
    }

    fn remember(&mut self, planned: &PlannedServer) {
        if planned.is_written() {
            self.servers
                .insert(planned.name.clone(), planned.definition.clone());
            let secrets = planned.secrets.iter().cloned();
            self.variables
                .extend(secrets.map(|secret| (secret.variable, secret.value)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ImportAction::{Add, AlreadyThere, Conflict, LeftOut, Replace};
    use super::*;

    fn translated(
        command: &str,
        secret: Option<&str>,
    ) -> impl Fn(&str) -> Result<TranslatedDefinition, String> {
        let (command, secret) = (command.to_owned(), secret.map(str::to_owned));
        move |name| {
            let variable = format!("{}_T", name.to_uppercase().replace('-', "_"));
            Ok(TranslatedDefinition {
                definition: Definition {
                    command: Some(command.clone()),
                    ..Definition::default()
                },
                secrets: secret
                    .iter()
                    .map(|value| MovedSecret {
                        variable: variable.clone(),
                        value: value.clone(),
                    })
                    .collect(),
                ..TranslatedDefinition::default()
            })
        }
    }

    fn planned_actions(on_conflict: OnConflict) -> Vec<(String, ImportAction)> {
        let known = Definition {
            command: Some("x".to_owned()),
            ..Definition::default()
        };
        let mut existing = ExistingSetup {
            servers: [("a".to_owned(), known)].into(),
            variables: [("B_T".to_owned(), "old".to_owned())].into(),
            on_conflict,
        };
        let mut plan = |name: &str, command: &str, secret| {
            let planned = existing.plan("f".into(), name, translated(command, secret));
            (planned.name, planned.action)
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
        let named = |actions: &[(&str, ImportAction)]| {
            actions
                .iter()
                .map(|(name, action)| ((*name).to_owned(), *action))
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
        assert_eq!(planned_actions(OnConflict::Show), named(&shown));
        let replaced = [
            ("a", AlreadyThere),
            ("a", Replace),
            ("b", Add),
            ("b", Replace),
            ("日本", LeftOut),
            ("a", AlreadyThere),
        ];
        assert_eq!(planned_actions(OnConflict::Replace), named(&replaced));
        let renamed = [
            ("a", AlreadyThere),
            ("a-2", Add),
            ("b-2", Add),
            ("b", Add),
            ("日本", LeftOut),
            ("a-2", AlreadyThere),
        ];
        assert_eq!(planned_actions(OnConflict::Rename), named(&renamed));
    }
}
