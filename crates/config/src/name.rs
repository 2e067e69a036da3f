//! Server names. They become part of a tool's name on the wire (`server__tool`), which hosts limit
//! to 64 characters of a small set, so they are short and never contain the separator. Another program's file may name
//! its servers as it likes: such a server is given a name that fits.

use std::collections::{BTreeMap, BTreeSet};

use countersign_inspect::Digest;

/// What a name may be, for messages and the schema.
pub const ALLOWED: &str = "1 to 20 characters of a-z, 0-9 and -";
const MAX: usize = 20;

/// Whether a server may be called this.
pub fn is_allowed(name: &str) -> bool {
    (1..=MAX).contains(&name.len()) && name.bytes().all(is_allowed_byte)
}

/// A name that is allowed and as close as can be, if anything of it is left.
pub fn fixed(name: &str) -> Option<String> {
    let mut fixed = String::new();
    for character in name.to_lowercase().chars() {
        match u8::try_from(character) {
            Ok(byte) if is_allowed_byte(byte) => fixed.push(character),
            _ if fixed.ends_with('-') => {}
            _ => fixed.push('-'),
        }
    }
    let fixed = fixed.trim_matches('-');
    let fixed = fixed.get(..MAX).unwrap_or(fixed).trim_matches('-');
    (!fixed.is_empty()).then(|| fixed.to_owned())
}

/// The name itself if it is allowed, else one that is and comes close.
pub fn fitting(name: &str) -> Option<String> {
    if is_allowed(name) {
        Some(name.to_owned())
    } else {
        fixed(name)
    }
}

/// `name-2`, cut so that it is still allowed.
pub fn numbered(name: &str, number: usize) -> String {
    with_ending(name, &number.to_string())
}

/// A name that fits for each of these, which are distinct and not empty. One that is allowed stays. Those that would
/// become the same, or one that is allowed, are marked with a hash, so that no server takes over the name of another when
/// the file changes.
pub(crate) fn assign(written: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut claims: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for name in written {
        *claims.entry(fitting(name)).or_default() += 1;
    }
    let is_unclaimed = |name: &str| fixed(name).is_some() && claims.get(&fitting(name)) == Some(&1);
    let (kept, shared): (Vec<&str>, Vec<&str>) = written
        .iter()
        .partition(|name| is_allowed(name) || is_unclaimed(name));
    let kept = kept.into_iter();
    let mut assigned: BTreeMap<_, _> = kept
        .filter_map(|name| Some((name.to_owned(), fitting(name)?)))
        .collect();
    let mut taken: BTreeSet<_> = assigned.values().cloned().collect();
    for name in shared {
        let unique = mark(name, &taken);
        taken.insert(unique.clone());
        assigned.insert(name.to_owned(), unique);
    }
    assigned
}

/// What is left of a name, with as much of its hash as tells it from the others.
fn mark(name: &str, taken: &BTreeSet<String>) -> String {
    let base = fixed(name).unwrap_or_else(|| "server".to_owned());
    let hash = Digest::sha256(name.as_bytes()).to_string();
    let marked = |digits: usize| with_ending(&base, hash.get(..digits).unwrap_or(&hash));
    let mut names = [4, 8, 12].into_iter().map(marked);
    let free = names.find(|name| !taken.contains(name));
    free.unwrap_or_else(|| hash.get(..MAX).unwrap_or_default().to_owned())
}

/// A name and an ending, with as much of the name as still fits.
fn with_ending(name: &str, ending: &str) -> String {
    let kept = name.get(..MAX - 1 - ending.len()).unwrap_or(name);
    format!("{}-{ending}", kept.trim_end_matches('-'))
}

fn is_allowed_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::{fixed, is_allowed, numbered};

    #[test]
    fn names_fit_into_tool_names() {
        for name in ["a", "files", "crm-2", "a--b", &"x".repeat(20)] {
            assert!(is_allowed(name), "{name}");
        }
        for name in [
            "",
            "Files",
            "my_files",
            "a__b",
            "a b",
            "é",
            "a:b",
            &"x".repeat(21),
        ] {
            assert!(!is_allowed(name), "{name}");
        }
    }

    #[test]
    fn a_numbered_name_is_still_allowed() {
        assert_eq!(numbered("files", 2), "files-2");
        assert_eq!(numbered(&"x".repeat(20), 12).len(), 20);
    }

    #[test]
    fn a_suggestion_is_itself_allowed() {
        for (name, expected) in [
            ("My Files", Some("my-files")),
            ("github__api", Some("github-api")),
            ("@scope/server", Some("scope-server")),
            (
                "a-very-long-server-name-indeed",
                Some("a-very-long-server-n"),
            ),
            ("日本語", None),
            ("", None),
        ] {
            let fixed = fixed(name);
            assert_eq!(fixed.as_deref(), expected, "{name}");
            assert!(fixed.is_none_or(|fixed| is_allowed(&fixed)), "{name}");
        }
    }
}
