//! The patterns of rules: texts in which `*` stands for any characters. There is nothing else to them, so that a rule can be
//! read without a manual and cannot fail while the gateway runs.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::document::brief;
use crate::problem::Problem;

const CALLER_HINT: &str =
    "write \"key:ci\", \"group:build\", \"corp:*\", \"anonymous\", or \"*\" for all";
const ITEM_HINT: &str = "write \"server:tool\", \"server:prompt/NAME\", \"server:resource/URI\", or \"server:*\" for all of a server";

/// A text in which `*` stands for any characters, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: Box<str>,
    /// What stands between the stars.
    parts: Box<[Box<str>]>,
}

impl Glob {
    /// The pattern that this text is.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            parts: text.split('*').map(Box::from).collect(),
        }
    }

    /// Whether a text fits. Takes time in proportion to the lengths of both, and no memory.
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.parts.split_first() else {
            return false;
        };
        let Some((last, middle)) = rest.split_last() else {
            return text == &**first;
        };
        let Some(text) = text.strip_prefix(&**first) else {
            return false;
        };
        let Some(mut text) = text.strip_suffix(&**last) else {
            return false;
        };
        for part in middle {
            let Some((_, after)) = text.split_once(&**part) else {
                return false;
            };
            text = after;
        }
        true
    }

    /// Whether every text that fits `other` fits this one too. The stars of `other` can only be covered by stars here.
    pub fn covers(&self, other: &Self) -> bool {
        self.matches(&other.text)
    }

    /// Whether it stands for one text only.
    pub fn is_literal(&self) -> bool {
        self.parts.len() == 1
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Which callers a rule is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerPattern {
    text: Box<str>,
    who: Who,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    Everyone,
    /// Callers of a group.
    Group(Glob),
    /// Callers by their whole names.
    Named(Glob),
}

impl CallerPattern {
    /// Whether a caller with this name and these groups is meant.
    pub fn matches(&self, name: &str, groups: &BTreeSet<String>) -> bool {
        match &self.who {
            Who::Everyone => true,
            Who::Group(group) => groups.iter().any(|name| group.matches(name)),
            Who::Named(glob) => glob.matches(name),
        }
    }

    /// What stands before and after the colon, where it names a caller. Nothing for groups and for every caller.
    pub(crate) fn named(&self) -> Option<(&str, &str)> {
        match &self.who {
            Who::Everyone | Who::Group(_) => None,
            Who::Named(glob) => glob.as_str().split_once(':'),
        }
    }
}

impl FromStr for CallerPattern {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let refuse = || {
            let message = format!("\"{}\" is not a caller", brief(text));
            Err(Problem::new(message, CALLER_HINT))
        };
        let who = match text.split_once(':') {
            None if text == "*" => Who::Everyone,
            None if text == "anonymous" => Who::Named(Glob::new(text)),
            None => return refuse(),
            Some((prefix, name))
                if prefix.is_empty() || prefix.contains('*') || name.is_empty() =>
            {
                return refuse();
            }
            Some(("group", name)) => Who::Group(Glob::new(name)),
            Some(_) => Who::Named(Glob::new(text)),
        };
        let text = text.into();
        Ok(Self { text, who })
    }
}

impl fmt::Display for CallerPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A kind of thing that a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// A tool, by the name that its server gives it.
    Tool,
    /// A prompt, by the name that its server gives it.
    Prompt,
    /// A resource by its address, or a template of addresses by its text.
    Resource,
}

impl ItemKind {
    const ALL: [Self; 3] = [Self::Tool, Self::Prompt, Self::Resource];

    /// What stands before its name in a pattern.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Tool => "tool/",
            Self::Prompt => "prompt/",
            Self::Resource => "resource/",
        }
    }

    /// The kind and the name that the part after `server:` names; the kind is none for everything.
    pub fn split(rest: &str) -> (Option<Self>, &str) {
        if rest == "*" {
            return (None, rest);
        }
        let found = Self::ALL
            .into_iter()
            .find_map(|kind| Some((Some(kind), rest.strip_prefix(kind.prefix())?)));
        found.unwrap_or((Some(Self::Tool), rest))
    }
}

/// Which items a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemPattern {
    text: Box<str>,
    server: Glob,
    /// None for every kind.
    kind: Option<ItemKind>,
    name: Glob,
}

