//! A child that is not started again: the caller is told how it ended. Only while
//! its era is not known may it have more than one life, because some servers die of a greeting
//! they do not understand.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use countersign_inspect::Era;
use tokio::sync::watch;

use super::{Life, StdioSupervisor};
use crate::state::State;
use crate::supervisor::End;

/// So often is it greeted: beginning in one era, and then in the other.
const GREETINGS: u32 = 2;

impl StdioSupervisor {
    /// Keeps the child alive until it ends or is told to stop; then there is nothing to tell.
    pub(crate) async fn run_once(self, mut stop: watch::Receiver<bool>) -> Option<End> {
        let is_known_legacy = self.supervision.eras.known() == Some(Era::Legacy);
        let mut next = None;
        let mut greetings = 1;
        let end = loop {
            let life = self.live(&mut next, &mut stop).await;
            if *stop.borrow() {
                break None;
            }
            let settled =
                self.supervision.era.is_some() || is_known_legacy || greetings == GREETINGS;
            if settled || !life.died_of_the_greeting() {
                break Some(End::from(life));
            }
            greetings += 1;
        };
        self.supervision.state.send_replace(State::Stopped);
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
            stderr: life.stderr.join("\n"),
            error: life.failed,
        }
    }
}

fn code(status: ExitStatus) -> Option<u8> {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))?;
    u8::try_from(code).ok()
}
