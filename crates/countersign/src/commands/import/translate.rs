//! From what a client would start to what the gateway can: references are rewritten or replaced, secrets move out of the
//! definition into variables. Values are never shown; what cannot be carried over is refused with its reason.

use std::path::Path;

use countersign_config::Environment;
use serde::Serialize;
use serde_json::Value;

use super::arguments::masked;
use super::definition::Definition;
use super::document::FileFormat;
use super::secrets::{is_secret, query_secrets, scheme};
use crate::json::list;

/// What a client knows when it starts a server.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) file_format: FileFormat,
    pub(super) environment: &'a Environment<'a>,
    /// The folder of the project, if the file or the server is for one, or the operator named one.
    pub(super) workspace: Option<&'a Path>,
    pub(super) inputs: &'a Value,
}

/// A secret that moves to a variable of the env file. JSON has only the variable's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct MovedSecret {
    pub(super) variable: String,
    #[serde(skip)]
    pub(super) value: String,
}

/// A variable that the operator has to set. JSON has only its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct NeededVariable {
    pub(super) variable: String,
    #[serde(skip)]
    pub(super) why: String,
}

/// A definition the gateway can use.
#[derive(Debug, Clone, Default)]
pub(super) struct TranslatedDefinition {
    pub(super) definition: Definition,
    pub(super) secrets: Vec<MovedSecret>,
    pub(super) needed: Vec<NeededVariable>,
    pub(super) notes: Vec<String>,
}

/// Translates the definition of the server that will have this name. `Err`: why it cannot be carried over.
pub(super) fn translate(
    context: &Context<'_>,
    server: &str,
    from: &Definition,
) -> Result<TranslatedDefinition, String> {
    let mut to = TranslatedDefinition::default();
    let plain = |text: &Option<String>, place: &str| {
        let text = text.as_deref();
        text.map(|text| context.resolve_text(text, place))
            .transpose()
    };
    to.definition.command = plain(&from.command, "command")?;
    to.definition.url = plain(&from.url, "url")?;
    to.definition.working_dir = plain(&from.working_dir, "cwd")?;
    let args = from
        .args
        .iter()
        .map(|text| context.resolve_text(text, "args"));
    to.definition.args = args.collect::<Result<_, _>>()?;
    to.definition.sse = from.sse;
    for (name, text) in &from.env {
        let value = context.value(&mut to, server, name, text)?;
        to.definition.env.insert(name.clone(), value);
    }
    for (name, text) in &from.headers {
        let value = context.value(&mut to, server, name, text)?;
        to.definition.headers.insert(name.clone(), value);
    }
    if to.definition.working_dir.is_none() && has_relative_path(&to.definition) {
        let folder = context.workspace;
        to.definition.working_dir = folder.map(|folder| folder.to_string_lossy().into_owned());
    }
    to.notes.extend(notes(context, from, &to.definition));
    Ok(to)
}

/// What the operator should know about a definition before it is written.
fn notes(context: &Context<'_>, from: &Definition, to: &Definition) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(folder) = context.workspace {
        let folder = folder.to_string_lossy();
        if refers_to_workspace(from) {
            notes.push(format!("${{workspaceFolder}} is {folder}"));
        }
        if from.working_dir.is_none() && to.working_dir.is_some() {
            notes.push(format!("is started in {folder}"));
        }
    }
    if masked(&to.args) != to.args {
        notes.push(
            "an argument looks like a secret and stays one: others on this machine can see it"
                .to_owned(),
        );
    }
    let secrets = to.url.as_deref().map(query_secrets).unwrap_or_default();
    if !secrets.is_empty() {
        notes.push(format!(
            "{} in the url looks like a secret and stays in the configuration file: if the server takes it in a header, put it there",
            secrets.join(", ")
        ));
    }
    notes
}

fn refers_to_workspace(from: &Definition) -> bool {
    let single = [&from.command, &from.url, &from.working_dir];
    let many = from.args.iter().chain(from.env.values());
    let mut texts = single
        .into_iter()
        .flatten()
        .chain(many)
        .chain(from.headers.values());
    texts.any(|text| text.contains("${workspaceFolder") || text.contains("${workspaceRoot"))
}

/// Whether a program is found, or an argument read, from the folder the client starts the server in.
fn has_relative_path(definition: &Definition) -> bool {
    let mut texts = definition.command.iter().chain(&definition.args);
    texts.any(|text| {
        matches!(text.as_str(), "." | "..") || text.starts_with("./") || text.starts_with("../")
    }) && definition.command.is_some()
}

