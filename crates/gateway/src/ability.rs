//! What a server says it can do: the members of its capabilities that the gateway knows. What it
//! does not know it does not offer, because it could not keep the promise.

use countersign_tape::Span;

use crate::json::member;

/// One thing a server can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    Tools,
    Logging,
    Prompts,
    Resources,
    Completions,
}

impl Ability {
    const ALL: [Self; 5] = [
        Self::Tools,
        Self::Logging,
        Self::Prompts,
        Self::Resources,
        Self::Completions,
    ];

    /// Its name among the capabilities.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Logging => "logging",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Completions => "completions",
        }
    }
}

/// What a server can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Abilities(u8);

impl Abilities {
    /// Reads a capabilities object.
    pub(crate) fn read(bytes: &[u8], capabilities: Span) -> Self {
        let named = |ability: &Ability| member(bytes, capabilities, ability.as_str()).is_some();
        Ability::ALL.into_iter().filter(named).collect()
    }

    /// Whether it can do this.
    pub(crate) fn has(self, ability: Ability) -> bool {
        self.0 & (1 << ability as u8) != 0
    }

    /// Everything it can do.
    pub(crate) fn all(self) -> impl Iterator<Item = Ability> {
        Ability::ALL.into_iter().filter(move |one| self.has(*one))
    }
}

impl FromIterator<Ability> for Abilities {
    fn from_iter<I: IntoIterator<Item = Ability>>(all: I) -> Self {
        Self(all.into_iter().fold(0, |bits, one| bits | (1 << one as u8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_there() {
        let bytes = br#"{"prompts":{"listChanged":true},"tools":{},"x":{}}"#;
        let abilities = Abilities::read(bytes, Span::whole(bytes));
        let all: Vec<_> = abilities.all().collect();
        assert_eq!(all, [Ability::Tools, Ability::Prompts]);
        assert!(!abilities.has(Ability::Completions));
        assert_eq!(
            Abilities::read(b"5", Span::whole(b"5")),
            Abilities::default()
        );
    }
}
