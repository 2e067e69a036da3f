//! Files that are replaced as a whole: a program that reads meanwhile sees the old one or the new one, never half of it. What
//! only its owner may read stays so from the first byte.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// For files that may hold secrets.
const PRIVATE: u32 = 0o600;

/// Writes a file that only its owner may read, and the folders above it.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    replace(path, bytes, PRIVATE)
}

/// Replaces the content of a file and nothing else: its permissions stay, and a link stays a link.
pub(crate) fn rewrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let mode = mode(&path).unwrap_or(PRIVATE);
    replace(&path, bytes, mode)
}

/// A copy beside a file, as private as the file itself.
pub(crate) fn write_beside(path: &Path, beside: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(beside, bytes, mode(path).unwrap_or(PRIVATE))
}

/// What others may do with a file.
#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(path.metadata().ok()?.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
pub(crate) fn mode(_path: &Path) -> Option<u32> {
    None
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", std::process::id()));
    let draft = PathBuf::from(draft);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let written = options.open(&draft).and_then(|mut file| {
        // The umask may have taken some away.
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    });
    if written.is_err() {
        drop(fs::remove_file(&draft));
    }
    written
}
