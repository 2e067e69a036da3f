//! The env file: variables for `${env:NAME}` references, kept out of the configuration and out of the shell's history.
//! `NAME=value` lines as a shell reads them, without expansion. The process's own variables win over it. It is read for
//! references only: no setting of the gateway comes from it, and no child gets it as a whole.

use std::collections::BTreeMap;
use std::io;
use std::iter::Peekable;
use std::path::PathBuf;
use std::str::Chars;

use countersign_inspect::Digest;

use super::document::Document;
use super::environment::{Environment, is_variable};
use super::file;
use super::model::DATA_DIR;
use super::overrides::Overrides;
use super::problem::{ConfigError, FilePosition, Problem, Warning};

/// The variable that names the file.
const VARIABLE: &str = "COUNTERSIGN_ENV_FILE";
const MAX_BYTES: u64 = 1024 * 1024;

/// Where variables are kept, and which.
#[derive(Clone, Default)]
pub struct EnvFile {
    /// The file; `None` if not even a home is known.
    pub path: Option<PathBuf>,
    /// A flag or the environment names it, so it has to be there.
    pub is_named: bool,
    /// Every variable in it.
    pub values: BTreeMap<String, String>,
}

impl EnvFile {
    /// Where the file of a configuration is: where a flag or the environment says, else `env` in
    /// the data directory. Reads nothing but `config`, the text of the configuration.
    pub fn locate(config: Option<&str>, environment: &Environment<'_>, flags: &Overrides) -> Self {
        let named = match &flags.env_file {
            Some(path) => Some(path.clone()),
            None => environment
                .get(VARIABLE)
                .map(|path| environment.expand(&path).unwrap_or_else(|_| path.into())),
        };
        let path = named
            .clone()
            .or_else(|| Some(data_dir(config, environment, flags)?.join("env")));
        Self {
            path,
            is_named: named.is_some(),
            values: BTreeMap::new(),
        }
    }

    /// The same file, read. It may be missing unless a flag or the environment names it.
    pub fn read(mut self) -> Result<Self, ConfigError> {
        let Some(path) = &self.path else {
            return Ok(self);
        };
        let text = match file::read(path, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_named => {
                return Ok(self);
            }
            Err(source) => {
                let path = path.clone();
                return Err(ConfigError::Read { path, source });
            }
        };
        self.values = parse(&text).map_err(|problem| ConfigError::from(problem).in_file(path))?;
        Ok(self)
    }

    /// What tells one text of the file from another; nothing if there is none, or it cannot be read.
    pub(crate) fn digest(&self) -> Option<Digest> {
        let text = file::read(self.path.as_deref()?, MAX_BYTES).ok()?;
        Some(Digest::sha256(text.as_bytes()))
    }

    /// Secrets that others may read.
    pub(crate) fn exposed(&self) -> Option<Warning> {
        let path = self.path.as_deref().filter(|_| !self.values.is_empty())?;
        file::is_open_to_others(path).then(|| {
            let path = path.display();
            let message = format!("others may read the env file {path}");
            Problem::new(message, format!("run: chmod 600 {path}"))
        })
    }
}

impl std::fmt::Debug for EnvFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnvFile")
            .field("path", &self.path)
            .field("names", &self.values.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// One line of such a file. A shell reads it the same way.
pub fn assignment(name: &str, value: &str) -> String {
    format!("{name}='{}'", value.replace('\'', r"'\''"))
}

/// Every variable of a text; a later line wins over an earlier one.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, String>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut values = BTreeMap::new();
    let mut lines = Lines {
        rest: text.chars().peekable(),
        line: 1,
    };
    while let Some((name, value)) = lines.next()? {
        values.insert(name, value);
    }
    Ok(values)
}

/// The data directory, as far as it can be known before the configuration is read.
fn data_dir(
    config: Option<&str>,
    environment: &Environment<'_>,
    flags: &Overrides,
) -> Option<PathBuf> {
    if let Some(path) = &flags.data_dir {
        return Some(path.clone());
    }
    let written = || {
        let document = Document::parse(config?).ok()?;
        let tape = document.tape();
        let index = tape.get(0, "data_dir")?;
        (tape.node(index).kind() == countersign_tape::Kind::String)
            .then(|| tape.string(index).into_owned())
    };
    let text = environment.get("COUNTERSIGN_DATA_DIR").or_else(written);
    environment.expand(text.as_deref().unwrap_or(DATA_DIR)).ok()
}

