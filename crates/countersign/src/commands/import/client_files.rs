//! Where clients keep their servers, on every system: a name on the command line stands for these files. Only asks
//! whether they exist; the environment and the current folder are arguments.

use std::path::{Path, PathBuf};

use Folder::{Home, Project, Settings};
use countersign_config::Environment;

/// Where a client's file is looked for.
#[derive(Debug, Clone, Copy)]
enum Folder {
    /// The current folder.
    Project,
    Home,
    /// Where applications keep their settings.
    Settings,
}

pub(super) const MCPPROXY: &str = "mcpproxy";

/// The files of each client. Its project's file comes first, because it is the nearer one.
const FILES: [(&str, Folder, &str); 9] = [
    (
        "claude-desktop",
        Settings,
        "Claude/claude_desktop_config.json",
    ),
    ("claude-code", Project, ".mcp.json"),
    ("claude-code", Home, ".claude.json"),
    ("cursor", Project, ".cursor/mcp.json"),
    ("cursor", Home, ".cursor/mcp.json"),
    ("vscode", Project, ".vscode/mcp.json"),
    ("vscode", Settings, "Code/User/mcp.json"),
    ("windsurf", Home, ".codeium/windsurf/mcp_config.json"),
    (MCPPROXY, Home, ".mcpproxy/mcp_config.json"),
];

/// A file in which a client may keep its servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientFile {
    /// The client's name, if the file is one of its usual ones.
    pub(super) client: Option<&'static str>,
    pub(super) path: PathBuf,
}

/// Whether this is the name of a client whose files are known.
pub(super) fn is_client(name: &str) -> bool {
    FILES.iter().any(|(client, ..)| *client == name)
}

/// Every file in which a known client may keep its servers.
pub(super) fn client_files(environment: &Environment<'_>, project: &Path) -> Vec<ClientFile> {
    let home = environment.home().map(Path::to_owned);
    let mut files = Vec::new();
    for (client, folder, file) in FILES {
        let folders = match folder {
            Project => vec![project.to_owned()],
            Home => home.clone().into_iter().collect(),
            Settings => settings_folders(environment),
        };
        files.extend(folders.iter().map(|folder| ClientFile {
            client: Some(client),
            path: folder.join(file),
        }));
    }
    files.dedup();
    files
}

/// Where applications keep their settings: macOS, Windows, and the others.
fn settings_folders(environment: &Environment<'_>) -> Vec<PathBuf> {
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

    use super::client_files;

    #[test]
    fn every_system_has_its_places() {
        let lookup = |name: &str| (name == "APPDATA").then(|| "C:/Roaming".to_owned());
        let environment = Environment::new(lookup, Some("/home/me".into()));
        let shown: Vec<_> = client_files(&environment, Path::new("/project"))
            .iter()
            .map(|place| format!("{} {}", place.client.unwrap_or(""), place.path.display()))
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
