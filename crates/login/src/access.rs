//! Which items a caller may see and use: one pure function over the rules of the configuration. What rules allow is united,
//! any deny wins, and the order of rules has no meaning. Arguments of calls take no part, so that what is listed is what can be
//! called.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use countersign_config::{AccessDefault, AccessRule, Config, ItemKind, Where};

/// The rules that are in force, ready to be decided by.
#[derive(Debug)]
pub struct AccessRules {
    default: AccessDefault,
    rules: Vec<AccessRule>,
    /// The servers whose annotations are believed.
    trusted: HashSet<String>,
}

/// A caller, as far as rules know it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its name, such as `key:ci`.
    pub name: &'a str,
    /// Its groups.
    pub groups: &'a BTreeSet<String>,
    /// The scopes of its token; nothing if it has no token.
    pub scopes: Option<&'a BTreeSet<String>>,
}

/// Something that a server has.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The server.
    pub server: &'a str,
    /// What it is.
    pub kind: ItemKind,
    /// The server's own name of it, or its address.
    pub name: &'a str,
    /// What the server says that a tool does; nothing if that is not known.
    pub hints: Option<Hints>,
}

impl<'a> Item<'a> {
    /// The item that `SERVER:TOOL`, `SERVER:prompt/NAME` or `SERVER:resource/URI` names.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (server, rest) = text.split_once(':')?;
        let (kind, name) = ItemKind::split(rest);
        (!server.is_empty() && !name.is_empty()).then_some(Self {
            server,
            kind: kind.unwrap_or(ItemKind::Tool),
            name,
            hints: None,
        })
    }
}

/// What a server says that its tool does, with the defaults of the protocol.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one annotation of the protocol"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints {
    /// It only reads.
    pub read_only: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// Repeating a call changes nothing more.
    pub idempotent: bool,
    /// It reaches systems outside of its server's.
    pub open_world: bool,
}

impl Hints {
    /// Each annotation as far as the server gives it: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`.
    pub fn new([read_only, destructive, idempotent, open_world]: [Option<bool>; 4]) -> Self {
        let read_only = read_only.unwrap_or(false);
        Self {
            read_only,
            destructive: !read_only && destructive.unwrap_or(true),
            idempotent: idempotent.unwrap_or(false),
            open_world: open_world.unwrap_or(true),
        }
    }

    fn fit(self, narrowing: &Where) -> bool {
        let pairs = [
            (narrowing.read_only, self.read_only),
            (narrowing.destructive, self.destructive),
            (narrowing.idempotent, self.idempotent),
            (narrowing.open_world, self.open_world),
        ];
        pairs
            .into_iter()
            .all(|(wanted, own)| wanted.is_none_or(|wanted| wanted == own))
    }
}

/// What decided about an item: a rule, by its place in the file, or the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulePath {
    /// `access.default`.
    Default,
    /// `access.rules[N]`.
    Rule(usize),
}

impl fmt::Display for RulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("access.default"),
            Self::Rule(index) => write!(f, "access.rules[{index}]"),
        }
    }
}

/// What a caller may do with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessDecision {
    /// See and use it.
    Permit(RulePath),
    /// See it, and use it with a token that has the scopes of this rule.
    Needs(RulePath),
    /// Nothing: it does not exist for this caller.
    Denied(RulePath),
}

impl AccessRules {
    /// The rules of a configuration; nothing if every caller may use everything.
    pub fn new(config: &Config) -> Option<Self> {
        let access = &config.access;
        if access.is_open() {
            return None;
        }
        let trusted = config
            .servers
            .iter()
            .filter(|server| server.trust_annotations);
        Some(Self {
            default: access.default,
            rules: access.rules.clone(),
            trusted: trusted.map(|server| server.name.clone()).collect(),
        })
    }

