//! A change of the servers in the file: one is added, removed, enabled or disabled. It is spliced into the text, so that
//! everything else stays as its author wrote it. Whether the new text can be used is decided where it is read.

use std::collections::BTreeSet;

use countersign_tape::{Edits, Kind, MemberPosition, Span, Tape};
use serde_json::Value;
use thiserror::Error;

use super::document::{Document, brief, suggestion};
use super::name;
use super::problem::{ConfigError, Problem};
use super::splice::{append, edited, remove_element, span};

const SERVERS: &str = "mcpServers";

/// What is to be done with a server of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerChange {
    /// It is added at the end.
    Add {
        /// Its name.
        name: String,
        /// Its other keys, as a JSON object. They are written as they are given.
        definition: String,
    },
    /// It is removed, with all its settings.
    Remove(String),
    /// It is used from now on.
    Enable(String),
    /// It stays in the file and is not used any more.
    Disable(String),
}

/// Why the servers of a file are not changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerChangeError {
    /// Its name is taken.
    #[error("there is a server named \"{0}\" already")]
    Exists(String),
    /// There is no such server.
    #[error("there is no server named \"{name}\"")]
    Unknown {
        /// The name.
        name: String,
        /// The next step.
        hint: String,
    },
    /// No operator has approved it yet, so it cannot be enabled in passing.
    #[error("the server \"{0}\" is quarantined")]
    Quarantined(String),
    /// It is not one that can be added.
    #[error(transparent)]
    Definition(ConfigError),
    /// The file is broken, so that nothing can be changed in it.
    #[error(transparent)]
    File(ConfigError),
}

impl ServerChangeError {
    /// There is no server of that name, only the known ones.
    pub fn unknown(given: &str, known: &[&str]) -> Self {
        let hint = match known {
            [] => "there are no servers; `countersign servers add` adds one".to_owned(),
            known => suggestion(given, known, "the servers are"),
        };
        Self::Unknown {
            name: brief(given),
            hint,
        }
    }

    /// The next step, if it is not in the error itself.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Exists(_) => Some(
                "choose another name, or remove that one first; a key of it is changed in the configuration file"
                    .to_owned(),
            ),
            Self::Unknown { hint, .. } => Some(hint.clone()),
            Self::Quarantined(_) => Some(
                "look at what it is, then remove \"quarantined\" from it in the configuration file"
                    .to_owned(),
            ),
            Self::Definition(_) | Self::File(_) => None,
        }
    }
}

impl ServerChange {
    /// A server as it is sent over the API: an object with its `name` and its other keys.
    pub fn add(text: &str) -> Result<Self, ConfigError> {
        let document = Document::parse(text)?;
        let tape = document.tape();
        let hint = "send it as in the configuration file, like {\"name\": \"weather\", \"url\": \"https://weather.example/mcp\"}";
        let refuse = |message: &str| ConfigError::from(Problem::new(message, hint));
        if tape.node(0).kind() != Kind::Object {
            return Err(refuse("a server is an object"));
        }
        let named = tape.members(0).find(|(key, _)| tape.string(*key) == "name");
        let Some((key, value)) =
            named.filter(|(_, value)| tape.node(*value).kind() == Kind::String)
        else {
            return Err(refuse("a server needs a \"name\""));
        };
        let name = tape.string(value).into_owned();
        let mut edits = Edits::new(tape.text().as_bytes());
        edits.remove_member(span(tape, 0), span(tape, key));
        let definition = edited(edits)?;
        Ok(Self::Add { name, definition })
    }

    /// The name of the server.
    pub fn server(&self) -> &str {
        let (Self::Add { name, .. }
        | Self::Remove(name)
        | Self::Enable(name)
        | Self::Disable(name)) = self;
        name
    }

    /// The text of a file with the change made. The text is the same if there is nothing to change.
    pub fn apply(&self, file: &str) -> Result<String, ServerChangeError> {
        let document = Document::parse(file).map_err(ServerChangeError::File)?;
        let tape = document.tape();
        let servers = servers(tape).map_err(ServerChangeError::File)?;
        let mut edits = Edits::new(tape.text().as_bytes());
        match self {
            Self::Add { name, definition } => {
                check_name(name).map_err(ServerChangeError::Definition)?;
                if find(tape, servers, name).is_ok() {
                    return Err(ServerChangeError::Exists(brief(name)));
                }
                add(tape, &mut edits, servers, (name, definition))?;
            }
            Self::Remove(name) => {
                let entry = find(tape, servers, name)?;
                remove(tape, &mut edits, &entry);
            }
            Self::Enable(name) => enable(tape, &mut edits, find(tape, servers, name)?, name)?,
            Self::Disable(name) => {
                disable(tape, &mut edits, find(tape, servers, name)?.server);
            }
        }
        edited(edits).map_err(ServerChangeError::File)
    }
}

fn check_name(given: &str) -> Result<(), ConfigError> {
    if name::is_allowed(given) {
        return Ok(());
    }
    let allowed = format!("a name is {}", name::ALLOWED);
    let hint = match name::fixed(given) {
        Some(fitting) => format!("{allowed}, like \"{fitting}\""),
        None => allowed,
    };
    Err(Problem::new(
        format!("\"{}\" cannot be the name of a server", brief(given)),
        hint,
    )
    .into())
}

