//! Whether a server can be called, as its supervisor reports it.

use std::sync::Arc;

use tokio::sync::watch;

use crate::connection::Connection;
use crate::error::Error;

/// Whether a server can be called.
#[derive(Clone, Debug)]
pub enum State {
    /// It is about to be there: calls wait.
    Starting,
    /// It is there.
    Ready(Arc<Connection>),
    /// It keeps failing: calls do not wait for the next try.
    Down,
    /// It is not to come back.
    Stopped,
}

/// The connection, waiting for it if it is about to be there.
pub async fn ready(state: &mut watch::Receiver<State>) -> Result<Arc<Connection>, Error> {
    loop {
        match &*state.borrow_and_update() {
            State::Ready(connection) => return Ok(Arc::clone(connection)),
            State::Starting => {}
            State::Down => return Err(Error::Unreachable),
            State::Stopped => return Err(Error::ShuttingDown),
        }
        next(state).await?;
    }
}

pub(crate) async fn next(state: &mut watch::Receiver<State>) -> Result<(), Error> {
    state.changed().await.map_err(|_| Error::ShuttingDown)
}
