//! The commands, one file each: its arguments as a type and a `run` that takes them. This file only lists them.

use clap::Subcommand;

use crate::report::Failure;
use crate::{Console, Exit};

mod activity;
mod classify;
mod completions;
mod config;
mod contract;
mod demo;
mod demo_server;
mod doctor;
mod import;
mod inspect;
mod load;
mod man;
mod policy;
mod sanitise;
mod schema;
mod serve;
mod servers;
mod tools;
mod whose;
mod wrap;

/// What `countersign` can be told to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(serve::Arguments),
    Wrap(wrap::Arguments),
    Import(import::Arguments),
    Activity(activity::Arguments),
    Servers(servers::Arguments),
    Tools(tools::Arguments),
    Inspect(inspect::Arguments),
    #[command(visible_alias = "sanitize")]
    Sanitise(sanitise::Arguments),
    Classify(classify::Arguments),
    Policy(policy::Arguments),
    Config(config::Arguments),
    Doctor(doctor::Arguments),
    Load(load::Arguments),
    Schema(schema::Arguments),
    Contract(contract::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    DemoServer(demo_server::Arguments),
}

pub(crate) fn run(command: Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Serve(arguments) => serve::run(&arguments, console),
        Command::Wrap(arguments) => wrap::run(&arguments, console),
        Command::Import(arguments) => import::run(&arguments, console),
        Command::Activity(arguments) => activity::run(&arguments, console),
        Command::Servers(arguments) => servers::run(&arguments, console),
        Command::Tools(arguments) => tools::run(&arguments, console),
        Command::Inspect(arguments) => inspect::run(&arguments, console),
        Command::Sanitise(arguments) => sanitise::run(&arguments, console),
        Command::Classify(arguments) => classify::run(&arguments, console),
        Command::Policy(arguments) => policy::run(&arguments, console),
        Command::Config(arguments) => config::run(&arguments, console),
        Command::Doctor(arguments) => doctor::run(&arguments, console),
        Command::Load(arguments) => load::run(&arguments, console),
        Command::Schema(arguments) => schema::run(&arguments, console),
        Command::Contract(arguments) => contract::run(&arguments, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
        Command::Man(arguments) => man::run(&arguments, console),
        Command::DemoServer(arguments) => demo_server::run(&arguments),
    }
}