/// The value of `mcpServers`; nothing if the file has none.
fn servers(tape: &Tape<'_>) -> Result<Option<u32>, ConfigError> {
    let refuse = |message: &str| {
        let hint = "`countersign config check` says what is wrong with it";
        Err(Problem::new(message, hint).into())
    };
    if tape.node(0).kind() != Kind::Object {
        return refuse("the file is not an object");
    }
    let servers = tape.get(0, SERVERS);
    let kind = servers.map(|servers| tape.node(servers).kind());
    match kind {
        None | Some(Kind::Array | Kind::Object) => Ok(servers),
        Some(_) => refuse("\"mcpServers\" is neither a list nor an object"),
    }
}

/// A server of the file.
#[derive(Clone, Copy)]
struct Entry {
    /// The list or object it is in.
    parent: u32,
    /// Its key, in an object.
    key: Option<u32>,
    server: u32,
}

/// A server by the name that the file gives it, or by the one that the gateway uses in place of that.
fn find(tape: &Tape<'_>, servers: Option<u32>, given: &str) -> Result<Entry, ServerChangeError> {
    let entries: Vec<(String, Entry)> =
        servers.map_or_else(Vec::new, |parent| entries(tape, parent));
    let written: BTreeSet<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
    let assigned = name::assign(&written);
    let known: Vec<&str> = assigned.values().map(String::as_str).collect();
    let is_given =
        |name: &str| name == given || assigned.get(name).is_some_and(|name| name == given);
    let mut found = entries.iter().filter(|(name, _)| is_given(name));
    match found.next() {
        Some((_, entry)) => Ok(*entry),
        None => Err(ServerChangeError::unknown(given, &known)),
    }
}

/// The servers that have a name, with it.
fn entries(tape: &Tape<'_>, parent: u32) -> Vec<(String, Entry)> {
    if tape.node(parent).kind() == Kind::Object {
        let members = tape.members(parent).map(|(key, server)| {
            let entry = Entry {
                parent,
                key: Some(key),
                server,
            };
            (tape.string(key).into_owned(), entry)
        });
        return members.filter(|(name, _)| !name.is_empty()).collect();
    }
    let elements = tape.children(parent).filter_map(|server| {
        let is_object = tape.node(server).kind() == Kind::Object;
        let name = is_object.then(|| tape.get(server, "name")).flatten()?;
        let name = (tape.node(name).kind() == Kind::String).then(|| tape.string(name))?;
        let entry = Entry {
            parent,
            key: None,
            server,
        };
        (!name.is_empty()).then(|| (name.into_owned(), entry))
    });
    elements.collect()
}

fn add(
    tape: &Tape<'_>,
    edits: &mut Edits<'_>,
    servers: Option<u32>,
    (name, definition): (&str, &str),
) -> Result<(), ServerChangeError> {
    let quoted = Value::from(name).to_string();
    match servers {
        Some(servers) if tape.node(servers).kind() == Kind::Array => {
            let mut named = Edits::new(definition.as_bytes());
            let whole = Span::whole(definition.as_bytes());
            named.insert_member(whole, MemberPosition::First, "name", quoted.as_bytes());
            let server = edited(named).map_err(ServerChangeError::Definition)?;
            append(tape, edits, servers, &server, 2);
        }
        Some(servers) => append(tape, edits, servers, &format!("{quoted}: {definition}"), 2),
        None => {
            let member = format!("\"{SERVERS}\": {{\n    {quoted}: {definition}\n  }}");
            append(tape, edits, 0, &member, 0);
        }
    }
    Ok(())
}

fn remove(tape: &Tape<'_>, edits: &mut Edits<'_>, entry: &Entry) {
    if let Some(key) = entry.key {
        return edits.remove_member(span(tape, entry.parent), span(tape, key));
    }
    remove_element(tape, edits, entry.parent, entry.server);
}

/// The value of a member of a server that is written as `written`.
fn flag(tape: &Tape<'_>, server: u32, key: &str, written: bool) -> Option<u32> {
    let value = tape.get(server, key)?;
    let kind = if written { "true" } else { "false" };
    (tape.raw(value) == kind).then_some(value)
}

fn enable(
    tape: &Tape<'_>,
    edits: &mut Edits<'_>,
    entry: Entry,
    name: &str,
) -> Result<(), ServerChangeError> {
    let server = entry.server;
    if flag(tape, server, "quarantined", true).is_some() {
        return Err(ServerChangeError::Quarantined(brief(name)));
    }
    if let Some(value) = flag(tape, server, "enabled", false) {
        edits.replace(span(tape, value), "true");
    }
    if let Some(value) = flag(tape, server, "disabled", true) {
        edits.replace(span(tape, value), "false");
    }
    Ok(())
}

fn disable(tape: &Tape<'_>, edits: &mut Edits<'_>, server: u32) {
    if let Some(value) = flag(tape, server, "enabled", true) {
        edits.replace(span(tape, value), "false");
    } else if let Some(value) = flag(tape, server, "disabled", false) {
        edits.replace(span(tape, value), "true");
    } else if tape
        .get(server, "enabled")
        .or(tape.get(server, "disabled"))
        .is_none()
    {
        append(tape, edits, server, "\"enabled\": false", 4);
    }
}

#[cfg(test)]
mod tests;
