//! The server capabilities that the gateway knows. It offers no others to its clients, because it could not serve them.

use countersign_tape::Span;

use crate::json::member;

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
pub struct Capabilities(u8);

impl Capabilities {
    /// Reads a capabilities object.
    pub fn read(bytes: &[u8], capabilities: Span) -> Self {
        let is_declared =
            |capability: &Capability| member(bytes, capabilities, capability.as_str()).is_some();
        Capability::ALL.into_iter().filter(is_declared).collect()
    }

    /// Whether this capability is declared.
    pub fn has(self, capability: Capability) -> bool {
        self.0 & (1 << capability as u8) != 0
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
        Self(all.into_iter().fold(0, |bits, one| bits | (1 << one as u8)))
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
        assert_eq!(
            Capabilities::read(b"5", Span::whole(b"5")),
            Capabilities::default()
        );
    }
}
