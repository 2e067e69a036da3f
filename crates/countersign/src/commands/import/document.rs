//! A client's file, recognised by its shape: where its servers stand, each with its place in the bytes. Reads JSON as
//! editors write it and refuses what two readers could understand differently.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use countersign_config as config;
use countersign_tape::{Kind, Limits, Span, Tape};
use serde_json::Value;

use super::jsonc::blanked;
use crate::report::Failure;

const LIMITS: Limits = Limits {
    max_bytes: 4 << 20,
    max_depth: 100,
};

/// The format of a file, named after the client that writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    /// `mcpServers` by name: Claude Desktop, Claude Code, Cursor, Windsurf and most others.
    Desktop,
    /// `servers` by name, and `inputs`.
    VsCode,
    /// `mcpServers` as a list.
    Mcpproxy,
}

/// A file as it is, and as JSON of the same length.
#[derive(Debug)]
pub(super) struct FileText {
    pub(super) path: PathBuf,
    pub(super) original: String,
    json: String,
}

/// The same, taken apart.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) file_format: FileFormat,
    pub(super) tape: Tape<'a>,
    /// Every server, those of all projects before those of single projects.
    pub(super) servers: Vec<Entry>,
    /// What the client asks its user for.
    pub(super) inputs: Value,
}

/// One server of a file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Where its settings stand.
    pub(super) node: u32,
    /// The folder of the only project it is for: Claude Code's local scope.
    pub(super) project: Option<PathBuf>,
}

impl FileText {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let original = config::read(path).map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            let error = anyhow!(cause.unwrap_or_default());
            Failure::usage(error.context(format!("cannot read '{}'", path.display())))
                .hint("name a file, or one of claude-desktop, claude-code, cursor, vscode, windsurf, mcpproxy")
        })?;
        Ok(Self::new(path, original))
    }

    pub(super) fn new(path: &Path, original: String) -> Self {
        Self {
            path: path.to_owned(),
            json: blanked(&original),
            original,
        }
    }

    /// Whether it is a file of a client that has no servers at all, as a new one.
    pub(super) fn is_without_servers(&self) -> bool {
        let tape = Tape::parse(self.json.as_bytes(), &LIMITS);
        tape.is_ok_and(|tape| Document::recognise(tape).is_none())
    }

    /// Takes the file apart. Positions are those of the original.
    pub(super) fn document(&self) -> Result<Document<'_>, Failure> {
        let refused = |why: String, hint: &str| {
            let error = anyhow!(why).context(format!("cannot use '{}'", self.path.display()));
            Failure::usage(error).hint(hint)
        };
        let tape = Tape::parse(self.json.as_bytes(), &LIMITS).map_err(|error| {
            let line = self.line(error.offset());
            refused(
                format!("not JSON at line {line}: {error}"),
                "repair the file first",
            )
        })?;
        if let Some(key) = tape.duplicate_keys().first() {
            let line = self.line(tape.node(*key).start() as usize);
            let why = format!("a key is repeated at line {line}");
            return Err(refused(
                why,
                "keep one of them; which one counts is not defined",
            ));
        }
        Document::recognise(tape).ok_or_else(|| {
            let why = "it has no servers: neither \"mcpServers\" nor \"servers\"";
            refused(
                why.to_owned(),
                "files of Claude Desktop, Claude Code, Cursor, VS Code and mcpproxy are known",
            )
        })
    }

    fn line(&self, offset: usize) -> usize {
        let before = self.json.get(..offset).unwrap_or(&self.json);
        before.matches('\n').count() + 1
    }
}

