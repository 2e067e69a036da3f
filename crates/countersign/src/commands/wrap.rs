//! `countersign wrap`: the boundary before one server that speaks over stdio, for the client that started us. stdout
//! is the client's alone; the exit code is the server's.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_config::{
    Config, LoadedConfig, Overrides, SERVER_NAMES, Server, Transport, is_server_name, server_name,
};
use countersign_gateway::inspect::{Era, Mode};
use countersign_gateway::{ServerExit, WrappedServer};

use super::config::ConfigOption;
use super::serve::{StopSignals, log_to_stderr, refused};
use super::value_parser::word;
use crate::report::{Failure, printable};
use crate::runtime::CommandRuntime;
use crate::{Console, Exit};

/// Programs that run a package. The name of the package is a better name for a server.
const RUNNERS: [&str; 5] = ["npx", "bunx", "pnpx", "uvx", "pipx"];
/// The name of a server whose command suggests none.
const UNNAMED: &str = "server";

const EXAMPLES: &str = r#"Examples:
  countersign wrap -- npx -y @modelcontextprotocol/server-filesystem .
  countersign wrap --mode strict --name files -- ./my-server --verbose

In a desktop client's configuration:
  {"mcpServers": {"files": {
    "command": "countersign",
    "args": ["wrap", "--name", "files", "--", "npx", "-y", "some-server", "."]
  }}}

Settings: validation, sanitising, activity and the data directory come from the configuration
file; without one the defaults hold. If it has a server of the same name, that server's settings
hold too, except its command. Its other servers are not started. Records go to the same store as
those of `countersign serve`. What changes in the file holds for the next call.

Environment of the server: all of this command's, because a client sets variables for the server
it starts; except COUNTERSIGN_*, which are ours. If the configuration has a server of the same
name with an `env`, it gets only that and what every program needs (PATH, HOME, LANG, ...).
Its stderr is this command's.

Exit codes: 0 when the client closes stdin, or on TERM or Ctrl-C; the server's own code (128 and
more for a signal) when the server ends by itself; 3 when it cannot be started; 2 for wrong usage
or configuration."#;

/// Put the boundary before one server that speaks over stdio
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "countersign wrap [OPTIONS] -- COMMAND [ARGS]..."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    config: ConfigOption,
    /// Where to keep state, if not where the configuration says
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// What to do with results that break their contract, instead of what the configuration says
    #[arg(long, value_parser = word(Mode::WORDS, str::parse::<Mode>))]
    mode: Option<Mode>,
    /// The era of MCP to speak with the server, instead of what the configuration says; auto begins in the client's own
    #[arg(long, value_parser = ["auto", "legacy", "modern"])]
    era: Option<String>,
    /// The server's name in records; from the command, if not given
    #[arg(long)]
    name: Option<String>,
    /// The server's command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    countersign_dial::keeper::hide();
    let flags = Overrides {
        data_dir: arguments.data_dir.clone(),
        ..Overrides::default()
    };
    let command = arguments.command.join(" ");
    let only = ServerCommand::from_arguments(arguments)?;
    let adjust = move |config: &mut Config| {
        only.keep(config);
        let unset = config
            .servers
            .iter()
            .flat_map(|server| &server.unset_references);
        unset.take(1).cloned().try_for_each(Err)
    };
    let located = arguments.config.locate(console);
    let opened = arguments.config.follow(&located, flags, adjust, console)?;
    log_to_stderr("warn");
    match CommandRuntime::start()?.run_beside_stdin(wrap(opened))? {
        None => Ok(Exit::Ok),
        Some(end) => report(end, &command, console),
    }
}

async fn wrap(opened: LoadedConfig) -> Result<Option<ServerExit>, Failure> {
    // Before anything starts, so that no signal finds us unprepared.
    let mut stop = StopSignals::listen().context("cannot listen for signals")?;
    let mut wrapped = WrappedServer::start(opened).await.map_err(refused)?;
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    let ended = wrapped.serve(streams.0, streams.1, stop.recv()).await;
    wrapped.stop(stop.recv()).await;
    Ok(ended)
}

/// The server named on the command line, which replaces the servers of every configuration that is read.
struct ServerCommand {
    name: String,
    program: String,
    args: Vec<String>,
    mode: Option<Mode>,
    /// What `--era` says.
    era: Option<String>,
    /// What it was started with. It is started once, so no later configuration changes that.
    started: OnceLock<(Transport, Option<Era>)>,
}

