//! Server names. They become part of a tool's name on the wire (`server__tool`), which hosts limit
//! to 64 characters of a small set, so they are short and never contain the separator.

/// What a name may be, for messages and the schema.
pub const ALLOWED: &str = "1 to 20 characters of a-z, 0-9 and -";
/// The same as a pattern.
pub(crate) const PATTERN: &str = "^[a-z0-9-]{1,20}$";

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

fn is_allowed_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::{fixed, is_allowed};

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
