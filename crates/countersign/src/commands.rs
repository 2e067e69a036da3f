//! The commands, one file each: its arguments as a type and a `run` that takes them. This file only lists them.

use clap::Subcommand;

use crate::report::Failure;
use crate::{Console, Exit};

mod access;
mod activity;
mod auth;
mod classify;
mod completions;
mod config;
mod contract;
mod demo;
mod demo_server;
mod doctor;
mod file_change;
mod gateway_option;
mod import;
mod inspect;
mod keys;
mod load;
mod man;
mod policy;
mod sanitise;
mod schema;
mod serve;
mod servers;
mod store;
mod tools;
mod value_parser;
mod wrap;

/// What `countersign` can be told to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(serve::Arguments),
    Wrap(wrap::Arguments),
    Import(import::Arguments),
    #[command(subcommand)]
    Activity(activity::Command),
    #[command(subcommand)]
    Store(store::Command),
    #[command(subcommand)]
    Servers(servers::Command),
    #[command(subcommand)]
    Auth(auth::Command),
    #[command(subcommand)]
    Keys(keys::Command),
    #[command(subcommand)]
    Tools(tools::Command),
    Inspect(inspect::Arguments),
    #[command(visible_alias = "sanitize")]
    Sanitise(sanitise::Arguments),
    #[command(subcommand)]
    Classify(classify::Command),
    #[command(subcommand)]
    Policy(policy::Command),
    #[command(subcommand)]
    Access(access::Command),
    #[command(subcommand)]
    Config(config::Command),
    Doctor(doctor::Arguments),
    #[command(subcommand)]
    Load(load::Command),
    #[command(subcommand)]
    Schema(schema::Command),
    #[command(subcommand)]
    Contract(contract::Command),
    Completions(completions::Arguments),
    Man(man::Arguments),
    DemoServer(demo_server::Arguments),
}

pub(crate) fn run(command: Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Serve(arguments) => serve::run(&arguments, console),
        Command::Wrap(arguments) => wrap::run(&arguments, console),
        Command::Import(arguments) => import::run(&arguments, console),
        Command::Activity(command) => activity::run(&command, console),
        Command::Store(command) => store::run(&command, console),
        Command::Servers(command) => servers::run(&command, console),
        Command::Auth(command) => auth::run(&command, console),
        Command::Keys(command) => keys::run(&command, console),
        Command::Tools(command) => tools::run(&command, console),
        Command::Inspect(arguments) => inspect::run(&arguments, console),
        Command::Sanitise(arguments) => sanitise::run(&arguments, console),
        Command::Classify(command) => classify::run(&command, console),
        Command::Policy(command) => policy::run(&command, console),
        Command::Access(command) => access::run(&command, console),
        Command::Config(command) => config::run(&command, console),
        Command::Doctor(arguments) => doctor::run(&arguments, console),
        Command::Load(command) => load::run(&command, console),
        Command::Schema(command) => schema::run(&command, console),
        Command::Contract(command) => contract::run(&command, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
        Command::Man(arguments) => man::run(&arguments, console),
        Command::DemoServer(arguments) => demo_server::run(&arguments),
    }
}
