//! Files and folders that only their owner can read. The data directory holds records, keys and secrets, so it is
//! closed to other users on every way in, and what an earlier version left open is closed too.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Options for a file that, if it is made now, only its owner can read.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true);
    make_private(&mut options);
    options
}

/// The same for a file that is read, and written from its start.
pub(crate) fn private_journal() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    make_private(&mut options);
    options
}

fn make_private(options: &mut OpenOptions) {
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

/// Makes a folder that only its owner can enter, with the folders above it.
pub(crate) fn make_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(dir)
}

/// Takes from other users what they may do with a folder and with the files in it. A folder that every user of the
/// machine shares, like `/tmp`, stays as it is. What belongs to another user stays open, with a warning. The file named
/// `except` is left as it is.
#[cfg(unix)]
pub(crate) fn close_to_others(dir: &Path, except: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    const STICKY: u32 = 0o1000;
    let mode = fs::metadata(dir)?.permissions().mode();
    if mode & STICKY != 0 {
        tracing::warn!(folder = %dir.display(), "the data directory is shared with other users");
        return Ok(());
    }
    close(dir, mode);
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        // Another process may have removed it meanwhile. Links are not followed.
        if let Ok(metadata) = fs::symlink_metadata(&path)
            && metadata.is_file()
            && !path.ends_with(except)
        {
            close(&path, metadata.permissions().mode());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn close(path: &Path, mode: u32) {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o077;
    if mode & OTHERS == 0 {
        return;
    }
    let closed = mode & !OTHERS & 0o7777;
    if let Err(error) = fs::set_permissions(path, Permissions::from_mode(closed)) {
        tracing::warn!(%error, path = %path.display(), "other users may read this");
    }
}

#[cfg(not(unix))]
pub(crate) fn close_to_others(_dir: &Path, _except: &str) -> io::Result<()> {
    Ok(())
}
