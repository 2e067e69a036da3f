//! Behaviour as data, and laws. Every corpus case and every law is one named test.

mod case;
mod corpus;
mod generate;
mod laws;

use libtest_mimic::Arguments;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = corpus::trials();
    trials.extend(laws::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
