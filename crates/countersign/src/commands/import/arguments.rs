//! A server's arguments as a preview shows them: everything but the secrets among them, which are recognised by the
//! option or header they follow, or by their own shape.

use super::secrets::{is_secret, query_secrets};

/// What stands for a secret that is not shown.
const MASK: &str = "[secret]";

/// The arguments, each secret in them replaced by a mask.
pub(super) fn masked(args: &[String]) -> Vec<String> {
    let mut option = String::new();
    args.iter()
        .map(|arg| masked_argument(&mut option, arg))
        .collect()
}

/// One argument. `option` is the word before it, which may say that a secret follows.
fn masked_argument(option: &mut String, arg: &str) -> String {
    if let Some((name, value)) = arg.split_once(':')
        && !value.starts_with("//")
        && is_secret(name, value)
    {
        option.clear();
        return format!("{name}: {MASK}");
    }
    let words = arg.split(' ').map(|word| {
        let shown = masked_word(option, word);
        word.clone_into(option);
        shown
    });
    words.collect::<Vec<_>>().join(" ")
}

fn masked_word(option: &str, word: &str) -> String {
    let follows = if option.starts_with('-') && !word.starts_with('-') {
        option
    } else {
        ""
    };
    let (name, value) = match word.split_once('=') {
        _ if !query_secrets(word).is_empty() => word.split_once('?').unwrap_or_default(),
        pair => pair.unwrap_or((word, "")),
    };
    let is_url = word
        .get(name.len()..)
        .is_some_and(|rest| rest.starts_with('?'));
    let sign = if is_url { '?' } else { '=' };
    if is_secret(follows, name) {
        MASK.to_owned()
    } else if is_url || is_secret(name, value) {
        format!("{name}{sign}{MASK}")
    } else if is_secret(follows, word) {
        MASK.to_owned()
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn secrets_among_arguments_are_masked_and_the_rest_is_shown() {
        for (args, shown) in [
            (&["-y", "@x/server", "."][..], "-y @x/server ."),
            (
                &["--api-key", "abc", "--port", "80"],
                "--api-key [secret] --port 80",
            ),
            (&["--token=abc"], "--token=[secret]"),
            (&["--key=sk-0123456789"], "--key=[secret]"),
            (&["x", "ghp_0123456789abcdef"], "x [secret]"),
            (
                &["--header", "Authorization: Bearer abc"],
                "--header Authorization: [secret]",
            ),
            (
                &["-c", "DB_TOKEN=abc exec x"],
                "-c DB_TOKEN=[secret] exec x",
            ),
            (
                &["https://x.example/mcp?a=1&key=abc"],
                "https://x.example/mcp?[secret]",
            ),
            (&["https://me:pw@x.example/mcp"], "[secret]"),
            (&["https://me:pw@x.example/mcp?key=abc"], "[secret]"),
            (&["--password", "a=b"], "--password [secret]"),
            (&["--eval", "x==1?a:b"], "--eval x==1?a:b"),
            (&["--token-file", "/run/t"], "--token-file /run/t"),
            (&["--root", "C:/work"], "--root C:/work"),
        ] {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            assert_eq!(masked(&args).join(" "), shown);
        }
    }
}
