//! Records and keys belong to the owner: no other user may read the data directory, whichever command made it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use countersign_audit::{Reader, Store};

use crate::support::{DataDir, fill, options};

fn mode(path: &Path) -> u32 {
    fs::metadata(path)
        .expect("it is there")
        .permissions()
        .mode()
        & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

fn assert_is_closed(dir: &Path) {
    assert_eq!(mode(dir), 0o700, "{}", dir.display());
    let mut files = 0;
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert!(files > 4, "{files}");
}

#[test]
fn a_new_data_directory_is_closed_to_other_users() {
    let data_dir = DataDir::new();
    let dir = data_dir.path().join("data");
    let store = Store::open(&options(&dir)).expect("opens");
    fill(&store, 3);
    assert_is_closed(&dir);
    drop(store);
    assert_is_closed(&dir);
}

#[test]
fn what_an_earlier_version_left_open_is_closed_by_writer_and_reader() {
    let data_dir = DataDir::new();
    let dir = data_dir.path().join("data");
    fill(&Store::open(&options(&dir)).expect("opens"), 3);
    let open_up = || {
        set_mode(&dir, 0o755);
        for entry in fs::read_dir(&dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            // An exposed signing key is refused, not mended.
            if !path.ends_with("signing_key") {
                set_mode(&path, 0o644);
            }
        }
    };
    open_up();
    fs::remove_file(dir.join("activity-index.db")).expect("an index");
    Reader::open(&options(&dir)).expect("opens");
    assert_is_closed(&dir);
    open_up();
    drop(Store::open(&options(&dir)).expect("opens"));
    assert_is_closed(&dir);
    set_mode(&dir.join("signing_key"), 0o644);
    Store::open(&options(&dir)).expect_err("others may have read the signing key");
}
