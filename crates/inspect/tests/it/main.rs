//! Behaviour as data, and laws. Every corpus case and every law is one named test.

#[path = "../support/answered.rs"]
mod answered;
mod case;
mod corpus;
mod generate;
mod laws;
#[expect(dead_code, reason = "the sanitiser's own tests ask it more")]
#[path = "../../../sanitise/tests/it/oracle.rs"]
mod oracle;
mod sanitise;
#[path = "../../../sanitise/tests/it/transforms.rs"]
mod transforms;

use libtest_mimic::Arguments;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = corpus::trials();
    trials.extend(corpus::shared_trials());
    trials.extend(laws::trials());
    trials.extend(sanitise::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