impl<'a> Document<'a> {
    fn recognise(tape: Tape<'a>) -> Option<Self> {
        let kind = |index: u32| tape.node(index).kind();
        let of = |parent: u32, name: &str| {
            let found = (kind(parent) == Kind::Object).then(|| tape.get(parent, name));
            found.flatten()
        };
        let within = of(0, "mcp")
            .filter(|mcp| of(*mcp, "servers").is_some())
            .unwrap_or(0);
        let local = local_servers(&tape);
        let (file_format, servers) = match (of(0, "mcpServers"), of(within, "servers")) {
            (Some(list), _) if kind(list) == Kind::Array => (FileFormat::Mcpproxy, Some(list)),
            (Some(map), _) if kind(map) == Kind::Object => (FileFormat::Desktop, Some(map)),
            (_, Some(map)) if kind(map) == Kind::Object => (FileFormat::VsCode, Some(map)),
            _ if !local.is_empty() => (FileFormat::Desktop, None),
            _ => return None,
        };
        let inputs =
            of(within, "inputs").and_then(|inputs| serde_json::from_str(tape.raw(inputs)).ok());
        let mut servers: Vec<Entry> = match (file_format, servers) {
            (_, None) => Vec::new(),
            (FileFormat::Mcpproxy, Some(list)) => tape
                .children(list)
                .filter_map(|node| {
                    let name = of(node, "name").filter(|name| kind(*name) == Kind::String)?;
                    Some(Entry {
                        name: tape.string(name).into_owned(),
                        node,
                        project: None,
                    })
                })
                .collect(),
            (_, Some(map)) => by_name(&tape, map, None),
        };
        if file_format == FileFormat::Desktop {
            servers.extend(local);
        }
        Some(Self {
            file_format,
            servers,
            inputs: inputs.unwrap_or_default(),
            tape,
        })
    }

    /// A server's settings.
    pub(super) fn value(&self, server: u32) -> Value {
        serde_json::from_str(self.tape.raw(server)).unwrap_or_default()
    }

    /// Where something stands.
    pub(super) fn span(&self, index: u32) -> Span {
        let node = self.tape.node(index);
        Span::new(node.start(), node.end())
    }
}

/// The servers of an object that has them by name.
fn by_name(tape: &Tape<'_>, map: u32, project: Option<&Path>) -> Vec<Entry> {
    let members = tape.members(map);
    members
        .map(|(name, node)| Entry {
            name: tape.string(name).into_owned(),
            node,
            project: project.map(Path::to_owned),
        })
        .collect()
}

/// The servers of single projects, as Claude Code keeps them: `projects.<path>.mcpServers`.
fn local_servers(tape: &Tape<'_>) -> Vec<Entry> {
    let object = |node: &u32| tape.node(*node).kind() == Kind::Object;
    let Some(projects) = Some(0)
        .filter(object)
        .and_then(|root| tape.get(root, "projects"))
        .filter(object)
    else {
        return Vec::new();
    };
    let projects = tape
        .members(projects)
        .filter(|(_, project)| object(project));
    projects
        .filter_map(|(path, project)| {
            let servers = tape.get(project, "mcpServers").filter(object)?;
            let path = tape.string(path);
            Some(by_name(tape, servers, Some(Path::new(path.as_ref()))))
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{FileFormat, FileText};

    fn file_format(text: &str) -> Option<(FileFormat, Vec<String>)> {
        let text = FileText::new("x.json".as_ref(), text.to_owned());
        let document = text.document().ok()?;
        let names = document.servers.iter().map(|entry| match &entry.project {
            Some(project) => format!("{} of {}", entry.name, project.display()),
            None => entry.name.clone(),
        });
        Some((document.file_format, names.collect()))
    }

    #[test]
    fn a_file_is_known_by_its_shape() {
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            file_format(r#"{"mcpServers":{"a":{},"b":{},}}"#),
            Some((FileFormat::Desktop, names(&["a", "b"])))
        );
        assert_eq!(
            file_format(r#"{"mcpServers":[{"name":"a"},{}]}"#),
            Some((FileFormat::Mcpproxy, names(&["a"])))
        );
        assert_eq!(
            file_format("{\"servers\":{\"a\":{}}} // x"),
            Some((FileFormat::VsCode, names(&["a"])))
        );
        assert_eq!(
            file_format(r#"{"mcp":{"servers":{"a":{}}}}"#),
            Some((FileFormat::VsCode, names(&["a"])))
        );
        assert_eq!(
            file_format(r#"{"mcpServers":{"a":{}},"projects":{"/p":{"mcpServers":{"a":{}}}}}"#),
            Some((FileFormat::Desktop, names(&["a", "a of /p"])))
        );
        assert_eq!(
            file_format(
                r#"{"projects":{"/o":1,"/q":{"mcpServers":[]},"/p":{"mcpServers":{"a":{}}}}}"#
            ),
            Some((FileFormat::Desktop, names(&["a of /p"])))
        );
        for bad in [
            "",
            r#"{"projects":{"/p":{"mcpServers":{}}}}"#,
            r#"{"projects":[]}"#,
            "[]",
            "{}",
            r#"{"mcpServers":1}"#,
            r#"{"a":1,"a":2,"mcpServers":{}}"#,
            "{",
        ] {
            assert_eq!(file_format(bad), None, "{bad}");
        }
    }
}
