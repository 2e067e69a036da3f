//! The `address` file: where the gateway of a data directory listens. The gateway that writes it keeps it locked for as
//! long as it listens. The system takes the lock away when that process ends, however it ends, so a file without a lock
//! is one that a killed gateway left behind: another program may have its port now, and must not be sent a key.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::GatewayAddress;

const FILE: &str = "address";
/// A command that looks at the file locks it for a moment; a gateway keeps it for longer than all of these.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Where the gateway of a data directory says that it listens; nothing if none runs.
pub(crate) fn read_announcement(data_dir: &Path) -> Option<GatewayAddress> {
    let path = data_dir.join(FILE);
    let file = File::open(&path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => fs::read_to_string(&path).ok()?.trim().parse().ok(),
        _ => None,
    }
}

/// Says in the data directory where a gateway listens, for as long as it is kept.
#[derive(Debug)]
pub(crate) struct Announcement {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Announcement {
    /// Nothing if another gateway has announced itself there.
    pub(crate) fn make(data_dir: &Path, address: &GatewayAddress) -> io::Result<Option<Self>> {
        let path = data_dir.join(FILE);
        for _ in 0..TRIES {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600);
            let mut file = options.open(&path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    file.set_len(0)?;
                    // In one write: a script that waits for the file reads all of the address or nothing.
                    file.write_all(format!("{address}\n").as_bytes())?;
                    return Ok(Some(Self { path, _file: file }));
                }
                // Its owner removed it between the two steps.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// Whether this is the file that a path leads to.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |of: fs::Metadata| (of.dev(), of.ino());
    let (here, there) = (file.metadata().map(identity), path.metadata().map(identity));
    matches!((here, there), (Ok(here), Ok(there)) if here == there)
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // While it is locked, so that it is ours. What stays behind has no lock and is not believed.
        drop(fs::remove_file(&self.path));
    }
}
