//! Decides what looks like a secret: by the name of its key or variable, or by its own form. Errs towards secrecy: a harmless value that
//! is moved costs nothing, a token that stays in a file is read by the next backup.

use countersign_audit::Redactor;

/// Words of a name that tell.
const TELLING: &[&str] = &[
    "APIKEY",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "DSN",
    "KEY",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PRIVATE",
    "PWD",
    "SECRET",
    "TOKEN",
];
/// Last words of a name that say it is about a secret and is none.
const HARMLESS: &[&str] = &[
    "DIR", "ENABLED", "FILE", "HOST", "ID", "METHOD", "MODE", "NAME", "PATH", "PORT", "TYPE", "URL",
];
/// How tokens of well-known services begin.
const PREFIXES: &[&str] = &[
    "AIza",
    "AKIA",
    "ASIA",
    "SG.",
    "cs_",
    "dop_v1_",
    "figd_",
    "ghp_",
    "gho_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "lin_api_",
    "npm_",
    "ntn_",
    "pat-",
    "pplx-",
    "pypi-",
    "rk_live_",
    "rk_test_",
    "sk-",
    "sk_live_",
    "sk_test_",
    "tvly-",
    "xapp-",
    "xox",
    "ya29.",
];
/// No token is shorter.
const SHORTEST: usize = 8;

/// Whether the value of this name should not stand in a configuration file.
pub(in crate::commands) fn is_secret(name: &str, value: &str) -> bool {
    has_shape(value) || (is_telling(name) && is_possible(value))
}

/// Whether a value is a secret whatever it is called.
pub(super) fn has_shape(value: &str) -> bool {
    let value = value.trim();
    let token = !value.contains(char::is_whitespace) && value.len() >= SHORTEST;
    let known = token && PREFIXES.iter().any(|prefix| value.starts_with(prefix));
    let signed = token && value.starts_with("eyJ") && value.matches('.').count() == 2;
    known || signed || has_password(value) || Redactor::default().redact(value) != value
}

/// The parameters of an address's query whose values look like secrets, by name.
pub(super) fn query_secrets(url: &str) -> Vec<&str> {
    let Some((_, query)) = url.split_once('?') else {
        return Vec::new();
    };
    let query = query.split('#').next().unwrap_or(query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(name, value)| is_secret(name, value))
        .map(|(name, _)| name)
        .collect()
}

/// `Bearer x` as its two parts, for schemes that are followed by a secret.
pub(super) fn scheme(value: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = value.split_once(' ')?;
    let known = ["bearer", "basic", "token", "apikey", "digest"];
    let is_known = known.iter().any(|word| scheme.eq_ignore_ascii_case(word));
    (is_known && !rest.trim().is_empty()).then_some((scheme, rest))
}

fn is_telling(name: &str) -> bool {
    let words = words(name);
    let ends_harmless = words
        .last()
        .is_some_and(|last| HARMLESS.contains(&last.as_str()));
    let tells = |word: &String| {
        TELLING.contains(&word.as_str()) || word.ends_with("TOKEN") || word.ends_with("APIKEY")
    };
    name != "PWD" && !ends_harmless && words.iter().any(tells)
}

/// A switch or a small number is not a password.
fn is_possible(value: &str) -> bool {
    let value = value.trim();
    let switch = ["true", "false", "yes", "no", "on", "off", "none", "0", "1"];
    !value.is_empty() && !switch.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// An address with a password in it.
fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.and_then(|user| user.split_once(':'))
        .is_some_and(|(_, password)| !password.is_empty())
}

/// `API_KEY`, `api-key` and `apiKey` as `API`, `KEY`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for character in name.chars() {
        let parts = !character.is_alphanumeric() || (lower && character.is_uppercase());
        if parts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if character.is_alphanumeric() {
            words
                .last_mut()
                .into_iter()
                .for_each(|word| word.extend(character.to_uppercase()));
        }
        lower = character.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::{is_secret, query_secrets, scheme};

    #[test]
    fn names_and_shapes_tell() {
        for (name, value) in [
            ("GITHUB_TOKEN", "x"),
            ("apiKey", "abc"),
            ("Authorization", "Bearer abc"),
            ("X-API-Key", "abc"),
            ("DB_PASSWORD", "hunter2"),
            ("ACCESSTOKEN", "abc"),
            ("HARMLESS", "ghp_0123456789abcdefghij0123456789abcdef"),
            ("HARMLESS", "sk-0123456789"),
            ("DATABASE_URL", "postgres://me:pw@db.example/x"),
            ("AWS_ACCESS_KEY_ID", "AKIA0123456789ABCDEF"),
            ("ANY", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin"),
            ("PWD", "/home/me"),
            ("KEYBOARD", "de"),
            ("TOKEN_FILE", "/run/token"),
            ("USE_AUTH", "true"),
            ("API_KEY", ""),
            ("LOG_LEVEL", "debug"),
            ("HOMEPAGE", "https://example.com/a:b@c"),
            ("MONKEY", "george"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn a_secret_in_the_query_of_an_address_is_noticed() {
        let of = query_secrets;
        assert_eq!(of("https://x.example/mcp?a=1&api_key=k#z"), ["api_key"]);
        assert_eq!(of("https://x.example/?v=sk-0123456789"), ["v"]);
        assert!(of("https://x.example/mcp?region=north&token=").is_empty());
        assert!(of("https://x.example/key=abc").is_empty());
    }

    #[test]
    fn a_scheme_is_no_secret() {
        assert_eq!(scheme("Bearer abc"), Some(("Bearer", "abc")));
        assert_eq!(scheme("abc"), None);
        assert_eq!(scheme("two words"), None);
        assert_eq!(scheme("Bearer "), None);
    }
}
