//! The store as its users see it: real files, real processes.

mod batches;
mod chain;
mod commit;
mod earlier;
mod export;
mod follow;
mod grants;
mod journal;
#[cfg(unix)]
mod postgres;
mod preview;
mod private;
mod processes;
mod proof;
mod query;
mod revocations;
mod rewritten;
mod summary;
mod support;
