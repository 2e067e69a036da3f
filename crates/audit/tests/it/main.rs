//! The store as its users see it: real files, real processes.

mod chain;
mod commit;
mod processes;
mod support;
