//! A connection to the server under test that outlives the server process: a server that ended or
//! stopped answering is started again, so that each case is tested against a running server.

use std::time::Duration;

use thiserror::Error;

use crate::client::{Client, ConnectError, Exchange, Fault, List, ListError, Options, Target};

/// Restarts of one run, at most.
const MAX_RESTARTS: u32 = 300;

/// Why a run ended before its end.
#[derive(Debug, Error)]
pub enum RunError {
    /// The server cannot be reached.
    #[error("the server cannot be reached")]
    Connect(#[from] ConnectError),
    /// The tools cannot be listed.
    #[error("the tools cannot be listed")]
    List(#[from] ListError),
    /// A tool that is to be tested is not one of the server's.
    #[error("the server has no tool that matches {pattern:?}")]
    NoSuchTool {
        /// The name or pattern.
        pattern: String,
        /// The tools it has.
        listed: Vec<String>,
    },
    /// The server was started again too often.
    #[error("the server had to be started more than {MAX_RESTARTS} times")]
    Restarts,
}

pub(crate) struct Session<'t> {
    target: &'t Target,
    options: Options,
    client: Option<Client>,
    pub(crate) calls: u64,
    pub(crate) restarts: u32,
    /// Lines on stdout that are no messages, of the processes that were ended.
    stray_lines: u64,
}

impl<'t> Session<'t> {
    pub(crate) async fn open(target: &'t Target, mut options: Options) -> Result<Self, RunError> {
        let client = Client::connect(target, &options).await?;
        // Known from now on; a server that is started again need not be asked.
        options.era = Some(client.era());
        Ok(Self {
            target,
            options,
            client: Some(client),
            calls: 0,
            restarts: 0,
            stray_lines: 0,
        })
    }

    /// The connected client; connects if there is none.
    pub(crate) async fn client(&mut self) -> Result<&Client, RunError> {
        let gone = self.client.as_ref().is_none_or(Client::is_closed);
        if gone {
            self.drop_client().await;
            self.restarts += 1;
            if self.restarts > MAX_RESTARTS {
                return Err(RunError::Restarts);
            }
        }
        // A `match` on the option would borrow it for the other arm too.
        if self.client.is_none() {
            self.client = Some(Client::connect(self.target, &self.options).await?);
        }
        self.client.as_ref().ok_or(RunError::Restarts)
    }

    pub(crate) async fn list(&mut self) -> Result<List, RunError> {
        Ok(self.client().await?.list_tools().await?)
    }

    pub(crate) async fn call(
        &mut self,
        tool: &str,
        arguments: &[u8],
        timeout: Duration,
    ) -> Result<Exchange, RunError> {
        let exchange = self.client().await?.call(tool, arguments, timeout).await;
        self.calls += 1;
        let silent = matches!(
            exchange.reply,
            Err(Fault::TimedOut | Fault::Closed | Fault::Unreachable)
        );
        if silent && matches!(self.target, Target::Stdio(_)) {
            self.drop_client().await;
        }
        Ok(exchange)
    }

    async fn drop_client(&mut self) {
        if let Some(client) = self.client.take() {
            client.close().await;
            self.stray_lines += client.noise();
        }
    }

    /// How many lines the server wrote to its stdout so far that are no messages.
    pub(crate) fn stray_lines(&self) -> u64 {
        self.stray_lines + self.client.as_ref().map_or(0, Client::noise)
    }

    pub(crate) async fn close(mut self) {
        self.drop_client().await;
    }
}