impl ServerCommand {
    fn from_arguments(arguments: &Arguments) -> Result<Self, Failure> {
        let mut command = arguments.command.iter().cloned();
        let program = command.next().unwrap_or_default();
        let args: Vec<String> = command.collect();
        let name = match &arguments.name {
            None => derived(&program, &args),
            Some(name) if is_server_name(name) => name.clone(),
            Some(name) => {
                let error = anyhow!("'{name}' cannot be a server's name");
                return Err(Failure::usage(error).hint(format!("a name is {SERVER_NAMES}")));
            }
        };
        Ok(Self {
            name,
            program,
            args,
            mode: arguments.mode,
            era: arguments.era.clone(),
            started: OnceLock::new(),
        })
    }

    /// Makes the command the only server of a configuration.
    fn keep(&self, config: &mut Config) {
        let named = |server: &Server| server.name == self.name;
        let mut server = match config.servers.iter().position(named) {
            Some(known) => config.servers.swap_remove(known),
            None => Server::stdio(&self.name, "", []),
        };
        let (transport, era) = self.started.get_or_init(|| {
            // `auto` is the word of no era.
            let era = self.era.as_ref();
            let era = era.map_or(server.era, |word| word.parse().ok());
            (self.reached_like(&server.transport), era)
        });
        server.transport = transport.clone();
        server.era = *era;
        server.enabled = true;
        server.output.mode = self.mode.or(server.output.mode);
        config.servers = vec![server];
    }

    /// The command, with what the configuration gives a server of its name.
    fn reached_like(&self, known: &Transport) -> Transport {
        let (env, working_dir) = match known {
            Transport::Stdio {
                env, working_dir, ..
            } => (env.clone(), working_dir.clone()),
            Transport::Http { .. } => Default::default(),
        };
        Transport::Stdio {
            command: self.program.clone(),
            args: self.args.clone(),
            env,
            working_dir,
        }
    }
}

/// The name a command suggests.
fn derived(program: &str, args: &[String]) -> String {
    let stem = |text: &str| Path::new(text).file_stem()?.to_str().map(str::to_owned);
    let program = stem(program).unwrap_or_default();
    let package = RUNNERS.contains(&program.as_str()).then(|| {
        let package = args.iter().find(|arg| !arg.starts_with('-'))?;
        let package = package.rsplit('/').next()?;
        package.split('@').next()
    });
    let name = package.flatten().and_then(server_name);
    name.or_else(|| server_name(&program))
        .unwrap_or_else(|| UNNAMED.to_owned())
}

/// Prints how the server ended, and returns its exit code.
fn report(end: ServerExit, command: &str, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match end {
        ServerExit {
            served: true,
            code: Some(code),
            ..
        } => {
            if code != 0 {
                console.message(format!("the server ended with exit code {code}\n"));
            }
            Ok(Exit::Server(code))
        }
        ServerExit {
            code: Some(code @ 1..),
            ..
        } => {
            console.message(format!(
                "error: the server ended with exit code {code} before it spoke MCP\nhint: {}\n",
                hint(command)
            ));
            Ok(Exit::Server(code))
        }
        ServerExit { error, .. } => {
            let error = match error {
                Some(cause) => anyhow!(cause),
                None => anyhow!("it ended before it spoke MCP"),
            };
            let error = error.context("the server cannot be started");
            Err(Failure::unreachable(error).hint(hint(command)))
        }
    }
}

fn hint(command: &str) -> String {
    format!(
        "check that this runs by itself and waits for input: {}",
        printable(command)
    )
}

#[cfg(test)]
mod tests {
    use super::derived;

    #[test]
    fn a_command_suggests_a_name() {
        for (command, name) in [
            ("/opt/bin/My_Server.sh --port 1", "my-server"),
            (
                "npx -y @modelcontextprotocol/server-filesystem@2.1 .",
                "server-filesystem",
            ),
            ("npx -y @scope/pkg", "pkg"),
            ("uvx mcp-server-time==2", "mcp-server-time-2"),
            ("npx", "npx"),
            ("日本語", "server"),
        ] {
            let mut words = command.split(' ').map(str::to_owned);
            let program = words.next().expect("a program");
            assert_eq!(derived(&program, &words.collect::<Vec<_>>()), name);
        }
    }
}
