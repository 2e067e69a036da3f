//! Files that are replaced as a whole, and what others may do with a file.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use countersign_config::replace_file;

/// Writes a file that only its owner may read, and the folders above it.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder)?;
    }
    replace_file(path, bytes, |_| Ok(()))
}

/// Replaces the content of a file and nothing else: its permissions stay, and a link stays a link.
pub(crate) fn rewrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    write_with_rights_of(&path, &path, bytes)
}

/// Writes a file that is as private as another one.
pub(crate) fn write_with_rights_of(like: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let rights = like.metadata()?.permissions();
    replace_file(path, bytes, |new| new.set_permissions(rights))
}

/// What others may do with a file.
pub(crate) fn mode(path: &Path) -> Option<u32> {
    Some(path.metadata().ok()?.permissions().mode() & 0o777)
}
