//! Which database a store is in.

use std::sync::Arc;

use super::backend::{Backend, OpenStore};
use super::{Options, StoreError, postgres, sqlite};

/// Opens or creates the store and starts its chain.
pub(super) fn open(options: &Options) -> Result<OpenStore, StoreError> {
    match &options.postgres_url {
        Some(url) => postgres::open(options, url),
        None => sqlite::open(options),
    }
}

/// Opens an existing store for reading only: no chain is started.
pub(super) fn open_reader(options: &Options) -> Result<Arc<dyn Backend>, StoreError> {
    match &options.postgres_url {
        Some(url) => postgres::open_reader(options, url),
        None => sqlite::open_reader(options),
    }
}
