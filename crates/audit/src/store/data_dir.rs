//! What a store keeps in the data directory whatever its database: the signing key and `checkpoints.log`.

use std::sync::Arc;

use super::{Options, StoreError};
use crate::chain::{KEY_FILE, Signer, TrustedKeys};
use crate::private::{close_to_others, make_private_dir, private_file};

const LOCK_FILE: &str = "activity.lock";

/// Makes the data directory for its owner alone, and gives the key that signs checkpoints: the one of the options, or the
/// directory's own, which is generated if there is none.
pub(super) fn open_signer(options: &Options) -> Result<Arc<Signer>, StoreError> {
    let dir = &options.data_dir;
    make_private_dir(dir).map_err(StoreError::file(dir))?;
    close_to_others(dir, KEY_FILE).map_err(StoreError::file(dir))?;
    let path = dir.join(LOCK_FILE);
    let lock = private_file().open(&path);
    let lock = lock.map_err(StoreError::file(&path))?;
    // Freed when the file is closed, however the process ends.
    lock.lock().map_err(StoreError::file(&path))?;
    signer(options)
}

/// The key that signs checkpoints, if there is one already.
pub(super) fn existing_signer(options: &Options) -> Result<Option<Signer>, StoreError> {
    Ok(match &options.signing_key {
        Some(text) => Some(Signer::from_text(text)?),
        None => Signer::load(&options.data_dir)?,
    })
}

/// The key that signs checkpoints. Call it under a lock: it may be generated.
pub(super) fn signer(options: &Options) -> Result<Arc<Signer>, StoreError> {
    let signer = match &options.signing_key {
        Some(text) => Signer::from_text(text)?,
        None => Signer::load_or_create(&options.data_dir)?,
    };
    TrustedKeys::remember(&options.data_dir, signer.public())?;
    Ok(Arc::new(signer))
}
