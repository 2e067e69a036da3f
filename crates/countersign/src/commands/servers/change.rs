//! A change of the servers in the configuration file, and its way into the running gateway.

use std::path::Path;

use clap::Args;
use countersign_config::{ServerChange, ServerChangeError};
use serde_json::json;

use crate::commands::config::refused as refuse;
use crate::commands::file_change::change_file;
use crate::commands::gateway_option::GatewayOption;
use crate::format::FormatOption;
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
        let made = match change_file(&source, |file| change.apply(file), console)? {
            Ok(made) => made,
            Err(error) => return refuse_change(error, source.path(), console),
        };
        let outcome = Outcome {
            server: change.server(),
            done,
            file: &made.file,
            is_running: made.is_running,
            is_changed: made.is_changed,
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
