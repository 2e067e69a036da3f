//! The methods that the gateway forwards to a server. It answers every other method itself, or refuses it.

use crate::capability::Capability;

/// A method whose requests are forwarded to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `tools/call`
    CallTool,
    /// `prompts/get`
    GetPrompt,
    /// `resources/read`
    ReadResource,
    /// `prompts/list`
    ListPrompts,
    /// `resources/list`
    ListResources,
    /// `resources/templates/list`
    ListTemplates,
    /// `completion/complete`
    Complete,
    /// `resources/subscribe`
    Subscribe,
    /// `resources/unsubscribe`
    Unsubscribe,
}

impl Method {
    /// Every method that is forwarded.
    pub const ALL: [Self; 9] = [
        Self::CallTool,
        Self::GetPrompt,
        Self::ReadResource,
        Self::ListPrompts,
        Self::ListResources,
        Self::ListTemplates,
        Self::Complete,
        Self::Subscribe,
        Self::Unsubscribe,
    ];

    /// The method of this name, if it is one that is forwarded.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }

    /// Its name in JSON-RPC.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CallTool => "tools/call",
            Self::GetPrompt => "prompts/get",
            Self::ReadResource => "resources/read",
            Self::ListPrompts => "prompts/list",
            Self::ListResources => "resources/list",
            Self::ListTemplates => "resources/templates/list",
            Self::Complete => "completion/complete",
            Self::Subscribe => "resources/subscribe",
            Self::Unsubscribe => "resources/unsubscribe",
        }
    }

    /// The capability that a server needs for it.
    pub fn capability(self) -> Capability {
        match self {
            Self::CallTool => Capability::Tools,
            Self::GetPrompt | Self::ListPrompts => Capability::Prompts,
            Self::ReadResource
            | Self::ListResources
            | Self::ListTemplates
            | Self::Subscribe
            | Self::Unsubscribe => Capability::Resources,
            Self::Complete => Capability::Completions,
        }
    }

    /// The parameter that names the tool, prompt or resource; a modern HTTP request repeats it in a header.
    pub fn named_by(self) -> Option<&'static str> {
        match self {
            Self::CallTool | Self::GetPrompt => Some("name"),
            Self::ReadResource | Self::Subscribe | Self::Unsubscribe => Some("uri"),
            _ => None,
        }
    }

    /// Whether its results say how long a modern client may cache them.
    pub fn is_cacheable(self) -> bool {
        matches!(
            self,
            Self::ReadResource | Self::ListPrompts | Self::ListResources | Self::ListTemplates
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for name in [
            "tools/call",
            "prompts/get",
            "resources/read",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "completion/complete",
            "resources/subscribe",
            "resources/unsubscribe",
        ] {
            assert_eq!(Method::from_name(name).map(Method::as_str), Some(name));
        }
        assert_eq!(Method::from_name("tools/list"), None);
    }
}
