//! Whether a refusal shows what should have stayed inside: a stack trace, the path of a source
//! file, something that looks like a secret. Plain substring work, because the text is hostile.

const STACK_TRACE: &str = "stack trace";
const SOURCE_PATH: &str = "source path";
const SECRET: &str = "secret";

const TRACES: [&str; 6] = [
    "Traceback (most recent call last)",
    "thread 'main' panicked at ",
    "goroutine 1 [running]",
    "Exception in thread \"",
    "System.NullReferenceException",
    "(most recent call first)",
];
const SOURCES: [&str; 9] = [
    ".js", ".mjs", ".cjs", ".ts", ".py", ".rs", ".go", ".java", ".rb",
];
/// How keys of well-known services begin, and how long they are at least.
const KEYS: [(&str, usize); 7] = [
    ("sk-", 23),
    ("ghp_", 30),
    ("gho_", 30),
    ("github_pat_", 30),
    ("xoxb-", 20),
    ("AKIA", 20),
    ("glpat-", 20),
];

/// What a text of a refusal shows that should have stayed inside, if anything, in two words. What was
/// in the arguments is no leak.
pub(crate) fn find_leak(text: &str, sent: &str) -> Option<&'static str> {
    if TRACES.iter().any(|mark| text.contains(mark)) || has_frames(text) {
        return Some(STACK_TRACE);
    }
    let words = || text.split(|c: char| c.is_whitespace() || "\"'`()[]{},;".contains(c));
    if text.contains("PRIVATE KEY-----") || words().any(|word| is_key(word) && !sent.contains(word))
    {
        return Some(SECRET);
    }
    words()
        .any(|word| is_source(word) && !sent.contains(word))
        .then_some(SOURCE_PATH)
}

/// Lines as JavaScript engines print them: `    at name (place:line:column)`.
fn has_frames(text: &str) -> bool {
    let frame = |line: &str| {
        let line = line.trim_start();
        line.starts_with("at ")
            && line
                .trim_end_matches(')')
                .ends_with(|c: char| c.is_ascii_digit())
            && line.contains(':')
    };
    text.split('\n').filter(|line| frame(line)).count() >= 2
}

fn is_key(word: &str) -> bool {
    let word = word
        .rsplit_once(['=', ':'])
        .map_or(word, |(_, value)| value);
    let plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    KEYS.iter()
        .any(|(start, length)| word.starts_with(start) && word.len() >= *length && plain(word))
}

/// An absolute path of a source file, or into a folder of installed packages.
fn is_source(word: &str) -> bool {
    let path = word.trim_start_matches("file://");
    let drive = path.as_bytes().get(1) == Some(&b':') && path.contains('\\');
    if !(path.starts_with('/') || drive) || path.len() < 6 {
        return false;
    }
    let file = path.split(':').find(|part| part.len() > 2).unwrap_or(path);
    SOURCES.iter().any(|ending| file.ends_with(ending))
        || path.contains("/node_modules/")
        || path.contains("/site-packages/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&'static str> {
        find_leak(text, r#"{"path":"/srv/sent.py"}"#)
    }

    #[test]
    fn what_is_inside_is_noticed() {
        for (text, expected) in [
            (
                "Traceback (most recent call last):\n  File \"x.py\"",
                STACK_TRACE,
            ),
            (
                "Error: no\n    at f (/srv/app/index.js:3:9)\n    at g (node:internal/x:1:2)",
                STACK_TRACE,
            ),
            ("cannot read /srv/app/tools.py:12", SOURCE_PATH),
            ("failed in file:///srv/node_modules/x/y", SOURCE_PATH),
            ("bad key sk-abcdefghijklmnopqrstuvwxyz", SECRET),
            ("token=ghp_abcdefghijklmnopqrstuvwxyz0123456789", SECRET),
            ("-----BEGIN RSA PRIVATE KEY-----", SECRET),
        ] {
            assert_eq!(found(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn ordinary_refusals_are_not_leaks() {
        for text in [
            "Input validation error: 'x' is not of type 'integer'",
            "Access denied - path outside allowed directories: /etc/passwd not in /tmp/scratch",
            "no such file: /srv/sent.py",
            "expected integer at 12:30",
            "sk-short",
            "look at me: 3",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
