//! Where clients keep their servers, on every system: a name on the command line stands for these files. Only asks
//! whether they exist; the environment and the current folder are arguments.

use std::path::{Path, PathBuf};

use countersign_config::Environment;

/// A client whose files are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
    Windsurf,
    Mcpproxy,
}

/// One place where a client's file may be.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) client: Option<Client>,
    pub(super) path: PathBuf,
}

impl Client {
    pub(super) const ALL: [Self; 6] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Windsurf,
        Self::Mcpproxy,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Mcpproxy => "mcpproxy",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Every place, the project's first: what is nearer is meant.
    pub(super) fn places(self, environment: &Environment<'_>, project: &Path) -> Vec<Place> {
        let mut paths = Vec::new();
        let home = environment.home();
        let settings = settings(environment);
        match self {
            Self::ClaudeDesktop => {
                paths.extend(
                    settings
                        .iter()
                        .map(|folder| folder.join("Claude/claude_desktop_config.json")),
                );
            }
            Self::ClaudeCode => {
                paths.push(project.join(".mcp.json"));
                paths.extend(home.map(|home| home.join(".claude.json")));
            }
            Self::Cursor => {
                paths.push(project.join(".cursor/mcp.json"));
                paths.extend(home.map(|home| home.join(".cursor/mcp.json")));
            }
            Self::VsCode => {
                paths.push(project.join(".vscode/mcp.json"));
                paths.extend(
                    settings
                        .iter()
                        .map(|folder| folder.join("Code/User/mcp.json")),
                );
            }
            Self::Windsurf => {
                paths.extend(home.map(|home| home.join(".codeium/windsurf/mcp_config.json")));
            }
            Self::Mcpproxy => paths.extend(home.map(|home| home.join(".mcpproxy/mcp_config.json"))),
        }
        paths.dedup();
        paths
            .into_iter()
            .map(|path| Place {
                client: Some(self),
                path,
            })
            .collect()
    }
}

/// Where applications keep their settings: macOS, Windows, and the others.
fn settings(environment: &Environment<'_>) -> Vec<PathBuf> {
    let home = environment.home();
    let others = environment.get("XDG_CONFIG_HOME").map(PathBuf::from);
    [
        home.map(|home| home.join("Library/Application Support")),
        environment.get("APPDATA").map(PathBuf::from),
        others.or_else(|| home.map(|home| home.join(".config"))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use countersign_config::Environment;

    use super::Client;

    #[test]
    fn every_system_has_its_places() {
        let lookup = |name: &str| (name == "APPDATA").then(|| "C:/Roaming".to_owned());
        let environment = Environment::new(lookup, Some("/home/me".into()));
        let shown: Vec<_> = Client::ALL
            .into_iter()
            .flat_map(|client| client.places(&environment, Path::new("/project")))
            .map(|place| {
                format!(
                    "{} {}",
                    place.client.map_or("", Client::name),
                    place.path.display()
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        claude-desktop /home/me/Library/Application Support/Claude/claude_desktop_config.json
        claude-desktop C:/Roaming/Claude/claude_desktop_config.json
        claude-desktop /home/me/.config/Claude/claude_desktop_config.json
        claude-code /project/.mcp.json
        claude-code /home/me/.claude.json
        cursor /project/.cursor/mcp.json
        cursor /home/me/.cursor/mcp.json
        vscode /project/.vscode/mcp.json
        vscode /home/me/Library/Application Support/Code/User/mcp.json
        vscode C:/Roaming/Code/User/mcp.json
        vscode /home/me/.config/Code/User/mcp.json
        windsurf /home/me/.codeium/windsurf/mcp_config.json
        mcpproxy /home/me/.mcpproxy/mcp_config.json
        ");
    }
}