impl Context<'_> {
    /// A value of `env` or `headers`, where references may stay.
    fn value(
        &self,
        to: &mut TranslatedDefinition,
        server: &str,
        name: &str,
        text: &str,
    ) -> Result<String, String> {
        let mut refers = false;
        let value = replace_references(text, |word| match self.reference(to, word, name)? {
            Meaning::Text(text) => Ok(text),
            Meaning::Variable(variable) => {
                refers = true;
                Ok(reference(&variable))
            }
        })?;
        if refers || !is_secret(name, &value) {
            return Ok(value);
        }
        let (before, secret, name) = match scheme(&value) {
            Some((scheme, rest)) => (format!("{scheme} "), rest, "TOKEN"),
            None => (String::new(), value.as_str(), name),
        };
        let variable = variable(server, name);
        let reference = format!("{before}{}", reference(&variable));
        let value = secret.to_owned();
        to.secrets.push(MovedSecret { variable, value });
        Ok(reference)
    }

    /// A text of which no secret may become part: references are replaced here and now.
    fn resolve_text(&self, text: &str, place: &str) -> Result<String, String> {
        let mut unused = TranslatedDefinition::default();
        replace_references(text, |word| {
            match self.reference(&mut unused, word, place)? {
                Meaning::Text(text) => Ok(text),
                Meaning::Variable(name) => {
                    let set = self.environment.get(&name);
                    let set = set.filter(|value| !is_secret(&name, value));
                    set.ok_or_else(|| format!("\"{place}\" needs ${{{word}}}, and references are replaced in \"env\" and \"headers\" only"))
                }
            }
        })
    }

    fn reference(
        &self,
        to: &mut TranslatedDefinition,
        word: &str,
        place: &str,
    ) -> Result<Meaning, String> {
        let (kind, name) = word.split_once(':').unwrap_or((word, ""));
        let folder = || {
            self.workspace.ok_or_else(|| {
                format!("\"{place}\" needs ${{{word}}}, and the file is for every project: --workspace FOLDER says which one is meant")
            })
        };
        let text = |path: &Path| Meaning::Text(path.to_string_lossy().into_owned());
        Ok(match (kind, self.file_format) {
            ("env", _) => self.variable(to, name, &format!("{place} refers to it")),
            ("input", _) => self.input(to, name),
            ("keyring", _) => self.variable(to, &upper(name), "it was in the keyring of mcpproxy"),
            ("workspaceFolder" | "workspaceRoot", _) => text(folder()?),
            ("workspaceFolderBasename", _) => {
                text(folder()?.file_name().unwrap_or_default().as_ref())
            }
            ("userHome", _) => text(
                self.environment
                    .home()
                    .ok_or("no home directory is known")?,
            ),
            ("pathSeparator" | "/", _) => Meaning::Text(std::path::MAIN_SEPARATOR.to_string()),
            // Claude Code's `${NAME}` and `${NAME:-otherwise}`.
            (_, FileFormat::Desktop) if is_variable(kind) => match name.strip_prefix('-') {
                Some(otherwise) if self.environment.get(kind).is_none() => {
                    Meaning::Text(otherwise.to_owned())
                }
                _ => self.variable(to, kind, &format!("{place} refers to it")),
            },
            _ => Meaning::Text(format!("${{{word}}}")),
        })
    }

    fn variable(&self, to: &mut TranslatedDefinition, name: &str, why: &str) -> Meaning {
        if self.environment.get(name).is_none() {
            to.needed.push(NeededVariable {
                variable: name.to_owned(),
                why: why.to_owned(),
            });
        }
        Meaning::Variable(name.to_owned())
    }

    /// What a client asks its user for is in no file: an ordinary input may have a default, a password must be set.
    fn input(&self, to: &mut TranslatedDefinition, id: &str) -> Meaning {
        let input = list(self.inputs).iter().find(|input| input["id"] == id);
        let input = input.unwrap_or(&Value::Null);
        match input["default"].as_str() {
            Some(default) if input["password"] != true => Meaning::Text(default.to_owned()),
            _ => {
                let description = one_line(input["description"].as_str().unwrap_or(id));
                let why = format!("the client asks its user for it: {description}");
                self.variable(to, &upper(id), &why)
            }
        }
    }
}

/// What a reference stands for.
enum Meaning {
    Text(String),
    Variable(String),
}

/// A text in which `replace` was applied to the inside of each `${…}`.
fn replace_references(
    text: &str,
    mut replace: impl FnMut(&str) -> Result<String, String>,
) -> Result<String, String> {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((word, tail)) = after.split_once('}') else {
            break;
        };
        replaced.extend([before, &replace(word)?]);
        rest = tail;
    }
    replaced.push_str(rest);
    Ok(replaced)
}

fn reference(variable: &str) -> String {
    format!("${{env:{variable}}}")
}

/// `FILES_TOKEN` for the TOKEN of files; what starts with the server's name already is long enough.
fn variable(server: &str, name: &str) -> String {
    let (server, name) = (upper(server), upper(name));
    let whole = if name.starts_with(&format!("{server}_")) {
        name
    } else {
        format!("{server}_{name}")
    };
    if whole.starts_with(|c: char| c.is_ascii_digit()) {
        format!("MCP_{whole}")
    } else {
        whole
    }
}

fn upper(name: &str) -> String {
    let fits = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(fits).collect();
    let name = name.trim_matches('_');
    if name.is_empty() {
        "VALUE".to_owned()
    } else {
        name.to_owned()
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests;
