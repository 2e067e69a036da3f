//! A child that is not started again: whoever started us wants to know how it ended. Only while
//! its era is not known may it have more than one life, because some servers die of a greeting
//! they do not understand.

use std::error::Error;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use countersign_inspect::Era;
use tokio::sync::watch;

use super::{Life, StartError, State, Supervisor};
use crate::checkup::Trouble;

/// So often is it greeted: beginning in one era, and then in the other.
const GREETINGS: u32 = 2;

/// How a child ended that nobody told to.
#[derive(Debug)]
pub struct End {
    /// Whether it could be called before that.
    pub served: bool,
    /// What it ended with, as a shell says it: above 128 for a signal. `None` if it was ended.
    pub code: Option<u8>,
    /// Why it never served, if that is known.
    pub error: Option<Box<dyn Error + Send + Sync>>,
    /// The same, for whoever looks into it.
    pub(crate) trouble: Option<Trouble>,
    /// The last lines it wrote to standard error, if those were kept, made safe for a terminal.
    pub(crate) stderr: String,
}

impl Supervisor {
    /// Keeps the child alive until it ends or is told to stop; then there is nothing to tell.
    pub(crate) async fn run_once(self, mut stop: watch::Receiver<bool>) -> Option<End> {
        let is_known_legacy = self.eras.known() == Some(Era::Legacy);
        let mut next = None;
        let mut greetings = 1;
        let end = loop {
            let life = self.live(&mut next, &mut stop).await;
            if *stop.borrow() {
                break None;
            }
            let settled = self.era.is_some() || is_known_legacy || greetings == GREETINGS;
            if settled || !life.died_of_the_greeting() {
                break Some(End::from(life));
            }
            greetings += 1;
        };
        self.state.send_replace(State::Stopped);
        end
    }
}

impl Life {
    /// Whether the child may survive the other greeting. One that has refused both has said everything.
    fn died_of_the_greeting(&self) -> bool {
        !self.served && self.left()
    }
}

impl From<Life> for End {
    fn from(life: Life) -> Self {
        Self {
            served: life.served,
            code: life.status.filter(|_| life.left()).and_then(code),
            trouble: life.failed.as_ref().map(StartError::trouble),
            stderr: life.stderr.join("\n"),
            error: life.failed.map(Into::into),
        }
    }
}

impl StartError {
    pub(super) fn trouble(&self) -> Trouble {
        match self {
            Self::Spawn(error) => Trouble::Spawn(error.to_string()),
            Self::Handshake(error) => error.trouble(),
            Self::TimedOut => Trouble::Silent,
        }
    }
}

fn code(status: ExitStatus) -> Option<u8> {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))?;
    u8::try_from(code).ok()
}