    /// What a caller may do with an item.
    pub fn decide(&self, caller: Subject<'_>, item: Item<'_>) -> AccessDecision {
        if let Some(index) = self.denying(caller, item) {
            return AccessDecision::Denied(RulePath::Rule(index));
        }
        if self.default == AccessDefault::Allow {
            return AccessDecision::Permit(RulePath::Default);
        }
        let mut needed: Option<(usize, &[String])> = None;
        for (index, rule) in self.allowing(caller, item) {
            if !self.annotations_fit(rule, item) {
                continue;
            }
            if has_scopes(caller, rule) {
                return AccessDecision::Permit(RulePath::Rule(index));
            }
            // The least that is asked for, whatever the order of the rules.
            let scopes = &rule.scopes[..];
            let is_less =
                |(_, least): (_, &[String])| (scopes.len(), scopes) < (least.len(), least);
            if needed.is_none_or(is_less) {
                needed = Some((index, scopes));
            }
        }
        match needed.filter(|_| caller.scopes.is_some()) {
            Some((index, _)) => AccessDecision::Needs(RulePath::Rule(index)),
            None => AccessDecision::Denied(RulePath::Default),
        }
    }

    /// The rule that would allow a tool if its annotations were right and its server's were believed.
    pub fn waits_for_annotations(&self, caller: Subject<'_>, item: Item<'_>) -> Option<RulePath> {
        let is_denied = self.denying(caller, item).is_some();
        let mut narrowed = self.allowing(caller, item).filter(|(_, rule)| {
            item.kind == ItemKind::Tool
                && rule.narrowing.is_some()
                && has_scopes(caller, rule)
                && self.trusted.contains(item.server)
        });
        let (index, _) = narrowed.next().filter(|_| !is_denied)?;
        Some(RulePath::Rule(index))
    }

    /// Whether a caller may see anything of a server.
    pub fn may_reach(&self, caller: Subject<'_>, server: &str) -> bool {
        let mut rules = self.rules.iter().filter(|rule| is_for(rule, caller));
        if self.default == AccessDefault::Allow {
            return !rules.any(|rule| rule.deny.iter().any(|item| item.is_whole_server(server)));
        }
        rules.any(|rule| {
            let may_have_scopes = rule.scopes.is_empty() || caller.scopes.is_some();
            may_have_scopes && rule.allow.iter().any(|item| item.concerns_server(server))
        })
    }

    /// The scopes that the rule of a decision asks for.
    pub fn scopes(&self, path: RulePath) -> &[String] {
        match path {
            RulePath::Default => &[],
            RulePath::Rule(index) => self.rules.get(index).map_or(&[], |rule| &rule.scopes),
        }
    }

    /// Whether both decide alike.
    pub fn is_same(&self, other: &Self) -> bool {
        self.default == other.default && self.rules == other.rules && self.trusted == other.trusted
    }

    fn denying(&self, caller: Subject<'_>, item: Item<'_>) -> Option<usize> {
        self.rules.iter().position(|rule| {
            let mut denied = rule.deny.iter();
            denied.any(|pattern| pattern.matches(item.server, item.kind, item.name))
                && is_for(rule, caller)
        })
    }

    /// The rules that allow an item to a caller, as far as names say.
    fn allowing<'a>(
        &'a self,
        caller: Subject<'a>,
        item: Item<'a>,
    ) -> impl Iterator<Item = (usize, &'a AccessRule)> {
        self.rules.iter().enumerate().filter(move |(_, rule)| {
            let mut allowed = rule.allow.iter();
            allowed.any(|pattern| pattern.matches(item.server, item.kind, item.name))
                && is_for(rule, caller)
        })
    }

    /// Whether the annotations of a tool are what a rule asks for, and its server is believed.
    fn annotations_fit(&self, rule: &AccessRule, item: Item<'_>) -> bool {
        let Some(narrowing) = &rule.narrowing else {
            return true;
        };
        item.kind == ItemKind::Tool
            && item.hints.is_some_and(|hints| hints.fit(narrowing))
            && self.trusted.contains(item.server)
    }
}

fn is_for(rule: &AccessRule, caller: Subject<'_>) -> bool {
    let mut callers = rule.callers.iter();
    callers.any(|pattern| pattern.matches(caller.name, caller.groups))
}

fn has_scopes(caller: Subject<'_>, rule: &AccessRule) -> bool {
    let has = |scope: &String| caller.scopes.is_some_and(|scopes| scopes.contains(scope));
    rule.scopes.iter().all(has)
}

#[cfg(test)]
mod tests;
