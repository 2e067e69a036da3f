//! One invocation of the built binary, rendered as text for snapshots.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) mod gateway;
pub(crate) mod home;
pub(crate) mod load;

/// What one invocation printed and how it ended.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for CommandOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        write!(
            formatter,
            "exit: {code}\n--- stdout\n{}--- stderr\n{}",
            self.stdout, self.stderr
        )
    }
}

/// The built binary with nothing of the caller's environment that changes its output.
pub(crate) fn binary() -> Command {
    binary_at(Path::new(env!("CARGO_BIN_EXE_countersign")))
}

/// The same for a copy of the binary.
pub(crate) fn binary_at(path: &Path) -> Command {
    let mut command = Command::new(path);
    command
        .env_clear()
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(crate) fn countersign(line: &str) -> CommandOutput {
    finish(binary().args(line.split_whitespace()), b"")
}

/// Runs to the end with `input` on stdin.
pub(crate) fn finish(command: &mut Command, input: &[u8]) -> CommandOutput {
    let mut child = command
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary was built for this test");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // A command that needs no input may be gone before it is offered any.
    drop(stdin.write_all(input));
    drop(stdin);
    let output = child.wait_with_output().expect("its output can be read");
    CommandOutput {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// A preset of the fixture as a server of a configuration.
pub(crate) fn preset(name: &str, mode: &str) -> serde_json::Value {
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    serde_json::json!({
        "command": fixture, "args": ["stdio", "--preset", name], "output_validation": {"mode": mode},
    })
}

/// A directory with files to run in; gone when dropped.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory can be made");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file can be written there");
        }
        Self(folder)
    }

    /// A folder with a configuration, `c.json`, of these servers, each a preset or a script of the fixture.
    pub(crate) fn over(servers: &serde_json::Value, more: &[(&str, serde_json::Value)]) -> Self {
        let folder = Self::with(&[]);
        let mut config = serde_json::json!({ "mcpServers": servers });
        for (key, value) in more {
            config[key] = value.clone();
        }
        let file = folder.path().join("c.json");
        std::fs::write(file, config.to_string()).expect("a file can be written there");
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs a command of two words on `c.json` of the folder and a data directory in it.
    pub(crate) fn run_on_file(&self, arguments: &[&str]) -> CommandOutput {
        let place = ["--config", "c.json", "--data-dir", "data"];
        let (command, rest) = arguments.split_at(2);
        let arguments = command.iter().chain(&place).chain(rest);
        finish(binary().current_dir(self.path()).args(arguments), b"")
    }

    /// The text of `c.json`.
    pub(crate) fn file(&self) -> String {
        std::fs::read_to_string(self.path().join("c.json")).expect("a file")
    }

    pub(crate) fn countersign(&self, line: &str) -> CommandOutput {
        finish(
            binary()
                .current_dir(self.path())
                .args(line.split_whitespace()),
            b"",
        )
    }
}
