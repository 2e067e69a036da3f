//! The gateways that runs are made with: one of each kind for a thread, kept from run to run, because starting one takes
//! a hundred times as long as a run.

use std::cell::RefCell;
use std::path::Path;

use countersign_config::{ApiKey, Config, Environment, Server};
use countersign_gateway::inspect::Mode;
use tokio::runtime::{Builder, Runtime};

use super::pipe::Pipe;
use super::web::{self, Web};

/// How often everything in the process has its turn before silence is silence.
pub(crate) const TURNS: usize = 1024;
/// After so many runs a gateway is started anew, so that what it keeps of them stays small.
const RUNS: usize = 50_000;

/// The gateways of this thread.
#[derive(Default)]
pub(crate) struct Rigs {
    pub(crate) pipes: [Option<Pipe>; 2],
    pub(crate) web: Option<Web>,
    runs: usize,
    /// Goes last, and everything that runs in it.
    runtime: Option<Runtime>,
}

thread_local! {
    static RIGS: RefCell<Rigs> = RefCell::default();
}

pub(crate) fn with_rigs<T>(run: impl FnOnce(&mut Rigs, &Runtime) -> T) -> T {
    RIGS.with_borrow_mut(|rigs| {
        rigs.runs += 1;
        if rigs.runs % RUNS == 0 {
            *rigs = Rigs::default();
        }
        let runtime = rigs.runtime.take().unwrap_or_else(new_runtime);
        let done = run(rigs, &runtime);
        rigs.runtime = Some(runtime);
        done
    })
}

pub(crate) fn new_runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Strict, `clean`, and records that no reply waits for.
pub(crate) fn config(folder: &Path, servers: Vec<Server>) -> Config {
    let mut config = Config::embedded(&Environment::empty());
    config.listen = ([127, 0, 0, 1], 0).into();
    config.api_key = Some(ApiKey::new(web::KEY));
    config.data_dir = folder.join("data");
    config.output.mode = Some(Mode::Strict);
    config.activity.durability = countersign_audit::Durability::Async;
    config.servers = servers;
    config
}
