//! A gateway in front of one server for one client, over the standard streams. The same path as
//! any other call, without a listener and without a key; the store is shared with whoever else
//! uses it. It ends with its client, or with its server.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::budget::Budget;
use crate::config::{Config, Transport};
use crate::downstream::{Door, Guard, write};
use crate::gateway::{CANCEL, StartError, check, open_store, prepare, start_servers, wind_down};
use crate::shared::Shared;
use crate::upstream::Upstream;
use crate::upstream::stdio::{End, Shares};
use crate::upstream::supervisor::Supervisor;

/// One server, behind the boundary.
#[derive(Debug)]
pub struct Wrapped {
    shared: Arc<Shared>,
    upstream: Arc<Upstream>,
    stop: watch::Sender<bool>,
    supervisors: Vec<JoinHandle<()>>,
    ended: oneshot::Receiver<End>,
    writer: Option<JoinHandle<std::io::Result<()>>>,
}

impl Wrapped {
    /// Starts the one server of a configuration, which has to be a child process. It sees our
    /// environment, unless the configuration gives it one, and our standard error. Must be called
    /// within a tokio runtime.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        check(&config)?;
        let store = open_store(&config)?;
        tokio::spawn(store.deliver());
        // Nothing listens, so nobody is ever asked for the key.
        let guard = Guard::new(&config, "");
        let budget = Budget::new(config.max_inflight_bytes);
        let config = Arc::new(config);
        let shared = Shared::new(Arc::clone(&config), store, budget, Arc::default(), guard);
        let shared = Arc::new(shared);
        let unsupported = || StartError::Unsupported("wrapping anything but one command".into());
        let mut prepared = prepare(&shared, &config)?;
        let (Some((upstream, Supervisor::Stdio(mut supervisor))), None) =
            (prepared.pop(), prepared.pop())
        else {
            return Err(unsupported());
        };
        let given = |server: &crate::config::Server| matches!(&server.transport, Transport::Stdio { env, .. } if !env.is_empty());
        supervisor.program.shares = Shares {
            environment: !config.server(upstream.name()).is_some_and(given),
            stderr: true,
        };
        let name = Arc::clone(upstream.name());
        let (tell, ended) = oneshot::channel();
        let prepared = vec![(upstream, Supervisor::Once(supervisor, tell))];
        let stop = watch::Sender::new(false);
        let supervisors = start_servers(&shared, prepared, &stop).await;
        let snapshot = shared.snapshot();
        let server = snapshot.server(&name).ok_or_else(unsupported)?;
        Ok(Self {
            upstream: Arc::clone(&server.upstream),
            shared,
            stop,
            supervisors,
            ended,
            writer: None,
        })
    }

    /// Serves until the input ends, nobody reads the output, `stop` resolves, or the server ends:
    /// only then there is something to tell.
    pub async fn serve(
        &mut self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + Send + 'static,
        stop: impl Future<Output = ()>,
    ) -> Option<End> {
        let (door, messages) = Door::new(Arc::clone(&self.shared), Arc::clone(&self.upstream))?;
        self.writer = Some(tokio::spawn(write(messages, output)));
        tokio::select! {
            biased;
            end = &mut self.ended => end.ok(),
            () = stop => None,
            () = door.serve(input) => None,
        }
    }

    /// Stops in good order: lets calls finish, ends the server, closes the store. Calls under way
    /// are told to end once `hurry` resolves, or after ten seconds.
    pub async fn stop(self, hurry: impl Future<Output = ()>) {
        wind_down(&self.shared, &self.stop, self.supervisors, hurry).await;
        if let Some(writer) = self.writer {
            // A client that does not read its answers does not keep us.
            drop(timeout(CANCEL, writer).await);
        }
        self.shared.store.close().await;
    }
}
