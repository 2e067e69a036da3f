//! Everything that descends from this process. Orphans are adopted, so what a server left behind is among them too.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

/// How often to look whether processes have gone.
const LOOK: Duration = Duration::from_millis(10);
/// How long to go on killing what does not end, such as a process that becomes new ones faster than it is killed.
const INSIST: Duration = Duration::from_secs(5);

/// Sends a signal to every descendant.
pub(super) fn signal(signal: Signal) {
    for process in descendants() {
        // It may be gone by now.
        let _gone = kill_process(process, signal);
    }
}

/// Kills every descendant, and what becomes of them meanwhile. `ended` hears of each that ended.
pub(super) fn kill(mut ended: impl FnMut(Pid, WaitStatus)) {
    let until = Instant::now() + INSIST;
    while !reap(&mut ended) && Instant::now() < until {
        signal(Signal::KILL);
        std::thread::sleep(LOOK);
    }
}

/// Collects the children that have ended; says whether there is none left.
pub(super) fn reap(mut ended: impl FnMut(Pid, WaitStatus)) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((process, status))) => ended(process, status),
            Ok(None) => return false,
            Err(error) => return error == rustix::io::Errno::CHILD,
        }
    }
}

fn descendants() -> Vec<Pid> {
    let parents: Vec<(i32, i32)> = processes().collect();
    let mut family = vec![getpid().as_raw_nonzero().get()];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        family.extend(children.map(|(process, _)| *process));
        at += 1;
    }
    family
        .into_iter()
        .skip(1)
        .filter_map(Pid::from_raw)
        .collect()
}

/// Every process there is, with its parent.
fn processes() -> impl Iterator<Item = (i32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name in parentheses may hold anything; what follows it may not.
        let (_, after) = stat.rsplit_once(')')?;
        let parent = after.split_whitespace().nth(1)?.parse().ok()?;
        Some((process, parent))
    })
}
