//! The gateway from the outside: real HTTP in front, real child processes behind.

mod access;
mod access_rules;
#[cfg(target_os = "linux")]
mod boundary;
mod carriers;
mod catalogue;
mod classify;
mod connect;
mod console;
mod console_sign_in;
mod crowd;
mod deadline;
mod decisions;
mod envelope;
mod events;
mod exact;
mod faults;
mod fidelity;
mod hostile;
mod http_faults;
mod http_paired;
mod http_resumed;
mod http_upstream;
mod input_schemas;
mod interface;
mod isolation;
#[cfg(target_os = "linux")]
#[path = "../support/boundary.rs"]
mod law_of_boundary;
mod lists;
mod merged;
mod metrics;
mod news;
mod oauth;
mod others;
#[path = "../../../telemetry/tests/it/receiver.rs"]
mod otlp_receiver;
mod portable_sessions;
mod protocol;
mod quickstart;
mod records;
mod reload;
mod rounds;
mod router;
mod sanitise;
mod schema_refs;
mod sessions;
mod shares;
mod signals;
mod stateful;
mod stop;
mod streams;
mod support;
mod timeouts;
mod tls;
mod tokens;
mod unix;
mod versions;
mod wire;
