//! The store as its users see it: real files, real processes.

mod batches;
mod chain;
mod commit;
mod earlier;
mod export;
mod follow;
#[cfg(unix)]
mod postgres;
mod private;
mod processes;
mod proof;
mod query;
mod rewritten;
mod summary;
mod support;
