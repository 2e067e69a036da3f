//! A change of the servers in the configuration file, and its way into the running gateway. All or nothing: what the
//! configuration may not say is not written, and what the running gateway refuses is taken back.

use std::path::Path;

use anyhow::anyhow;
use clap::Args;
use countersign_config::{ServerChange, ServerChangeError, Source};
use serde_json::json;

use crate::commands::config::{refused as refuse, warn};
use crate::commands::gateway_option::GatewayOption;
use crate::format::FormatOption;
use crate::remote::Remote;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

// No documentation comment: it would be the help text of every command that has these arguments.
#[derive(Debug, Args)]
pub(crate) struct ChangeArguments {
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

/// The name of a server, and which gateway and file it is in.
#[derive(Debug, Args)]
pub(crate) struct NamedServer {
    /// The server
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    #[command(flatten)]
    pub(super) change: ChangeArguments,
}

impl ChangeArguments {
    /// Makes the change in the file and in the running gateway. `done` is the word for it.
    pub(super) fn make(
        &self,
        change: &ServerChange,
        done: &str,
        console: &mut Console<'_>,
    ) -> Result<Exit, Failure> {
        let source = self.gateway.source(console)?;
        let file = source.path().display().to_string();
        let before = source.read().map_err(|error| refuse(error, console))?;
        let text = before.as_deref().unwrap_or("{}\n");
        let changed = match change.apply(text) {
            Ok(changed) => changed,
            Err(error) => return refuse_change(error, source.path(), console),
        };
        let (config, warnings) = source
            .resolve(Some(&changed))
            .map_err(|error| refuse(error.without_lines(), console))?;
        let gateway = Remote::find(&config)?;
        if let Some(gateway) = &gateway {
            check_file(gateway, source.path())?;
        }
        if changed != text {
            source.write(&changed).map_err(|error| {
                let error = anyhow!(error).context(format!("cannot write '{file}'"));
                Failure::usage(error).hint("check the rights of the file and of its folder")
            })?;
        }
        if let Some(gateway) = &gateway
            && let Err(failure) = gateway
                .post("/api/v1/config/reload", b"")
                .and_then(|answer| answer.json())
        {
            take_back(&source, before.as_deref(), &changed)?;
            return Err(failure);
        }
        warn(&file, &warnings, console);
        let outcome = Outcome {
            server: change.server(),
            done,
            file: &file,
            is_running: gateway.is_some(),
            is_changed: changed != text,
        };
        outcome.print(&self.format, console)
    }

    /// Has the running gateway start a server anew.
    pub(super) fn restart(&self, name: &str, console: &mut Console<'_>) -> Result<Exit, Failure> {
        let gateway = self.gateway.remote(console)?;
        // What cannot be a name must not become another path.
        let answer = if countersign_config::is_server_name(name) {
            Some(gateway.post(&format!("/api/v1/servers/{name}/restart"), b"")?)
        } else {
            None
        };
        let Some(answer) = answer.filter(|answer| answer.status != 404) else {
            let error = ServerChangeError::unknown(name, &[]);
            let message = format!("{error}; see `countersign servers list`");
            return Ok(no_server(&message, console));
        };
        answer.json()?;
        let text = || format!("restarted {name}; `countersign servers list` shows its state\n");
        let value = json!({"server": name, "change": "restarted"});
        self.format.print(&value, text, console)
    }
}

/// Says why a change cannot be made. A server that is not there is an answer, not a mistake.
fn refuse_change(
    error: ServerChangeError,
    file: &Path,
    console: &mut Console<'_>,
) -> Result<Exit, Failure> {
    let hint = error.hint();
    match error {
        ServerChangeError::Unknown { .. } => {
            let message = format!("{error}\nhint: {}", hint.unwrap_or_default());
            Ok(no_server(&message, console))
        }
        ServerChangeError::Definition(error) => Err(refuse(error.without_lines(), console)),
        ServerChangeError::File(error) => Err(refuse(error.in_file(file), console)),
        error => Err(Failure::usage(error).hint(hint.unwrap_or_default())),
    }
}

fn no_server(message: &str, console: &mut Console<'_>) -> Exit {
    for line in message.lines() {
        console.message(format!("{}\n", printable(line)));
    }
    Exit::No
}

/// The gateway must use the file that is changed, or the change would not reach it.
fn check_file(gateway: &Remote, file: &Path) -> Result<(), Failure> {
    let status = gateway.get("/api/v1/status")?.json()?;
    let Some(used) = status["config"]["file"].as_str() else {
        let error = anyhow!("the running gateway was not started from a file");
        return Err(Failure::usage(error).hint("start `countersign serve` with --config FILE"));
    };
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if whole(Path::new(used)) == whole(file) {
        return Ok(());
    }
    let error = anyhow!(
        "the running gateway uses {}, not {}",
        printable(used),
        file.display()
    );
    Err(Failure::usage(error)
        .hint("name that file with --config, or another gateway with --data-dir"))
}

/// Undoes a change that the running gateway refused, unless the file has been changed since.
fn take_back(source: &Source, before: Option<&str>, changed: &str) -> Result<(), Failure> {
    let now = source.read().ok().flatten();
    if now.as_deref() != Some(changed) {
        return Ok(());
    }
    let undone = match before {
        Some(before) => source.write(before),
        None => std::fs::remove_file(source.path()),
    };
    undone.map_err(|error| {
        let error = anyhow!(error).context("the change was refused and cannot be undone");
        Failure::usage(error).hint("`countersign config check` says what is wrong with the file")
    })
}

/// What a change came to.
struct Outcome<'a> {
    server: &'a str,
    done: &'a str,
    file: &'a str,
    is_running: bool,
    is_changed: bool,
}

impl Outcome<'_> {
    fn print(&self, format: &FormatOption, console: &mut Console<'_>) -> Result<Exit, Failure> {
        let value = json!({
            "server": self.server,
            "change": self.done,
            "file": self.file,
            "changed": self.is_changed,
            "in_force": self.is_running,
        });
        format.print(&value, || self.text(), console)
    }

    fn text(&self) -> String {
        let (server, file) = (printable(self.server), printable(self.file));
        let done = if self.is_changed {
            format!("{} {server} in {file}", self.done)
        } else {
            format!("{server} was {} already in {file}", self.done)
        };
        let next = if self.is_running {
            "it is in force; `countersign servers list` shows its state"
        } else {
            "no gateway is running; it takes effect with the next start"
        };
        format!("{done}\n{next}\n")
    }
}
