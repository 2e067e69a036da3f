//! The data directory: that it can be written, that only its owner reads it, that there is room.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use countersign_config::Config;

use super::check::Check;
use crate::files;

/// As many bytes as the records of a busy second.
const PROBE: usize = 64 * 1024;
const MIB: u64 = 1024 * 1024;

pub(super) fn checks(config: &Config, min_free: u64) -> Vec<Check> {
    let folder = std::path::absolute(&config.data_dir).unwrap_or_else(|_| config.data_dir.clone());
    let folder = folder.as_path();
    let shown = folder.display();
    // A folder that does not exist is made at the first start, in the nearest folder above it that exists.
    let Some(there) = folder
        .ancestors()
        .find(|folder| folder.exists())
        .filter(|there| !there.as_os_str().is_empty())
    else {
        let message = format!("{shown} is made at the first start");
        return vec![Check::ok("data dir", message)];
    };
    if !there.is_dir() {
        let there = there.display();
        let hint =
            format!("move it away, or name another folder with --data-dir: mv {there} {there}.old");
        let message = format!("{there} is no folder");
        return vec![Check::error("data dir", message, hint)];
    }
    let mut checks = vec![writable(folder, there)];
    checks.extend(exposed(folder));
    checks.extend(check_free_space(there, min_free));
    checks
}

fn writable(folder: &Path, there: &Path) -> Check {
    let shown = folder.display();
    let place = there.display();
    match probe(there) {
        Ok(()) if folder == there => Check::ok("data dir", format!("{shown} can be written")),
        Ok(()) => Check::ok("data dir", format!("{shown} is made at the first start")),
        Err(error) if is_full(&error) => Check::error(
            "disk",
            format!("no room to write in {place}: {error}"),
            "free some space or raise the limit (df, ulimit -f), or keep state elsewhere with --data-dir",
        ),
        Err(error) => {
            let hint =
                format!("run: chown -R $(id -u) {place}, or name another folder with --data-dir");
            let message = format!("{place} cannot be written: {error}");
            Check::error("data dir", message, hint)
        }
    }
}

/// Writes a little and takes it away again.
fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".doctor-{}", std::process::id()));
    let written = File::create_new(&path).and_then(|mut file| {
        file.write_all(&vec![0; PROBE])?;
        file.sync_all()
    });
    drop(fs::remove_file(&path));
    written
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

fn exposed(folder: &Path) -> Option<Check> {
    let open = files::mode(folder).is_some_and(|mode| mode & 0o022 != 0);
    let shown = folder.display();
    open.then(|| {
        let message = format!("others may write in {shown}");
        Check::warning("data dir", message, format!("run: chmod go-w {shown}"))
    })
}

fn check_free_space(folder: &Path, min_free: u64) -> Option<Check> {
    let space = rustix::fs::statvfs(folder).ok()?;
    let free = space.f_bavail.saturating_mul(space.f_frsize) / MIB;
    let shown = folder.display();
    Some(if free < min_free {
        Check::error(
            "disk",
            format!("{free} MiB are free in {shown}, and {min_free} are wanted"),
            "free some space, lower \"activity\".\"max_size_mb\", or keep state elsewhere with --data-dir",
        )
    } else {
        Check::ok("disk", format!("{free} MiB are free"))
    })
}
