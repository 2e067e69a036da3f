//! The gateway from the outside: real HTTP in front, real child processes behind.

mod access;
mod catalogue;
mod exact;
mod faults;
mod fidelity;
mod http_faults;
mod http_upstream;
mod lists;
mod others;
mod quickstart;
mod records;
mod router;
mod sessions;
mod stop;
mod streams;
mod support;
