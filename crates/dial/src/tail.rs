//! The end of what a child wrote to standard error. The pipe is always drained, because a full one blocks the child; only the
//! last 8 KiB are kept, and of those the last 50 lines are given out.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::lock::lock;

const MAX_BYTES: usize = 8 * 1024;
const MAX_LINES: usize = 50;
/// How much of it is one text.
const MAX_TEXT: usize = 2048;
/// Stands for the beginning of a line that is too long.
const CUT: char = '\u{2026}';

/// The end of what a child wrote to standard error.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    kept: Arc<Mutex<TailBuffer>>,
}

/// The last bytes that were read.
#[derive(Debug, Default)]
struct TailBuffer {
    bytes: Vec<u8>,
    /// Whether there was more before `bytes`.
    is_cut: bool,
}

impl Tail {
    /// The end of it in one line, made safe for a log.
    pub fn text(&self) -> String {
        let kept = lock(&self.kept);
        let start = kept.bytes.len().saturating_sub(MAX_TEXT);
        let text = String::from_utf8_lossy(kept.bytes.get(start..).unwrap_or_default());
        text.trim().chars().flat_map(char::escape_debug).collect()
    }

    /// The last lines that are not blank, oldest first, as the child wrote them: escape them before they reach a
    /// terminal. At most 50 lines and 8 KiB.
    pub fn lines(&self) -> Vec<String> {
        let kept = lock(&self.kept);
        let text = String::from_utf8_lossy(&kept.bytes);
        let mut lines: Vec<String> = text
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        if kept.is_cut && lines.len() > 1 {
            lines.remove(0);
        } else if let (true, Some(line)) = (kept.is_cut, lines.first_mut()) {
            line.insert(0, CUT);
        }
        lines.retain(|line| !line.is_empty());
        let surplus = lines.len().saturating_sub(MAX_LINES);
        lines.split_off(surplus)
    }

    /// Reads a pipe to its end.
    pub(crate) async fn drain(self, mut pipe: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            let mut kept = lock(&self.kept);
            kept.bytes
                .extend_from_slice(chunk.get(..length).unwrap_or_default());
            let surplus = kept.bytes.len().saturating_sub(MAX_BYTES);
            kept.bytes.drain(..surplus);
            kept.is_cut |= surplus > 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tail(written: &[u8]) -> Tail {
        let tail = Tail::default();
        tail.clone().drain(written).await;
        tail
    }

    #[tokio::test]
    async fn the_end_of_standard_error_is_kept_and_cannot_forge_lines() {
        let mut written = vec![b'x'; 100_000];
        written.extend_from_slice(b"\nlast\x1b[0m \xff line\n");
        let text = tail(&written).await.text();
        assert!(text.ends_with("x\\nlast\\u{1b}[0m \u{fffd} line"), "{text}");
        assert!(text.len() < MAX_TEXT + 100, "{}", text.len());
    }

    #[tokio::test]
    async fn the_last_lines_are_kept_whole() {
        let written = tail(b"one\r\n\n  two \n\xffthree").await.lines();
        assert_eq!(written, ["one", "  two", "\u{fffd}three"]);
        assert!(tail(b"").await.lines().is_empty());
        let many: Vec<String> = (0..60).map(|number| format!("line {number}\n")).collect();
        let lines = tail(many.concat().as_bytes()).await.lines();
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!((&*lines[0], &*lines[49]), ("line 10", "line 59"));
        // The beginning of the first line is gone, and so is the rest of that line.
        let line = |number| format!("{number}{}\n", "y".repeat(1000));
        let wide: Vec<String> = (0..9).map(line).collect();
        let lines = tail(wide.concat().as_bytes()).await.lines();
        assert_eq!(lines.len(), 8);
        assert!(lines[0].starts_with("1y"), "{}", lines[0]);
        // Of a line that is too long, the end is kept.
        let long = tail(&vec![b'z'; 20_000]).await.lines();
        assert_eq!(long.len(), 1);
        assert!(long[0].starts_with("\u{2026}zz") && long[0].len() == MAX_BYTES + 3);
    }
}
