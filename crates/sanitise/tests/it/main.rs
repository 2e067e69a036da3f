//! The proofs of the sanitiser, one binary. The oracle has its own token list, its own set of invisible characters and
//! another normaliser: it shares no code and no pattern with the crate.

#![expect(clippy::print_stdout, reason = "figures are part of the proof")]

mod attacks;
mod boundary;
mod fidelity;
mod hidden;
mod laws;
mod linear;
mod oracle;
mod samples;
mod transforms;

use countersign_sanitise::{Mode, Sanitiser, Settings};

/// A sanitiser with the defaults of a mode.
fn sanitiser(mode: Mode) -> Sanitiser {
    Sanitiser::new(Settings::for_mode(mode)).expect("the defaults of a mode are valid")
}
