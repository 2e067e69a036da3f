//! What a client may ask a server for through the gateway, and what is known about each: its name,
//! what names the thing asked for, how it is recorded. All of them take the one path in
//! `call.rs`; methods that are not here are answered without any server, or not at all.

use countersign_audit::Kind;

use crate::ability::Ability;

/// A request that a server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    CallTool,
    GetPrompt,
    ReadResource,
    ListPrompts,
    ListResources,
    ListTemplates,
    Complete,
}

impl Method {
    /// The method of this name, if a server answers it.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "tools/call" => Self::CallTool,
            "prompts/get" => Self::GetPrompt,
            "resources/read" => Self::ReadResource,
            "prompts/list" => Self::ListPrompts,
            "resources/list" => Self::ListResources,
            "resources/templates/list" => Self::ListTemplates,
            "completion/complete" => Self::Complete,
            _ => return None,
        })
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CallTool => "tools/call",
            Self::GetPrompt => "prompts/get",
            Self::ReadResource => "resources/read",
            Self::ListPrompts => "prompts/list",
            Self::ListResources => "resources/list",
            Self::ListTemplates => "resources/templates/list",
            Self::Complete => "completion/complete",
        }
    }

    /// What a server needs for it.
    pub(crate) fn ability(self) -> Ability {
        match self {
            Self::CallTool => Ability::Tools,
            Self::GetPrompt | Self::ListPrompts => Ability::Prompts,
            Self::ReadResource | Self::ListResources | Self::ListTemplates => Ability::Resources,
            Self::Complete => Ability::Completions,
        }
    }

    /// The parameter that names what is asked for; headers repeat it.
    pub(crate) fn named_by(self) -> Option<&'static str> {
        match self {
            Self::CallTool | Self::GetPrompt => Some("name"),
            Self::ReadResource => Some("uri"),
            _ => None,
        }
    }

    /// What it is recorded as. A list is recorded only when it changed.
    pub(crate) fn recorded_as(self) -> Kind {
        match self {
            Self::CallTool => Kind::ToolCall,
            Self::GetPrompt => Kind::PromptGet,
            Self::ReadResource => Kind::ResourceRead,
            Self::Complete => Kind::Completion,
            Self::ListPrompts | Self::ListResources | Self::ListTemplates => Kind::ListChange,
        }
    }

    /// Whether modern clients are told how long they may keep the answer.
    pub(crate) fn is_cacheable(self) -> bool {
        !matches!(self, Self::CallTool | Self::GetPrompt | Self::Complete)
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
        ] {
            assert_eq!(Method::of(name).map(Method::as_str), Some(name));
        }
        assert_eq!(Method::of("tools/list"), None);
    }
}
