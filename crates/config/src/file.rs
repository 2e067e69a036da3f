//! Files that are read: only so large, and whether others may read them too.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The text of a file. Fails if it is larger than `limit`, which is whole MiB.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    file.take(limit + 1).read_to_string(&mut text)?;
    if text.len() as u64 > limit {
        let why = format!("larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(text)
}

/// Whether other users of the machine may read or change a file.
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    let mode = path.metadata().map(|file| file.permissions().mode());
    mode.is_ok_and(|mode| mode & 0o077 != 0)
}
