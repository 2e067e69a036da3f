//! Drives the built binary as a user or a script would: arguments, stdin, stdout, stderr, exit code.

mod support;

mod activity;
mod config;
mod generators;
mod inspect;
mod readme;
mod schema;
mod serve;
mod usage;
