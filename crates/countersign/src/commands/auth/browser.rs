//! Opens an address in the user's browser, without a shell: the address is one argument of a program.

use std::process::{Command, Stdio};

/// The programs that open an address in the user's browser.
#[cfg(target_os = "macos")]
const OPENERS: [&str; 1] = ["open"];
#[cfg(not(target_os = "macos"))]
const OPENERS: [&str; 3] = ["xdg-open", "gio", "wslview"];

/// Opens an address; false if no program could be started. `BROWSER` names one that is tried first.
pub(super) fn open(url: &str) -> bool {
    let preferred = std::env::var("BROWSER").ok();
    let preferred = preferred.as_deref().filter(|program| !program.is_empty());
    preferred
        .into_iter()
        .chain(OPENERS)
        .any(|program| start(program, url))
}

fn start(program: &str, url: &str) -> bool {
    let mut command = Command::new(program);
    if program == "gio" {
        command.arg("open");
    }
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}
