//! Drives the built binary as a user or a script would: arguments, stdin, stdout, stderr, exit code.

mod support;

mod access;
mod activity;
mod address;
mod answers;
mod classify;
mod clients;
mod config;
mod contract;
mod demo;
mod doctor;
mod evidence;
mod failing;
mod generators;
mod import;
mod inspect;
mod keys;
mod load;
mod postgres;
mod preview;
mod private;
mod readme;
mod refresh;
mod reload;
mod sanitise;
mod schema;
mod serve;
mod servers;
mod survives;
mod tls;
mod tools;
mod unset;
mod usage;
mod watch;
mod wrap;
