//! The server capabilities that the gateway knows. It offers no others to its clients, because it could not serve them.

use countersign_tape::{Kind, Span};

use crate::json::{member, path};

/// One capability of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// It has tools.
    Tools,
    /// It sends log messages.
    Logging,
    /// It has prompts.
    Prompts,
    /// It has resources.
    Resources,
    /// It completes arguments.
    Completions,
}

impl Capability {
    const ALL: [Self; 5] = [
        Self::Tools,
        Self::Logging,
        Self::Prompts,
        Self::Resources,
        Self::Completions,
    ];

    /// Its member name in the `capabilities` object.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Logging => "logging",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Completions => "completions",
        }
    }
}

/// The capabilities that a server declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    declared: u8,
    /// It tells when its prompts change.
    pub prompt_changes: bool,
    /// It tells when its resources change.
    pub resource_changes: bool,
    /// It tells when single resources change, to clients that subscribe to them.
    pub resource_updates: bool,
}

impl Capabilities {
    /// Reads a capabilities object.
    pub fn read(bytes: &[u8], capabilities: Span) -> Self {
        let is_declared =
            |capability: &Capability| member(bytes, capabilities, capability.as_str()).is_some();
        let is_true = |names: &[&str]| {
            let value = path(bytes, capabilities, names);
            value.and_then(|value| value.kind(bytes)) == Some(Kind::True)
        };
        Self {
            prompt_changes: is_true(&["prompts", "listChanged"]),
            resource_changes: is_true(&["resources", "listChanged"]),
            resource_updates: is_true(&["resources", "subscribe"]),
            ..Capability::ALL.into_iter().filter(is_declared).collect()
        }
    }

    /// Whether this capability is declared.
    pub fn has(self, capability: Capability) -> bool {
        self.declared & (1 << capability as u8) != 0
    }

    /// The declared capabilities.
    pub fn all(self) -> impl Iterator<Item = Capability> {
        Capability::ALL
            .into_iter()
            .filter(move |one| self.has(*one))
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(all: I) -> Self {
        Self {
            declared: all.into_iter().fold(0, |bits, one| bits | (1 << one as u8)),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_there() {
        let bytes = br#"{"prompts":{"listChanged":true},"tools":{},"x":{}}"#;
        let capabilities = Capabilities::read(bytes, Span::whole(bytes));
        let all: Vec<_> = capabilities.all().collect();
        assert_eq!(all, [Capability::Tools, Capability::Prompts]);
        assert!(!capabilities.has(Capability::Completions));
        assert!(capabilities.prompt_changes && !capabilities.resource_changes);
        let bytes = br#"{"resources":{"subscribe":true,"listChanged":1}}"#;
        let resources = Capabilities::read(bytes, Span::whole(bytes));
        assert!(resources.resource_updates && !resources.resource_changes);
        assert_eq!(
            Capabilities::read(b"5", Span::whole(b"5")),
            Capabilities::default()
        );
    }
}
