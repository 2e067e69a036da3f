//! Every key of the file: what it may hold, its default, and one sentence about it. The checker,
//! the JSON Schema, `config init` and the reference page all read this table, so they cannot
//! disagree.

mod classifiers;
mod root;
mod sanitisation;
mod server;
mod validation;

pub(crate) use root::ROOT;

use super::foreign::Foreign;

/// An object with known keys.
#[derive(Debug)]
pub(crate) struct Block {
    /// Its name in the schema and the reference page.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) help: &'static str,
    pub(crate) keys: &'static [Key],
    /// Keys of other programs that are known, not implemented, and only warned about.
    pub(crate) foreign: &'static [Foreign],
}

/// One key of a block.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    /// As JSON; empty when absence has no equivalent value.
    pub(crate) default: &'static str,
    pub(crate) help: &'static str,
}

/// What a key may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Flag,
    Text,
    /// A server's name.
    Name,
    /// A string, or null for "not set".
    OptionalText,
    /// A whole number in this range.
    Number(u64, u64),
    /// A number greater than zero.
    Factor,
    Duration,
    Choice(&'static [&'static str]),
    /// An array of strings.
    Texts,
    /// An object whose values are strings.
    TextMap,
    /// Any object, kept as it is.
    Object,
    Block(&'static Block),
    /// An array of such blocks.
    Blocks(&'static Block),
    /// An object whose values are such blocks.
    Named(&'static Block),
    /// Servers: an array of blocks with a `name`, or an object of blocks by name.
    Servers(&'static Block),
}

impl Form {
    /// As a person would ask for it.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Flag => "true or false".into(),
            Self::Text | Self::Name => "a string".into(),
            Self::OptionalText => "a string or null".into(),
            Self::Number(..) => "a whole number".into(),
            Self::Factor => "a number".into(),
            Self::Duration => "a duration".into(),
            Self::Choice(words) => words.join(", "),
            Self::Texts => "an array of strings".into(),
            Self::TextMap => "an object of strings".into(),
            Self::Object | Self::Block(_) | Self::Named(_) => "an object".into(),
            Self::Blocks(_) => "an array of objects".into(),
            Self::Servers(_) => "an array or an object of servers".into(),
        }
    }
}

impl Block {
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}

const fn key(name: &'static str, form: Form, default: &'static str, help: &'static str) -> Key {
    Key {
        name,
        form,
        default,
        help,
    }
}
