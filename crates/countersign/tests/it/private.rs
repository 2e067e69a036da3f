//! The data directory is the owner's alone, whichever command makes it: files 0600 in a directory 0700.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::process::Signal;
use serde_json::json;

use crate::support::gateway::RunningGateway;
use crate::support::{Folder, preset};

/// The rights of a file; nothing if it is gone.
fn mode(path: &Path) -> Option<u32> {
    let metadata = fs::metadata(path).ok()?;
    Some(metadata.permissions().mode() & 0o777)
}

fn assert_is_closed(dir: &Path) {
    assert_eq!(mode(dir), Some(0o700), "{}", dir.display());
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        // A draft may have been renamed meanwhile.
        let open = mode(&path).filter(|mode| *mode != 0o600);
        assert_eq!(open, None, "{}", path.display());
    }
}

#[test]
fn a_gateway_with_a_given_key_keeps_its_data_directory_closed() {
    let key = ("api_key", json!("0123456789abcdef"));
    let folder = Folder::over(&json!({"x": preset("demo", "warn")}), &[key]);
    let data = folder.path().join("data");
    let serve = || {
        let gateway = RunningGateway::start(&folder, "serve --config c.json");
        RunningGateway::wait_for(|| {
            let listed = gateway.curl("GET", "/api/v1/servers", "0123456789abcdef", "");
            listed.contains(r#""list":"fresh""#)
        });
        for file in ["activity.db", "address", "admin_key"] {
            assert!(data.join(file).exists(), "{file}");
        }
        assert_is_closed(&data);
        assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
        assert_is_closed(&data);
    };
    serve();
    // As an earlier version left it.
    fs::set_permissions(&data, Permissions::from_mode(0o755)).expect("it is ours");
    for file in ["activity.db", "admin_key", "checkpoints.log"] {
        let file = data.join(file);
        fs::set_permissions(file, Permissions::from_mode(0o644)).expect("it is ours");
    }
    let listed = folder.countersign("activity list --config c.json --data-dir data");
    assert_eq!(listed.code, Some(0), "{listed}");
    assert_is_closed(&data);
    fs::set_permissions(&data, Permissions::from_mode(0o755)).expect("it is ours");
    serve();
}
