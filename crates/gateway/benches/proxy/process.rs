//! A part of the bench in a process of its own: it prints where it listens, and for each line it is sent, what it
//! has used so far.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What a process has used.
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    pub(crate) rss_kib: u64,
}

/// A process that serves.
pub(crate) struct Process {
    pub(crate) address: String,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let myself = std::env::current_exe().expect("a path");
        let mut child = Command::new(myself)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdin = child.stdin.take().expect("piped");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut process = Self {
            address: String::new(),
            child,
            stdin,
            stdout,
        };
        process.address = process.line();
        process
    }

    /// What it has used so far.
    pub(crate) fn usage(&mut self) -> Usage {
        writeln!(self.stdin).expect("it reads");
        let line = self.line();
        let mut numbers = line.split(' ').map(|word| word.parse().expect("a number"));
        Usage {
            cpu: Duration::from_nanos(numbers.next().expect("CPU time")),
            rss_kib: numbers.next().expect("memory"),
        }
    }

    /// The CPU time of its threads so far, by their names.
    pub(crate) fn threads(&self) -> BTreeMap<String, Duration> {
        let mut threads = BTreeMap::new();
        let folder = format!("/proc/{}/task", self.child.id());
        for task in std::fs::read_dir(folder).expect("threads").flatten() {
            let read = |file| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
            let nanos = read("schedstat").split(' ').next().map(str::parse);
            let nanos = Duration::from_nanos(nanos.and_then(Result::ok).unwrap_or(0));
            *threads.entry(read("comm").trim().to_owned()).or_default() += nanos;
        }
        threads
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        #[expect(clippy::disallowed_methods, reason = "the child is this binary")]
        self.stdout.read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The other side: says where it listens and answers for as long as it is asked.
pub(crate) fn answer(address: SocketAddr) {
    println!("{address}");
    let mut line = String::new();
    loop {
        line.clear();
        let read = std::io::stdin().read_line(&mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let time = clock_gettime(ClockId::ProcessCPUTime);
        println!(
            "{} {}",
            time.tv_sec * 1_000_000_000 + time.tv_nsec,
            rss_kib()
        );
    }
}

fn rss_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}
