//! Behaviour as data, and laws. Every corpus case and every law is one named test.

mod case;
mod corpus;

use libtest_mimic::Arguments;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, corpus::trials()).exit_code()
}
