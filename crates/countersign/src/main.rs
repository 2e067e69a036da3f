//! The process: real arguments and streams in, exit code out. Everything that can be tested is in the library.

use std::process::ExitCode;

use countersign::{Console, Exit};

fn main() -> ExitCode {
    if let Some(code) = countersign_dial::keeper::enter() {
        return ExitCode::from(code);
    }
    // A bug of ours must not look like an answer: 101 would be undocumented, 1 would mean "blocked".
    let exit =
        std::panic::catch_unwind(|| countersign::run(std::env::args_os(), &mut Console::process()));
    exit.unwrap_or(Exit::Internal).into()
}
