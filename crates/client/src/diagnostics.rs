//! What an operator is told about a server beyond whether it can be called: why it fails, when it is tried next, and the
//! last lines that it wrote to standard error. Kept while the server is restarted, until its configuration changes. What
//! the server wrote is made safe for a terminal before it is given out, and values of its configured variables are masked;
//! it may hold other secrets, so a key is needed to read it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use countersign_dial::{Tail, lock};
use countersign_sanitise::escape_controls;
use tokio::time::Instant;

const MAX_LINES: usize = 50;
const MAX_BYTES: usize = 8 * 1024;
/// A shorter value of a variable, such as `debug` or `8080`, is no secret that could be told from other text.
const MIN_SECRET: usize = 8;
const MASK: &str = "[redacted]";
/// A reason is no longer than this.
const MAX_REASON: usize = 500;

/// What is known about one server.
#[derive(Debug, Default)]
pub struct Diagnostics {
    /// Values that must not be shown.
    secrets: Vec<String>,
    known: Mutex<DiagnosticState>,
}

/// The part that changes while the server runs.
#[derive(Debug, Default)]
struct DiagnosticState {
    failing: Option<FailureInfo>,
    /// When the current try began.
    began: Option<Instant>,
    /// How many tries began.
    tries: u64,
    /// Lines of processes that have ended.
    earlier: Vec<String>,
    /// What the current process writes, or the last one wrote.
    current: Option<Tail>,
}

/// Why a server cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureInfo {
    /// Why, as it may be shown.
    pub reason: Arc<str>,
    /// When it is tried again; nothing while it is being tried.
    pub next_try: Option<SystemTime>,
}

impl Diagnostics {
    /// Nothing is known yet. `secrets` are values that must not be shown.
    pub fn new(secrets: Vec<String>) -> Self {
        Self {
            secrets,
            known: Mutex::default(),
        }
    }

    /// A try begins: the server is started, or connected to.
    pub(crate) fn begin(&self) {
        let mut known = lock(&self.known);
        known.began = Some(Instant::now());
        known.tries += 1;
        if let Some(failing) = &mut known.failing {
            failing.next_try = None;
        }
    }

    /// A process was started, and this is its standard error.
    pub(crate) fn read_from(&self, stderr: Tail) {
        let mut known = lock(&self.known);
        known.earlier = self.lines_of(&known);
        known.current = Some(stderr);
    }

    /// The try failed and the next one is `wait` away. Gives the reason as it may be shown.
    pub(crate) fn fail(&self, reason: &str, wait: Duration) -> Arc<str> {
        let reason: Arc<str> = excerpt(&escape_controls(reason), MAX_REASON).into();
        lock(&self.known).failing = Some(FailureInfo {
            reason: Arc::clone(&reason),
            next_try: SystemTime::now().checked_add(wait),
        });
        reason
    }

    /// The server can be called.
    pub(crate) fn recover(&self) {
        lock(&self.known).failing = None;
    }

    /// Why it cannot be called, if it cannot.
    pub fn failing(&self) -> Option<FailureInfo> {
        lock(&self.known).failing.clone()
    }

    /// How often the server was started or connected to.
    pub fn tries(&self) -> u64 {
        lock(&self.known).tries
    }

    /// How long ago the current try began.
    pub fn elapsed(&self) -> Duration {
        let began = lock(&self.known).began;
        began.map(|began| began.elapsed()).unwrap_or_default()
    }

    /// The last lines of standard error, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.lines_of(&lock(&self.known))
    }

    /// The last lines of one process, as they may be shown.
    pub(crate) fn visible_lines(&self, stderr: &Tail) -> Vec<String> {
        let lines = stderr.lines().into_iter();
        bounded(lines.map(|line| self.visible(line)).collect())
    }

    fn visible(&self, mut line: String) -> String {
        let secrets = self.secrets.iter();
        for value in secrets.filter(|value| value.len() >= MIN_SECRET) {
            if line.contains(value.as_str()) {
                line = line.replace(value.as_str(), MASK);
            }
        }
        match escape_controls(&line) {
            Cow::Borrowed(_) => line,
            Cow::Owned(visible) => visible,
        }
    }

    fn lines_of(&self, known: &DiagnosticState) -> Vec<String> {
        let current = known.current.as_ref();
        let current = current.map(|stderr| self.visible_lines(stderr));
        let mut lines = known.earlier.clone();
        lines.extend(current.into_iter().flatten());
        bounded(lines)
    }
}

/// The last of these lines: as many as are kept.
fn bounded(mut lines: Vec<String>) -> Vec<String> {
    let mut bytes = 0;
    let fitting = lines.iter().rev().take(MAX_LINES).take_while(|line| {
        bytes += line.len();
        bytes <= MAX_BYTES
    });
    let kept = fitting.count();
    // Escapes make a line longer than it was; one that alone is too long is cut.
    if let (0, Some(last)) = (kept, lines.last()) {
        return vec![excerpt(last, MAX_BYTES)];
    }
    lines.split_off(lines.len() - kept)
}

/// The beginning of a text that is too long.
pub fn excerpt(text: &str, longest: usize) -> String {
    match text.get(..text.floor_char_boundary(longest)) {
        Some(start) if start.len() < text.len() => format!("{start}\u{2026}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_holds_until_the_server_can_be_called() {
        let known = Diagnostics::default();
        assert_eq!(known.failing(), None);
        let before = SystemTime::now();
        known.fail("it said \u{1b}[31mno", Duration::from_secs(5));
        let failing = known.failing().expect("a failure");
        assert_eq!(&*failing.reason, "it said \\u{1b}[31mno");
        let next_try = failing.next_try.expect("a time");
        assert!(next_try >= before + Duration::from_secs(5), "{next_try:?}");
        known.begin();
        let trying = known.failing().expect("still failing");
        assert_eq!((trying.reason, trying.next_try), (failing.reason, None));
        known.recover();
        assert_eq!(known.failing(), None);
        let long = known.fail(&"é".repeat(10_000), Duration::ZERO);
        assert!(long.len() <= MAX_REASON + 3, "{}", long.len());
    }

    #[test]
    fn lines_are_bounded_in_number_and_size() {
        let line = |number: usize| format!("{number}");
        let many = bounded((0..60).map(line).collect());
        assert_eq!((many.len(), &*many[0]), (MAX_LINES, "10"));
        let wide = bounded(vec!["x".repeat(3000); 5]);
        assert_eq!(wide.len(), 2);
        let one = bounded(vec!["y".repeat(20_000)]);
        assert_eq!(one[0].len(), MAX_BYTES + 3);
        assert!(bounded(Vec::new()).is_empty());
    }
}
