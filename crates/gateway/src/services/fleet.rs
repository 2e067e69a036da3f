//! The servers that run: each has a supervisor in a task of its own until no call can reach it any more, or the gateway stops.
//! What is known of their eras is kept here too, since it outlives each of them.

use std::path::Path;
use std::sync::{Arc, Mutex};

use countersign_dial::lock;
use tokio::sync::watch;
use tokio::task::JoinSet;

use countersign_client::KnownEras;
use countersign_client::ServerHandle;
use countersign_client::Supervisor;

/// Every server that runs or is about to end.
#[derive(Debug)]
pub(crate) struct Fleet {
    pub(crate) known: KnownEras,
    running: Mutex<RunningServers>,
}

#[derive(Debug, Default)]
struct RunningServers {
    supervisors: JoinSet<()>,
    stops: Vec<Arc<watch::Sender<bool>>>,
    /// A server that is started from now on ends at once.
    stopped: bool,
}

impl Fleet {
    /// No servers yet; what their eras were is read from the data directory. Blocks, shortly.
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self {
            known: KnownEras::read(data_dir),
            running: Mutex::default(),
        }
    }

    /// Runs the supervisor of a server.
    pub(crate) fn start(&self, upstream: &ServerHandle, supervisor: Supervisor) {
        let stop = upstream.lease().stop();
        let mut running = lock(&self.running);
        // Forget the supervisors that have ended.
        while running.supervisors.try_join_next().is_some() {}
        running.stops.retain(|stop| stop.receiver_count() > 0);
        stop.send_if_modified(|stop| {
            *stop |= running.stopped;
            running.stopped
        });
        let told = stop.subscribe();
        running.supervisors.spawn(supervisor.run(told));
        running.stops.push(stop);
    }

    /// Ends every server and waits until the last one has.
    pub(crate) async fn end(&self) {
        let supervisors = {
            let mut running = lock(&self.running);
            running.stopped = true;
            for stop in running.stops.drain(..) {
                stop.send_replace(true);
            }
            std::mem::take(&mut running.supervisors)
        };
        supervisors.join_all().await;
    }
}
