//! The command that shows a finding again, as it can be pasted into a shell.

use countersign_probe::contract::run::{NO_SUCH_TOOL, Reproduce};
use serde_json::Value;

use super::run::Arguments;

/// What every reproducer of a run has in common.
pub(super) struct Reproducer {
    before: Vec<String>,
    after: Vec<String>,
}

impl Reproducer {
    pub(super) fn from_arguments(arguments: &Arguments) -> Self {
        let (before, after) = arguments.words();
        Self { before, after }
    }

    pub(super) fn into_function(self) -> Box<Reproduce> {
        Box::new(move |tool, arguments| self.command(tool, arguments))
    }

    fn command(&self, tool: &str, arguments: Option<&Value>) -> String {
        let mut words: Vec<String> = ["countersign", "contract", "run"].map(str::to_owned).into();
        words.extend(self.before.iter().cloned());
        // What is about the server is seen whatever is called.
        if tool.is_empty() || tool == NO_SUCH_TOOL {
            words.extend(["--max-calls", "0", "--random", "0"].map(str::to_owned));
        } else {
            words.extend(["--tool".to_owned(), tool.to_owned()]);
            if let Some(arguments) = arguments {
                words.extend(["--case".to_owned(), arguments.to_string()]);
            }
        }
        words.extend(self.after.iter().cloned());
        words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@,+%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_can_be_pasted() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let reproducer = Reproducer {
            before: words("--strict"),
            after: words("-- ./server --x"),
        };
        assert_eq!(
            reproducer.command("it's", Some(&json!({"a": "b c"}))),
            r#"countersign contract run --strict --tool 'it'\''s' --case '{"a":"b c"}' -- ./server --x"#
        );
        assert_eq!(
            reproducer.command("", None),
            "countersign contract run --strict --max-calls 0 --random 0 -- ./server --x"
        );
    }
}
