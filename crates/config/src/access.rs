//! Who may see and use what: `access` in the file. The rules are read here; the gateway decides by them.

mod check;
mod pattern;

use std::fmt;

use countersign_inspect::word_enum;
use serde::Serialize;

use super::effective::EffectiveSettings;
use super::keys::Form;
use super::reader::Reader;
use super::setting::{Setting, ShownBlock, keys, plain, read_word};

pub(crate) use check::{check_access, check_limits};
pub use pattern::{CallerPattern, Glob, ItemKind, ItemPattern};

word_enum! {
    /// What becomes of an item that no rule allows or denies.
    #[derive(Default)]
    pub enum AccessDefault {
        /// Every caller may see and use it.
        #[default]
        Allow = "allow",
        /// It does not exist for the caller.
        Deny = "deny",
    }
}

keys! {
    /// Which callers may see and use which tools, prompts and resources. Without this block, every caller may use everything.
    /// What a caller may not use is not listed for it, and a call gets the answer for a name that does not exist. See
    /// [access](../concepts/access.md).
    #[block("access")]
    pub struct Access {
        /// What becomes of an item that no rule allows or denies. Required where there are rules.
        #[key(Form::Choice(AccessDefault::WORDS), Reload)]
        default: AccessDefault = AccessDefault::Allow;
        /// The rules. Their order has no meaning: what one rule allows is allowed, unless any rule denies it.
        #[key(Form::Blocks(AccessRule::BLOCK), Reload)]
        rules: Vec<AccessRule> = Vec::new();
    }
}

keys! {
    /// Items are `server:tool`, `server:prompt/NAME` and `server:resource/URI`; a tool whose name begins like that is
    /// `server:tool/NAME`. `*` stands for any characters, and `server:*` is everything that a server has.
    #[block("access_rule")]
    pub struct AccessRule {
        /// The callers it is for: `key:ci`, `group:build`, `corp:*`, `cert:*`, `local:1000`, `anonymous`, or `*` for all.
        #[key(Form::Texts, Reload)]
        callers: Vec<CallerPattern> = Vec::new();
        /// The items that these callers may see and use. Has no meaning where `default` is `allow`.
        #[key(Form::Texts, Reload)]
        allow: Vec<ItemPattern> = Vec::new();
        /// The items that do not exist for these callers, whatever another rule allows.
        #[key(Form::Texts, Reload)]
        deny: Vec<ItemPattern> = Vec::new();
        /// The scopes that a caller's token must have for `allow`. A caller whose token lacks one sees the items and is told
        /// which scopes to get; for a caller without a token they do not exist.
        #[key(Form::Texts, Reload)]
        scopes: Vec<String> = Vec::new(), read check::read_scopes;
        /// The annotations that a tool must have for `allow`. Only servers with `trust_annotations` are believed, and
        /// prompts and resources have none.
        #[key(Form::Block(Where::BLOCK), Reload)]
        narrowing as "where": Option<Where> = None;
        /// Reserved for approvals. Not implemented, so a rule that has it is refused.
        #[key(Form::Texts, Reload)]
        "hold";
    }
}

keys! {
    /// What the annotations of a tool must say. Where a tool does not have one, the default of the protocol holds: not
    /// read-only, destructive, not idempotent, open world.
    #[block("where")]
    pub struct Where {
        /// Whether it only reads: `readOnlyHint`.
        #[key(Form::Flag, Reload)]
        read_only: Option<bool> = None;
        /// Whether it may destroy something: `destructiveHint`. A tool that only reads does not.
        #[key(Form::Flag, Reload)]
        destructive: Option<bool> = None;
        /// Whether repeating a call changes nothing more: `idempotentHint`.
        #[key(Form::Flag, Reload)]
        idempotent: Option<bool> = None;
        /// Whether it reaches systems outside of its server's: `openWorldHint`.
        #[key(Form::Flag, Reload)]
        open_world: Option<bool> = None;
    }
}

plain! {
    AccessDefault: read_word, AccessDefault::clone;
    Vec<CallerPattern>: check::read_patterns, shown_patterns;
    Vec<ItemPattern>: check::read_patterns, shown_patterns;
}

/// Patterns as the file has them.
fn shown_patterns<T: fmt::Display>(patterns: &[T]) -> Vec<String> {
    patterns.iter().map(T::to_string).collect()
}

impl Access {
    /// Whether every caller may use everything.
    pub fn is_open(&self) -> bool {
        self.default == AccessDefault::Allow && self.rules.is_empty()
    }
}

impl Default for Access {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl Default for AccessRule {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl Default for Where {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl PartialEq for Access {
    fn eq(&self, other: &Self) -> bool {
        self.default == other.default && self.rules == other.rules
    }
}

impl PartialEq for AccessRule {
    fn eq(&self, other: &Self) -> bool {
        self.callers == other.callers
            && self.allow == other.allow
            && self.deny == other.deny
            && self.scopes == other.scopes
            && self.narrowing == other.narrowing
    }
}

impl PartialEq for Where {
    fn eq(&self, other: &Self) -> bool {
        self.read_only == other.read_only
            && self.destructive == other.destructive
            && self.idempotent == other.idempotent
            && self.open_world == other.open_world
    }
}

impl Setting for Vec<AccessRule> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let elements: Vec<_> = reader.tape().children(node).collect();
        let rules = elements.into_iter();
        Some(rules.map(|node| check::read_rule(reader, node)).collect())
    }

    fn show<'a>(
        &'a self,
        _: Form,
        effective: &'a EffectiveSettings,
    ) -> Option<impl Serialize + 'a> {
        let rules = self.iter().map(|rule| ShownBlock(rule, effective));
        Some(rules.collect::<Vec<_>>())
    }
}
