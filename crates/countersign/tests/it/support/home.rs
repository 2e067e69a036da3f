//! A temporary home directory in which the binary runs, so that no test reads or writes the real one.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{CommandOutput, Folder, binary, finish};

/// Our configuration, in a home.
pub(crate) const OURS: &str = ".countersign/mcp_config.json";
/// What must never be said.
pub(crate) const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

/// A temporary folder that is `HOME` for the binary.
pub(crate) struct TestHome(Folder);

impl TestHome {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let home = Self(Folder::with(&[]));
        for (name, text) in files {
            home.write(name, text);
        }
        home
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.0
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = binary();
        command
            .current_dir(self.path())
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .args(line.split_whitespace());
        command
    }

    /// A shell in this home that is given a line, with nothing else of the caller's environment.
    pub(crate) fn shell(&self, line: &str) -> Command {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        shell
    }

    /// What was said, with the home as `~`. No secret is ever said.
    pub(crate) fn run(&self, line: &str) -> CommandOutput {
        let mut ran = finish(&mut self.command(line), b"");
        for said in [&mut ran.stdout, &mut ran.stderr] {
            assert!(!said.contains(TOKEN) && !said.contains("s3cret"), "{said}");
            *said = said.replace(self.path().to_str().expect("UTF-8"), "~");
        }
        ran
    }
}

/// The scripted server, as a command.
pub(crate) fn fixture() -> String {
    let path = countersign_fixture::executable().expect("the fixture is built");
    path.to_str().expect("a path in UTF-8").to_owned()
}
