//! A gateway in front of one server for one client, over the standard streams. The same path as
//! any other call, without a listener and without a key; the store may be used by other
//! gateways at the same time. It ends with its client, or with its server.

use std::sync::Arc;

use countersign_client::{
    Inheritance, Peer, PeerMessage, ServerExit, ServerHandle, ServerTransport,
};
use countersign_config::{LoadedConfig, Transport};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::anchors::Anchors;
use super::keys::passing_session_key;
use super::plan::Plan;
use super::reload::Reloader;
use super::{CANCEL, StartError, check, open_store, wind_down};
use crate::downstream::{StdioClient, write};
use crate::services::Runtime;
use crate::state::Settings;

/// One server, behind the boundary.
#[derive(Debug)]
pub struct WrappedServer {
    runtime: Runtime,
    upstream: Arc<ServerHandle>,
    ended: oneshot::Receiver<ServerExit>,
    peer: Arc<Peer>,
    /// What the server says to its client.
    said: Option<mpsc::Receiver<PeerMessage>>,
    writer: Option<JoinHandle<std::io::Result<()>>>,
    anchors: Anchors,
}

impl WrappedServer {
    /// Starts the one server of a configuration, which has to be a child process. It sees our
    /// environment, unless the configuration gives it one, and our standard error. Must be called
    /// within a tokio runtime. If the configuration is from a file, that file is followed, except in what the child is
    /// started with.
    pub async fn start(opened: impl Into<LoadedConfig>) -> Result<Self, StartError> {
        let opened = opened.into();
        let config = opened.config.clone();
        check(&config)?;
        let store = open_store(&config)?;
        tokio::spawn(store.deliver());
        let anchors = Anchors::start(&config, &store, false);
        let (runtime, requests) = Runtime::new(&opened, store, passing_session_key()?);
        let unsupported = || StartError::Unsupported("wrapping anything but one command".into());
        let mut plan = Plan::make(&runtime, Settings::new(config, None))?;
        let config = Arc::clone(&plan.settings.config);
        let supervisors = std::mem::take(&mut plan.supervisors);
        let Ok([mut supervisor]) = <[_; 1]>::try_from(supervisors) else {
            return Err(unsupported());
        };
        let ServerTransport::Stdio(child) = &mut supervisor.transport else {
            return Err(unsupported());
        };
        let name = Arc::clone(&supervisor.supervision.server);
        let given = |server: &countersign_config::Server| matches!(&server.transport, Transport::Stdio { env, .. } if !env.is_empty());
        child.program.inheritance = Inheritance {
            environment: !config.server(&name).is_some_and(given),
            stderr: true,
        };
        let (peer, said) = Peer::new();
        child.peer = Some(Arc::clone(&peer));
        let (tell, ended) = oneshot::channel();
        plan.supervisors.push(supervisor.once(tell));
        plan.carry_out(&runtime).await;
        Reloader::start(&runtime, opened, requests);
        let snapshot = runtime.state.load();
        let server = snapshot.server(&name).ok_or_else(unsupported)?;
        Ok(Self {
            upstream: Arc::clone(&server.upstream),
            runtime,
            ended,
            peer,
            said: Some(said),
            writer: None,
            anchors,
        })
    }

    /// Serves until the input ends, the output is closed, `stop` resolves, or the server ends. Only the end of the server
    /// gives a value.
    pub async fn serve(
        &mut self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + Send + 'static,
        stop: impl Future<Output = ()>,
    ) -> Option<ServerExit> {
        let (runtime, upstream) = (self.runtime.clone(), Arc::clone(&self.upstream));
        let (client, messages) = StdioClient::new(runtime, upstream, Arc::clone(&self.peer))?;
        if let Some(said) = self.said.take() {
            client.pass_on(said);
        }
        self.writer = Some(tokio::spawn(write(messages, output)));
        tokio::select! {
            biased;
            end = &mut self.ended => end.ok(),
            () = stop => None,
            () = client.serve(input) => None,
        }
    }

    /// Stops in good order: lets calls finish, ends the server, closes the store. Calls under way
    /// are told to end once `hurry` resolves, or after ten seconds.
    pub async fn stop(self, hurry: impl Future<Output = ()>) {
        wind_down(&self.runtime.services, hurry).await;
        if let Some(writer) = self.writer {
            // A client that does not read its answers does not keep us.
            drop(timeout(CANCEL, writer).await);
        }
        self.runtime.services.store.close().await;
        self.anchors.finish().await;
        self.runtime.services.signals.close().await;
    }
}
