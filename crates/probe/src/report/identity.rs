//! What makes a finding the same in another run (where it is, never what was there), and when it was
//! seen.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_inspect::Digest;

/// A pointer whose positions in arrays say nothing: the same fault in another element is the same.
pub(crate) fn wildcard_positions(pointer: &str) -> String {
    let star = |part: &str| {
        let position = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if position {
            "*".to_owned()
        } else {
            part.to_owned()
        }
    };
    pointer.split('/').map(star).collect::<Vec<_>>().join("/")
}

/// A short name for an identity: 32 hexadecimal digits.
pub(crate) fn fingerprint(identity: &str) -> String {
    let digest = Digest::sha256(identity.as_bytes()).to_string();
    digest.chars().take(32).collect()
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_do_not_count() {
        assert_eq!(wildcard_positions("/a/0/b1/12/"), "/a/*/b1/*/");
        assert_eq!(wildcard_positions(""), "");
        assert_eq!(fingerprint("x").len(), 32);
    }
}
