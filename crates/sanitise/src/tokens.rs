//! The token table: which literal belongs to which model family and class. Parsed from one reviewed file; it knows
//! nothing about settings or about where in a text a token counts.

use std::collections::HashMap;

use crate::chars::Chars;
use crate::error::{Error, Kind};
use crate::named_enum::named_enum;

/// Families a table may have: one bit each.
const MAX_FAMILIES: usize = 128;

named_enum! {
    /// How safely a token may be replaced; the safer is the smaller.
    #[derive(PartialOrd, Ord)]
    pub(crate) enum Class {
        A = "A",
        B = "B",
        C = "C",
        AmbiguousC = "C?",
        D = "D",
        E = "E",
    }
}

impl Class {
    fn parse(word: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|class| class.as_str() == word)
    }
}

/// One literal in its match-view form.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) class: Class,
    /// Bit set of the families that have it.
    pub(crate) families: u128,
    /// The literal itself is ASCII, so ASCII text can contain it.
    pub(crate) ascii: bool,
}

/// A table of control tokens by model family.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    families: Vec<String>,
    tokens: Vec<Token>,
}

impl Tokens {
    /// The table this crate ships.
    pub fn builtin() -> Self {
        Self::parse(include_str!("../data/tokens.tsv")).unwrap_or_default()
    }

    /// Reads a table: one `family<TAB>class<TAB>token` a line, `#` for comments. The shipped `data/tokens.tsv` has the
    /// classes explained at its head.
    pub fn parse(table: &str) -> Result<Self, Error> {
        let mut tokens = Self::default();
        let mut known = HashMap::new();
        for (index, line) in table.lines().enumerate() {
            let wrong = |why| {
                Error::new(Kind::Table {
                    line: index + 1,
                    why,
                })
            };
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut fields = line.splitn(3, '\t');
            let (Some(family), Some(class), Some(token)) =
                (fields.next(), fields.next(), fields.next())
            else {
                return Err(wrong("expected family, class and token"));
            };
            let class = Class::parse(class).ok_or_else(|| wrong("unknown class"))?;
            let family = tokens
                .family(family)
                .ok_or_else(|| wrong("too many families"))?;
            if Chars::shared().fold_text(token).chars().count() < 2 {
                return Err(wrong("token too short"));
            }
            tokens.add(&mut known, family, class, token);
            let tag = token.strip_prefix('<').filter(|tag| tag.ends_with('>'));
            if let Some(tag) = tag.filter(|tag| class == Class::D && !tag.starts_with('/')) {
                tokens.add(&mut known, family, class, &format!("</{tag}"));
            }
        }
        Ok(tokens)
    }

    /// Names of the families, in the order of the table.
    pub fn families(&self) -> impl Iterator<Item = &str> {
        self.families.iter().map(String::as_str)
    }

    /// The table without what only the given families have. Shows what the generic rules cover by themselves.
    #[must_use]
    pub fn without(&self, families: &[&str]) -> Self {
        let dropped = self.bits(families.iter().copied());
        let mut rest = self.clone();
        rest.tokens.retain_mut(|token| {
            token.families &= !dropped;
            token.families != 0
        });
        rest
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter()
    }

    /// Bit set of named families; unknown names have no bit.
    pub(crate) fn bits<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> u128 {
        names
            .into_iter()
            .filter_map(|name| self.families.iter().position(|family| family == name))
            .fold(0, |bits, index| bits | 1 << index)
    }

    fn family(&mut self, name: &str) -> Option<usize> {
        if let Some(index) = self.families.iter().position(|family| family == name) {
            return Some(index);
        }
        self.families.push(name.to_owned());
        (self.families.len() <= MAX_FAMILIES).then(|| self.families.len() - 1)
    }

    /// A literal that several families have is one token, in its most certain class.
    fn add(
        &mut self,
        known: &mut HashMap<String, usize>,
        family: usize,
        class: Class,
        literal: &str,
    ) {
        let text = Chars::shared().fold_text(literal);
        let index = *known.entry(text.clone()).or_insert(self.tokens.len());
        match self.tokens.get_mut(index) {
            Some(token) => {
                token.families |= 1 << family;
                token.class = token.class.min(class);
                token.ascii |= literal.is_ascii();
            }
            None => self.tokens.push(Token {
                text,
                class,
                families: 1 << family,
                ascii: literal.is_ascii(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_parses() {
        let tokens = Tokens::parse(include_str!("../data/tokens.tsv")).unwrap();
        assert!(tokens.families().count() >= 40);
        assert!(tokens.iter().count() > 300);
        assert!(
            tokens
                .iter()
                .all(|token| token.text.is_ascii() || token.class == Class::E)
        );
    }

    #[test]
    fn shared_literals_belong_to_all_their_families() {
        let tokens = Tokens::builtin();
        let inst = tokens.iter().find(|token| token.text == "[INST]").unwrap();
        assert_eq!(inst.families, tokens.bits(["llama2", "mistral"]));
        let without = tokens.without(&["llama2"]);
        assert!(without.iter().any(|token| token.text == "[INST]"));
        assert!(!without.iter().any(|token| token.text == "<<SYS>>"));
    }

    #[test]
    fn a_bad_line_is_named() {
        let error = Tokens::parse("x\tA\t<|a|>\nx\tQ\t<|b|>").unwrap_err();
        assert!(error.is_table());
        assert_eq!(error.to_string(), "token table, line 2: unknown class");
    }
}
