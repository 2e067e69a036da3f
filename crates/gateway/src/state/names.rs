//! Names on the merged endpoints. Tools and prompts are `server__name`, fit for every model API
//! (`^[A-Za-z0-9_-]{1,64}$`). A name that does not fit is shortened and marked with a hash of what
//! it stands for, so it stays the same from start to start. Names of tools are looked up in a map and never
//! taken apart. See `docs/decisions/tool-names.md`. The address of a resource stays as it is where it leads back to its
//! server; elsewhere it is `countersign:server/address`.

use countersign_inspect::{Digest, encode_hex};

const LONGEST: usize = 64;
const MARK: usize = 8;

/// The `server__tool` name of a tool.
pub(crate) fn wire_name(server: &str, tool: &str) -> String {
    let name = format!("{server}__{tool}");
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.len() <= LONGEST && name.chars().all(fits) {
        return name;
    }
    let kept = name.chars().map(|c| if fits(c) { c } else { '_' });
    let mut short: String = kept.take(LONGEST - MARK - 1).collect();
    short.push('_');
    let digest = Digest::sha256_of(&[server.as_bytes(), &[0], tool.as_bytes()]);
    short.push_str(&encode_hex(&digest.as_bytes()[..MARK / 2]));
    short
}

/// The server of a `server__name` name and the rest of it, which is the server's own name unless it is marked with a hash.
/// Names of servers do not contain the separator.
pub(crate) fn split_wire_name(name: &str) -> Option<(&str, &str)> {
    name.split_once("__")
}

/// Whether a name looks like one that was shortened and marked with a hash.
pub(crate) fn may_be_marked(name: &str) -> bool {
    let mark = name.rsplit_once('_').map(|(_, mark)| mark);
    mark.is_some_and(|mark| mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

const WRAPPED: &str = "countersign:";

/// An address, or a template of addresses, that names its server.
pub(crate) fn wrap_uri(server: &str, uri: &str) -> String {
    format!("{WRAPPED}{server}/{uri}")
}

/// The server and its own address, of an address that names its server.
pub(crate) fn unwrap_uri(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(WRAPPED)?.split_once('/')
}

/// Whether an address looks as if it named its server, so that it can be shown only wrapped.
pub(crate) fn looks_wrapped(uri: &str) -> bool {
    uri.starts_with(WRAPPED)
}

/// The two halves of `server:tool`, as people and arguments write it.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_fits_stays_readable() {
        assert_eq!(wire_name("stub", "bad_output"), "stub__bad_output");
        assert_eq!(wire_name("a-b", "x__y"), "a-b__x__y");
    }

    #[test]
    fn a_name_that_does_not_fit_is_marked() {
        let odd = wire_name("stub", "dotted.name");
        assert!(
            odd.starts_with("stub__dotted_name_") && odd.len() == 26,
            "{odd}"
        );
        assert_ne!(odd, wire_name("stub", "dotted/name"));
        let long = wire_name("stub", &"x".repeat(100));
        assert_eq!(long.len(), LONGEST);
        assert_ne!(long, wire_name("stub", &"x".repeat(101)));
        assert_eq!(long, wire_name("stub", &"x".repeat(100)));
        assert_eq!(wire_name("s", "é").len(), "s___".len() + 1 + MARK);
    }

    #[test]
    fn a_wrapped_address_leads_back() {
        let odd = "countersign:x/file:///a b?{q}";
        let wrapped = wrap_uri("files-2", odd);
        assert_eq!(wrapped, format!("countersign:files-2/{odd}"));
        assert_eq!(unwrap_uri(&wrapped), Some(("files-2", odd)));
        assert!(looks_wrapped(odd) && !looks_wrapped("file:///countersign:"));
        assert_eq!(unwrap_uri("file:///a"), None);
        assert_eq!(split_wire_name("a-b__x__y"), Some(("a-b", "x__y")));
        assert!(may_be_marked(&wire_name("s", "a.b")) && !may_be_marked("s__a_b"));
    }

    #[test]
    fn the_human_form_splits_at_the_first_colon() {
        assert_eq!(split("stub:a:b"), Some(("stub", "a:b")));
        assert_eq!(split("stub"), None);
    }
}
