//! Everything a request is decided by: the configuration, the servers and their tools, and who may come in. All of it is
//! immutable: a change makes a new snapshot.

mod endpoint;
mod entry;
pub(crate) mod guard;
mod index;
pub(crate) mod names;
mod server_state;
mod settings;
mod snapshot;
mod tool;
mod tools;
mod words;

pub(crate) use endpoint::Endpoint;
pub(crate) use entry::Entry;
pub(crate) use guard::Guard;
pub(crate) use index::{Index, Posting, start};
pub(crate) use server_state::ServerState;
pub(crate) use settings::Settings;
pub(crate) use snapshot::{Server, Snapshot};
pub(crate) use tool::{Naming, Tool};
pub(crate) use tools::Tools;
pub(crate) use words::words;
