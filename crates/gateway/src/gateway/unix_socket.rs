//! Listening on a Unix socket. Only the user that the gateway runs as may connect. A socket that a killed gateway has left
//! behind is replaced; one that a process answers at is not, and neither is anything that is no socket.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use tokio::net::{UnixListener, UnixSocket, UnixStream};
use tokio::time::timeout;

use super::BACKLOG;

/// How long a process may take to accept a connection before its socket counts as in use.
const ANSWER: Duration = Duration::from_secs(1);
/// The rights of the socket: connecting takes the right to write.
const MODE: u32 = 0o600;

/// A socket in the file system. It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and inode: another process may have put another file at the path.
    identity: (u64, u64),
    /// Keeps other gateways from taking the socket for one that was left behind.
    _lock: File,
}

/// Listens at a path.
pub(super) async fn open(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let lock = lock(path)?;
    remove_left_behind(path).await?;
    let socket = UnixSocket::new_stream()?;
    socket.bind(path)?;
    // No client can connect before the socket listens, so there is no moment with other rights.
    fs::set_permissions(path, Permissions::from_mode(MODE))?;
    let identity = identity(&fs::symlink_metadata(path)?);
    let listener = socket.listen(BACKLOG)?;
    let file = SocketFile {
        path: path.to_owned(),
        identity,
        _lock: lock,
    };
    Ok((listener, file))
}

/// Locks the file beside the socket, which stays when the gateway ends: removing it could remove the lock of the next one.
fn lock(socket: &Path) -> io::Result<File> {
    let mut path = OsString::from(socket);
    path.push(".lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(MODE);
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?;
    let file = options.custom_flags(no_follow).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(in_use()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

async fn remove_left_behind(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !found.file_type().is_socket() {
        let kind = io::ErrorKind::AlreadyExists;
        return Err(io::Error::new(kind, "there is a file that is no socket"));
    }
    match timeout(ANSWER, UnixStream::connect(path)).await {
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) | Err(_) => Err(in_use()),
    }
}

fn in_use() -> io::Error {
    io::Error::new(io::ErrorKind::AddrInUse, "another process listens there")
}

fn identity(of: &fs::Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| identity(&found) == self.identity) {
            // What stays behind is replaced at the next start.
            drop(fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).expect("a file").mode() & 0o7777
    }

    #[tokio::test]
    async fn a_socket_is_for_its_owner_and_goes_with_its_listener() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sock");
        let (listener, file) = open(&path).await.expect("it listens");
        assert_eq!(mode(&path), 0o600);
        UnixStream::connect(&path).await.expect("a connection");
        let second = open(&path).await.expect_err("it is in use");
        assert_eq!(second.kind(), io::ErrorKind::AddrInUse);
        drop((listener, file));
        assert!(!path.exists());
        open(&path).await.expect("it listens again");
    }

    #[tokio::test]
    async fn what_was_left_behind_is_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sock");
        // Dropping a listener of the standard library leaves its file, as a killed process does.
        drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
        let (_listener, file) = open(&path).await.expect("it is replaced");
        // What another process has put at the path since then is not ours.
        fs::remove_file(&path).expect("removed");
        fs::write(&path, "x").expect("written");
        drop(file);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "x");
        let refused = open(&path).await.expect_err("a plain file");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        let answering = folder.path().join("b.sock");
        let _listener = std::os::unix::net::UnixListener::bind(&answering).expect("a socket");
        let refused = open(&answering).await.expect_err("a process answers");
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        for (link, target) in [("c.sock", "b.sock"), ("d.sock", "none")] {
            let link = folder.path().join(link);
            symlink(folder.path().join(target), &link).expect("a link");
            let refused = open(&link).await.expect_err("a link");
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
            assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        }
        assert!(!folder.path().join("none").exists());
    }
}
