//! The gateway from the outside: real HTTP in front, real child processes behind.

mod access;
mod catalogue;
mod classify;
mod crowd;
mod decisions;
mod events;
mod exact;
mod faults;
mod fidelity;
mod http_faults;
mod http_paired;
mod http_upstream;
mod interface;
mod lists;
mod metrics;
mod others;
mod quickstart;
mod records;
mod reload;
mod rounds;
mod router;
mod sanitise;
mod sessions;
mod stop;
mod streams;
mod support;
