//! The disk of the database is full: records are refused and counted, and when there is room again the store goes on by
//! itself and states what was lost.
//!
//! The test runs itself again in a mount namespace of its own, where the cluster gets a small disk. Only root may do that,
//! because PostgreSQL does not run as the root that a user namespace gives.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use countersign_audit::{Evidence, Store};
use countersign_fixture::postgres::Cluster;

use super::{SharedLog, wait_until};
use crate::support::{DataDir, call, fill};

const NAMESPACE: &str = "COUNTERSIGN_TEST_NAMESPACE";

#[test]
#[ignore = "needs PostgreSQL and root, to mount a file system"]
fn a_database_without_space_is_survived_on_a_postgres_disk() {
    if std::env::var_os(NAMESPACE).is_some() {
        return full_and_free_again();
    }
    let this = std::env::current_exe().expect("this program");
    let name = "postgres::full_disk::a_database_without_space_is_survived_on_a_postgres_disk";
    let mut again = Command::new("unshare");
    again
        .arg("-m")
        .arg(this)
        .args(["--exact", name, "--ignored"]);
    let output = again.env(NAMESPACE, "1").output().expect("unshare runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("1 passed"), "{said}");
}

fn full_and_free_again() {
    let disk = tempfile::tempdir().expect("a folder");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=160m", "disk"]);
    let mounted = mount.arg(disk.path()).status().expect("mount runs");
    assert!(mounted.success());
    let folder = disk.path().join("cluster");
    fs::create_dir(&folder).expect("a folder");
    fs::set_permissions(
        disk.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .expect("chmod");
    let settings = ["max_wal_size=32MB", "min_wal_size=32MB"];
    let mut shared = SharedLog {
        cluster: Cluster::start_in(folder, &settings),
        home: DataDir::new(),
    };
    let mut options = shared.options();
    options.queue = 8;
    options.checkpoint_records = 50;
    let store = Store::open(&options).expect("opens");
    fill(&store, 100);
    let filler = disk.path().join("filler");
    use_all_space(&filler);
    write_until_down(&store);
    assert_ne!(commit(&store), Evidence::Committed);
    wait_until("the queue is full", || {
        commit(&store);
        store.stats().failed > 0
    });
    fs::remove_file(&filler).expect("removed");
    // Without room for its log PostgreSQL ends itself, and an operator starts it again.
    if !shared.cluster.is_running() {
        shared.cluster.restart();
    }
    wait_until("the store works again", || store.stats().healthy);
    fill(&store, 20);
    let lost = store.stats().failed;
    drop(store);
    let (records, distinct) = shared.records();
    assert_eq!(records, distinct, "a record was stored twice");
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert!(lost > 0);
    assert_eq!(verification.lost, lost, "losses are confessed");
    drop(shared);
    let unmounted = Command::new("umount").arg(disk.path()).status();
    assert!(unmounted.expect("umount runs").success());
}

fn use_all_space(filler: &Path) {
    let mut file = fs::File::create(filler).expect("a file");
    for size in [1 << 20, 1 << 12] {
        let piece = vec![0; size];
        while file.write_all(&piece).is_ok() {}
    }
}

fn commit(store: &Store) -> Evidence {
    store
        .commit_blocking((), [call(store, "files", "read")])
        .evidence()
}

/// There may be room left in files that are there already.
fn write_until_down(store: &Store) {
    wait_until("the store is known to be down", || {
        for _ in 0..100 {
            commit(store);
            if !store.stats().healthy {
                return true;
            }
        }
        false
    });
}