/// What is left of a file.
struct Lines<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<(String, String)>, Problem> {
        loop {
            match self.rest.peek() {
                None => return Ok(None),
                Some('#') => while self.take().is_some_and(|c| c != '\n') {},
                Some(c) if c.is_whitespace() => drop(self.take()),
                Some(_) => break,
            }
        }
        let mut name = self.name();
        if name == "export" && self.rest.peek().is_some_and(|c| *c == ' ' || *c == '\t') {
            while self.rest.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
            name = self.name();
        }
        if !is_variable(&name) || self.take() != Some('=') {
            return Err(self.problem("not a variable", "write NAME=value, one to a line"));
        }
        let value = self.value()?;
        Ok(Some((name, value)))
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self
            .rest
            .next_if(|c| c.is_ascii_alphanumeric() || *c == '_')
        {
            name.push(c);
        }
        name
    }

    /// As a shell would read a word, except that nothing is expanded.
    fn value(&mut self) -> Result<String, Problem> {
        let mut value = String::new();
        while let Some(c) = self.rest.peek().copied() {
            match c {
                '\n' => break,
                ' ' | '\t' | '\r' => {
                    self.end_of_line()?;
                    break;
                }
                '\'' | '"' => self.quoted(c, &mut value)?,
                '\\' => {
                    self.take();
                    value.extend(self.take());
                }
                '$' | '`' => return Err(self.unexpanded()),
                _ => value.extend(self.take()),
            }
        }
        Ok(value)
    }

    /// Text up to the closing quote. Between single quotes every character means itself.
    fn quoted(&mut self, quote: char, value: &mut String) -> Result<(), Problem> {
        self.take();
        loop {
            match self.take() {
                None => return Err(self.open()),
                Some(c) if c == quote => return Ok(()),
                Some(c) if quote == '\'' => value.push(c),
                Some('$' | '`') => return Err(self.unexpanded()),
                Some('\\') => match self.take() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => value.push(c),
                    Some(c) => value.extend(['\\', c]),
                    None => return Err(self.open()),
                },
                Some(c) => value.push(c),
            }
        }
    }

    /// After a value: space, and perhaps a comment.
    fn end_of_line(&mut self) -> Result<(), Problem> {
        while self
            .rest
            .next_if(|c| matches!(c, ' ' | '\t' | '\r'))
            .is_some()
        {}
        match self.rest.peek() {
            None | Some('\n' | '#') => Ok(()),
            Some(_) => Err(self.problem(
                "a value with a space in it",
                "put it between single quotes: NAME='two words'",
            )),
        }
    }

    fn take(&mut self) -> Option<char> {
        let next = self.rest.next();
        self.line += usize::from(next == Some('\n'));
        next
    }

    fn open(&self) -> Problem {
        self.problem("a quote that is not closed", "close it with the same quote")
    }

    fn unexpanded(&self) -> Problem {
        let hint = "put the value between single quotes, where $ and ` mean themselves";
        self.problem("nothing is expanded here", hint)
    }

    /// Never with the text itself: it is a secret.
    fn problem(&self, what: &str, hint: &str) -> Problem {
        let place = FilePosition {
            pointer: String::new(),
            at: Some((self.line, 1)),
        };
        Problem::new(what, hint).at(place)
    }
}

#[cfg(test)]
mod tests {
    use super::{assignment, parse};

    #[test]
    fn lines_are_read_as_a_shell_reads_them() {
        let text = "# a comment\n\nA=plain\nexport B='two words' # why\nC=\"q\\\"\\$1\\n\"\r\nD=\nE='a'\"b\"c\\ d\nF='1\n2'\nA=last";
        let values = parse(text).expect("readable");
        let expected = [
            ("A", "last"),
            ("B", "two words"),
            ("C", "q\"$1\\n"),
            ("D", ""),
            ("E", "abc d"),
            ("F", "1\n2"),
        ];
        let values: Vec<_> = values
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(values, expected);
    }

    #[test]
    fn what_is_not_clear_is_refused_without_being_shown() {
        for (text, said) in [
            ("A=1\ns3cret", "2:1: not a variable"),
            ("A='s3cret", "1:1: a quote that is not closed"),
            ("A=s3cret two", "1:1: a value with a space in it"),
            ("A=$s3cret", "1:1: nothing is expanded here"),
            ("A=\"`s3cret`\"", "1:1: nothing is expanded here"),
            ("1A=x", "1:1: not a variable"),
            ("A =x", "1:1: not a variable"),
        ] {
            let problem = parse(text).expect_err("refused");
            assert_eq!(problem.to_string(), said, "{text}");
            assert!(!problem.hint.expect("a hint").contains("s3cret"));
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for value in ["", "x", "it's", "a b", "$HOME `x` \"y\" \\ #", "1\n2", "é"] {
            let line = assignment("A", value);
            let values = parse(&format!("{line}\n{line}")).expect("readable");
            assert_eq!(values.get("A").map(String::as_str), Some(value), "{line}");
        }
    }
}
