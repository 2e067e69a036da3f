//! What a key of the file is: its name, what it may hold, its default, one sentence about it, and what a change of it
//! takes. `setting::keys!` declares the keys of a block together with the struct they are read into. Checking, defaults, the JSON
//! Schema, `config init`, `config show`, the reference page and what a reload does with a change all follow from that one
//! declaration.

use std::borrow::Cow;

use super::foreign_keys::ForeignKeys;

/// An object with known keys.
#[derive(Debug)]
pub(crate) struct Block {
    /// Its name in the schema and the reference page.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) help: &'static str,
    pub(crate) keys: &'static [Key],
    /// Keys of other programs that are known, not implemented, and only warned about.
    pub(crate) foreign: &'static ForeignKeys,
}

/// One key of a block.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) default: DefaultText,
    pub(crate) help: &'static str,
    pub(crate) change: ChangeTiming,
    pub(crate) api: Api,
}

/// A default as the file would write it: JSON, or nothing when absence has no equivalent value.
#[derive(Debug)]
pub(crate) enum DefaultText {
    Json(&'static str),
    /// Made from the typed default.
    Computed(fn() -> String),
}

/// When a changed value takes effect in a gateway that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeTiming {
    /// With the reload.
    Reload,
    /// With the next start; until then the old value stays in use.
    Restart,
}

/// Whether a key may be changed over the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// Yes, with the admin key.
    Allowed,
    /// Only where the file has `allow_api_commands`: it decides which program is started or where secrets are sent.
    Commands,
    /// No.
    FileOnly,
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
    /// A string, or an array of strings.
    TextOrTexts,
    /// An object whose values are strings.
    TextMap,
    /// An object whose values are arrays of strings.
    TextsMap,
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
            Self::TextOrTexts => "a string or an array of strings".into(),
            Self::TextMap => "an object of strings".into(),
            Self::TextsMap => "an object of arrays of strings".into(),
            Self::Block(_) | Self::Named(_) => "an object".into(),
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

impl Key {
    /// The default as JSON; empty when absence has no equivalent value.
    pub(crate) fn default(&self) -> Cow<'static, str> {
        match self.default {
            DefaultText::Json(text) => text.into(),
            DefaultText::Computed(make) => make().into(),
        }
    }
}
