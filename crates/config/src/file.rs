//! Files that are read, only so large, and files that are replaced in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
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

/// Replaces a file in one step: a program that reads it meanwhile sees the old content or the new one. Only its owner may
/// read the new file, unless `prepare` gives it other rights before it takes its place. Blocks.
pub fn replace_file(
    path: &Path,
    bytes: &[u8],
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}.new", std::process::id()));
    // Left behind by a process that ended before it renamed the file.
    drop(fs::remove_file(&draft));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = options.open(&draft).and_then(|mut new| {
        new.write_all(bytes)?;
        prepare(&new)?;
        new.sync_all()?;
        fs::rename(&draft, path)
    });
    if written.is_err() {
        drop(fs::remove_file(&draft));
    }
    written?;
    // The file is written. If its folder cannot be synced, a power cut may bring back the old content, whole.
    drop(File::open(folder).and_then(|folder| folder.sync_all()));
    Ok(())
}

/// Gives a new file the owner and the rights of another one, if that exists.
pub(crate) fn copy_owner_and_rights(new: &File, like: &Path) -> io::Result<()> {
    if let Ok(old) = like.metadata() {
        let own = new.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            fchown(new, Some(old.uid()), Some(old.gid()))?;
        }
        new.set_permissions(old.permissions())?;
    }
    Ok(())
}
