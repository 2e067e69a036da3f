//! `countersign serve`: the gateway, until Ctrl-C or TERM. Everything is checked before a port is bound; one line on
//! stderr says where it serves.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_config::{
    self as config, Config, Listen, ListenAddress, LoadedConfig, Overrides, exposure_warning,
};
use countersign_gateway::{Gateway, StartError};
use tokio::signal::unix::{SignalKind, signal};

use super::config::ConfigOption;
use crate::remote::{Announcement, GatewayAddress};
use crate::report::{Failure, printable};
use crate::runtime::CommandRuntime;
use crate::{Console, Exit};

mod demo;

const EXAMPLES: &str = "\
Examples:
  countersign serve --demo
  countersign serve --config ./mcp_config.json --listen 127.0.0.1:9000

Environment: COUNTERSIGN_CONFIG, COUNTERSIGN_LISTEN, COUNTERSIGN_DATA_DIR, COUNTERSIGN_API_KEY,
COUNTERSIGN_ADMIN_KEY, COUNTERSIGN_LOG (what to log on stderr: error, warn, info, debug; default warn,
and a line for each server that comes up and for each new configuration).

What changes in the configuration file holds for the next call, within a second or on HUP. A file
that cannot be used changes nothing and says so.";

/// Run the gateway
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    config: ConfigOption,
    /// Where to listen, if not where the configuration says; may be repeated
    ///
    /// An address and port, or the path of a Unix socket: unix:gateway.sock is in the data directory.
    #[arg(long, value_name = "ADDR", value_parser = parse_listen)]
    listen: Vec<ListenAddress>,
    /// Where to keep state, if not where the configuration says
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Serve a server named stub whose tools misbehave on purpose, and call each of them once
    ///
    /// No configuration file is read, and state is kept in ~/.countersign/demo. With --config, the server is added to
    /// those of that file, and state is kept where the file says.
    #[arg(long)]
    demo: bool,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    countersign_dial::keeper::hide();
    let mut flags = Overrides {
        listen: arguments.places()?,
        data_dir: arguments.data_dir.clone(),
        ..Overrides::default()
    };
    let located = if arguments.is_demo_alone() {
        super::demo::configuration(&mut flags)
    } else {
        arguments.config.locate(console)
    };
    let added = arguments.demo.then(demo::server).transpose()?;
    let adjust = move |config: &mut Config| match &added {
        Some(server) => demo::add(server, config),
        None => Ok(()),
    };
    let opened = arguments.config.follow(&located, flags, adjust, console)?;
    if let Some(warning) = exposure_warning(&opened.config) {
        let hint = warning.hint.as_deref().unwrap_or_default();
        console.message(format!("warning: {}\nhint: {hint}\n", warning.message));
    }
    log_to_stderr("warn,countersign::lifecycle=info");
    CommandRuntime::start()?.run(serve(opened, arguments, console))
}

/// `--listen`, read as the file's `listen` is.
fn parse_listen(text: &str) -> Result<ListenAddress, String> {
    config::parse_listen(text).map_err(|problem| {
        let hint = problem.hint.unwrap_or_default();
        format!("{}; {hint}", problem.message)
    })
}

impl Arguments {
    /// Whether the demo's server is the only one.
    fn is_demo_alone(&self) -> bool {
        self.demo && self.config.config.is_none()
    }

    /// Where to listen, if the flags say so.
    fn places(&self) -> Result<Option<Listen>, Failure> {
        if self.listen.is_empty() {
            return Ok(None);
        }
        let listen = Listen::new(self.listen.clone());
        let twice = || Failure::usage(anyhow!("--listen names one address twice"));
        listen
            .map(Some)
            .ok_or_else(|| twice().hint("remove one of the two"))
    }

    /// The options with which other commands find this gateway's demo.
    fn demo_options(&self) -> String {
        let named = |option: &str, path: &Option<PathBuf>| {
            let path = path.as_ref()?.display().to_string();
            Some(format!(" {option} {}", printable(&path)))
        };
        let config = named("--config", &self.config.config);
        let data_dir = named("--data-dir", &self.data_dir);
        let config = config.unwrap_or_else(|| " --demo".to_owned());
        config + &data_dir.unwrap_or_default()
    }
}

