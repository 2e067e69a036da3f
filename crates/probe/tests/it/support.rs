//! Servers for the tests to talk to, over both transports.

use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use countersign_fixture::http::{Format, Server};
use countersign_fixture::{Log, Script, executable};
use countersign_probe::client::{Client, Options, Target};
use countersign_probe::load::{self, LoadError, RunContext};
use countersign_probe::plan::Plan;
use countersign_probe::report::Run;
use tempfile::NamedTempFile;

/// Longer than anything here takes, however slow the machine.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// A server that runs as long as this is kept.
pub(crate) struct RunningServer {
    pub(crate) target: Target,
    /// The `[server]` table of a plan.
    pub(crate) server: String,
    _server: Option<Server>,
    _script: Option<NamedTempFile>,
}

/// A server over HTTP in this process.
pub(crate) async fn http(script: Script, format: Format) -> RunningServer {
    logged(script, format, Log::none()).await
}

/// The same, writing down what it receives.
pub(crate) async fn logged(script: Script, format: Format, log: Log) -> RunningServer {
    let server = Server::bind("127.0.0.1:0", script, format, log)
        .await
        .expect("a free port");
    RunningServer {
        target: Target::url(&server.url()).expect("an address"),
        server: format!("[server]\nurl = {:?}", server.url()),
        _server: Some(server),
        _script: None,
    }
}

/// A server as a child process.
pub(crate) fn stdio(script: &Script) -> RunningServer {
    let file = NamedTempFile::new().expect("a scratch file");
    std::fs::write(file.path(), script.to_json()).expect("the script is written");
    let program = executable().expect("the fixture can be built");
    let path = file.path().display().to_string();
    let args = ["stdio", "--script", &path].map(str::to_owned);
    let server = format!(
        "[server]\ncommand = {:?}\nargs = {args:?}",
        program.display().to_string()
    );
    RunningServer {
        server,
        target: Target::command(program.display().to_string(), args),
        _server: None,
        _script: Some(file),
    }
}

impl RunningServer {
    pub(crate) async fn connect(&self) -> Client {
        let connected = Client::connect(&self.target, &Options::default()).await;
        connected.expect("the server is greeted")
    }
}

/// Runs a plan to its end.
pub(crate) async fn run(plan: &Plan) -> Result<Run, LoadError> {
    let mut stop = std::pin::pin!(std::future::pending());
    run_until(plan, stop.as_mut()).await
}

/// Runs a plan until it ends or is stopped.
pub(crate) async fn run_until(
    plan: &Plan,
    stop: Pin<&mut dyn Future<Output = ()>>,
) -> Result<Run, LoadError> {
    let context = RunContext {
        progress: &mut |_| {},
        stop,
        today: "2026-11-16".parse().expect("a day"),
    };
    load::run(plan, context).await
}

/// A plan with these tables after its server.
pub(crate) fn plan(running: &RunningServer, rest: &str) -> Plan {
    let text = format!("{}\n{rest}", running.server);
    Plan::parse(&text, Path::new("."), &|_| None).expect("a plan")
}