impl ItemPattern {
    /// Whether an item of a server is meant.
    pub fn matches(&self, server: &str, kind: ItemKind, name: &str) -> bool {
        self.kind.is_none_or(|own| own == kind)
            && self.server.matches(server)
            && self.name.matches(name)
    }

    /// Whether items of this server can be meant.
    pub fn concerns_server(&self, server: &str) -> bool {
        self.server.matches(server)
    }

    /// Whether it means everything that this server has.
    pub fn is_whole_server(&self, server: &str) -> bool {
        self.kind.is_none() && self.concerns_server(server)
    }

    /// Whether it means every item that `other` means.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.kind.is_none_or(|own| other.kind == Some(own))
            && self.server.covers(&other.server)
            && self.name.covers(&other.name)
    }

    /// The pattern of its server.
    pub(crate) fn server(&self) -> &Glob {
        &self.server
    }
}

impl FromStr for ItemPattern {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '*';
        let parts = text.split_once(':');
        let parts = parts.filter(|(server, _)| !server.is_empty() && server.chars().all(fits));
        let named = parts.map(|(server, rest)| (server, ItemKind::split(rest)));
        let Some((server, (kind, name))) = named.filter(|(_, (_, name))| !name.is_empty()) else {
            let message = format!("\"{}\" is not an item", brief(text));
            return Err(Problem::new(message, ITEM_HINT));
        };
        Ok(Self {
            text: text.into(),
            server: Glob::new(server),
            kind,
            name: Glob::new(name),
        })
    }
}

impl fmt::Display for ItemPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (glob, text, fits) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "a:b", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "a", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*b*", "abc", true),
            ("*b*c*", "acb", false),
            ("a*b*b", "ab", false),
            ("a**b", "axb", true),
            ("é*", "éa", true),
        ] {
            assert_eq!(Glob::new(glob).matches(text), fits, "{glob} {text}");
        }
        let long = format!("{}b", "*a".repeat(2_000));
        assert!(!Glob::new(&long).matches(&"a".repeat(200_000)));
    }

    #[test]
    fn a_pattern_covers_what_it_would_match() {
        for (one, other, covers) in [
            ("*:*", "crm:delete_*", true),
            ("crm:*", "crm:prompt/x", true),
            ("crm:delete_*", "crm:*", false),
            ("crm:delete_*", "crm:delete_all", true),
            ("crm:tool/*", "crm:*", false),
            ("crm:*_x", "crm:a_*", false),
            ("c*:a", "crm:a", true),
        ] {
            let [one, other] = [one, other].map(|text| text.parse::<ItemPattern>().expect(text));
            assert_eq!(one.covers(&other), covers, "{one} {other}");
        }
    }

    #[test]
    fn kinds_do_not_stand_for_each_other() {
        let item = |pattern: &str, kind, name| {
            let pattern: ItemPattern = pattern.parse().expect(pattern);
            pattern.matches("crm", kind, name)
        };
        assert!(item("crm:*", ItemKind::Prompt, "a") && item("*:*", ItemKind::Resource, "a:b"));
        assert!(item("crm:prompt/*", ItemKind::Prompt, "a"));
        assert!(!item("crm:prompt/*", ItemKind::Tool, "prompt/a"));
        assert!(item("crm:tool/prompt/a", ItemKind::Tool, "prompt/a"));
        assert!(!item("crm:delete_*", ItemKind::Prompt, "delete_x"));
        assert!(item("crm:resource/file:*", ItemKind::Resource, "file:///a"));
    }

    #[test]
    fn callers_are_meant_by_name_or_by_group() {
        let groups = BTreeSet::from(["build".to_owned()]);
        for (pattern, meant) in [
            ("*", true),
            ("key:ci", true),
            ("key:*", true),
            ("key:c", false),
            ("corp:*", false),
            ("group:build", true),
            ("group:b*", true),
            ("group:key:ci", false),
            ("anonymous", false),
        ] {
            let caller: CallerPattern = pattern.parse().expect(pattern);
            assert_eq!(caller.matches("key:ci", &groups), meant, "{pattern}");
        }
        for bad in ["", "ci", "*:ci", "key:", ":ci", "anon*"] {
            assert!(bad.parse::<CallerPattern>().is_err(), "{bad}");
        }
        for bad in ["", "crm", "crm:", ":a", "Crm:a", "crm:prompt/", "c rm:a"] {
            assert!(bad.parse::<ItemPattern>().is_err(), "{bad}");
        }
    }
}