async fn serve(
    opened: LoadedConfig,
    arguments: &Arguments,
    console: &mut Console<'_>,
) -> Result<Exit, Failure> {
    // Before anything starts, so that no signal finds us unprepared.
    let mut stop = StopSignals::listen().context("cannot listen for signals")?;
    let mut reload = ReloadSignal::listen().context("cannot listen for signals")?;
    let data_dir = opened.config.data_dir.clone();
    let tls = opened.config.tls.clone();
    if opened.config.servers.iter().all(|server| !server.enabled) {
        console.message("no server is configured; `serve --demo` shows what a gateway does\n");
    }
    let gateway = Gateway::start(opened).await.map_err(refused)?;
    let address = GatewayAddress::choose(gateway.addresses(), tls.is_enabled());
    let address = address.context("the gateway listens nowhere")?;
    let announcement = announce(&data_dir, &address, console);
    show_key(&gateway, &data_dir, console);
    show_places(&gateway, tls.is_enabled(), console);
    let scheme = if tls.is_enabled() { "https" } else { "http" };
    let origin = format!("{scheme}://{}", gateway.address());
    let mut stopping = false;
    if arguments.demo {
        tokio::select! {
            rows = demo::call_tools(&gateway, address, tls.cert_file) => {
                demo::show(&rows?, (&arguments.demo_options(), &origin), console)?;
            }
            () = stop.recv() => stopping = true,
        }
    }
    while !stopping {
        tokio::select! {
            () = stop.recv() => stopping = true,
            () = reload.recv() => gateway.reload().await,
        }
    }
    // From here on the port may become another program's.
    drop(announcement);
    console.message("stopping: calls under way may finish; once more to stop at once\n");
    gateway.stop(stop.recv()).await;
    Ok(Exit::Ok)
}

/// Lets commands find the gateway. A failure is only printed, because the gateway still serves.
fn announce(
    data_dir: &std::path::Path,
    address: &GatewayAddress,
    console: &mut Console<'_>,
) -> Option<Announcement> {
    match Announcement::make(data_dir, address) {
        Ok(Some(announcement)) => return Some(announcement),
        Ok(None) => console.message(
            "another gateway runs with this data directory; commands such as `servers list` ask that one\n",
        ),
        Err(error) => console.message(format!(
            "commands such as `servers list` cannot find this gateway: its address cannot be written: {error}\n"
        )),
    }
    None
}

fn show_places(gateway: &Gateway, tls: bool, console: &mut Console<'_>) {
    let scheme = if tls { "https" } else { "http" };
    for place in gateway.addresses() {
        console.message(match place {
            ListenAddress::Tcp(address) => {
                format!("countersign is serving at {scheme}://{address}/mcp\n")
            }
            ListenAddress::Unix(_) => format!("countersign is serving at {place}\n"),
        });
    }
}

fn show_key(gateway: &Gateway, data_dir: &std::path::Path, console: &mut Console<'_>) {
    let key = gateway.key();
    if key.is_new {
        let file = data_dir.join("api_key");
        let (value, file) = (key.value.expose(), file.display());
        console.message(format!(
            "API key, shown only this once: {value}\nhint: it is kept in {file}\n"
        ));
    }
    if gateway.admin_key().is_new {
        let file = data_dir.join("admin_key");
        let file = file.display();
        console.message(format!(
            "the admin key, which every change over the API needs, is in {file}\n"
        ));
    }
}

pub(super) fn refused(error: StartError) -> Failure {
    let hint = match &error {
        StartError::Listen { .. } => "another gateway may be running; choose another --listen",
        StartError::Tls(_) => "see `countersign doctor` and docs/guides/tls.md",
        StartError::Store { place, .. } if place.contains("://") => {
            "see `countersign doctor`, the server's log and docs/guides/postgres.md"
        }
        StartError::Store { .. } => {
            "check that the data directory can be written, or choose another --data-dir"
        }
        StartError::Unshared(_) => {
            "set it in the configuration, best as a reference such as ${env:NAME}; see docs/guides/postgres.md"
        }
        StartError::Key(_) => {
            "check the data directory, or set COUNTERSIGN_API_KEY and COUNTERSIGN_ADMIN_KEY"
        }
        _ => "see `countersign config check`",
    };
    Failure::usage(error).hint(hint)
}

/// Logs to stderr what `COUNTERSIGN_LOG` says, or `default` without it.
pub(super) fn log_to_stderr(default: &str) {
    let filter = tracing_subscriber::EnvFilter::try_from_env("COUNTERSIGN_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(default));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // A second gateway in one process keeps the first one's log.
    drop(log.try_init());
}

/// HUP asks the gateway to read its configuration again, unless stdin is a terminal: a terminal that is closed sends HUP
/// too, and then the process should end.
struct ReloadSignal {
    hangup: Option<tokio::signal::unix::Signal>,
}

impl ReloadSignal {
    fn listen() -> std::io::Result<Self> {
        let hangup = (!std::io::stdin().is_terminal()).then(|| signal(SignalKind::hangup()));
        let hangup = hangup.transpose()?;
        Ok(Self { hangup })
    }

    async fn recv(&mut self) {
        match &mut self.hangup {
            Some(hangup) => drop(hangup.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// Ctrl-C and TERM.
pub(super) struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl StopSignals {
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub(super) async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
