//! The words a record may use for its type, status and source.
//!
//! The place of a type or status in its set is the integer that the index stores, a part of the file format: new ones
//! are added at the end.

use countersign_inspect::word_enum;

word_enum! {
    /// What a record is about.
    #[derive(PartialOrd, Ord)]
    pub enum Kind("type") {
        /// A tool was called.
        ToolCall = "tool_call",
        /// A prompt was fetched.
        PromptGet = "prompt_get",
        /// A resource was read.
        ResourceRead = "resource_read",
        /// Text a server sent of its own accord: instructions, elicitation, sampling.
        ServerText = "server_text",
        /// Something was blocked, changed or flagged.
        PolicyDecision = "policy_decision",
        /// A declared schema cannot be enforced.
        SchemaDiagnostic = "schema_diagnostic",
        /// A tool's description or schema changed.
        ToolChange = "tool_change",
        /// A server was added, removed, restarted or changed.
        ServerChange = "server_change",
        /// The configuration changed.
        ConfigChange = "config_change",
        /// The process started; the first record of its chain.
        SystemStart = "system_start",
        /// The process stopped in good order.
        SystemStop = "system_stop",
        /// A completion of an argument was asked for.
        Completion = "completion",
        /// A server's list of prompts, resources or templates is not the one it last gave.
        ListChange = "list_change",
        /// Requests were refused before they were read; one record tells of all of a reason and minute.
        AccessRefusal = "access_refusal",
        /// A login to a server, a sign-in to the console, or the end of one.
        Login = "login",
    }
}

impl Kind {
    /// A request to a server, whose result is inspected.
    pub fn is_call(self) -> bool {
        matches!(
            self,
            Self::ToolCall
                | Self::PromptGet
                | Self::ResourceRead
                | Self::Completion
                | Self::ListChange
        )
    }
}

word_enum! {
    /// How it ended. For a policy decision, equal to the decision.
    #[derive(PartialOrd, Ord)]
    pub enum Status("status") {
        /// It was carried out.
        Success = "success",
        /// It failed: the fault of the server or of the gateway.
        Error = "error",
        /// Refused before the upstream saw it.
        Rejected = "rejected",
        /// Forwarded with findings.
        Flagged = "flagged",
        /// Forwarded in changed form.
        Rewritten = "rewritten",
        /// Not forwarded.
        Blocked = "blocked",
    }
}

word_enum! {
    /// Which entrance it came through.
    #[derive(PartialOrd, Ord)]
    pub enum Source("source") {
        /// An MCP client.
        Mcp = "mcp",
        /// The command line.
        Cli = "cli",
        /// The REST interface.
        Api = "api",
        /// The gateway itself.
        Internal = "internal",
    }
}

/// The integers that the index stores.
macro_rules! coded {
    ($($name:ident),+) => {$(
        impl $name {
            pub(crate) fn code(self) -> i64 {
                self as i64
            }

            pub(crate) fn from_code(code: i64) -> Option<Self> {
                Self::ALL.get(usize::try_from(code).ok()?).copied()
            }
        }
    )+};
}

coded!(Kind, Status);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_existing_files() {
        for (code, kind) in (0..).zip(Kind::ALL) {
            assert_eq!((kind.code(), Kind::from_code(code)), (code, Some(*kind)));
        }
        let known = [
            (Kind::ToolCall, 0),
            (Kind::PolicyDecision, 4),
            (Kind::SystemStart, 9),
            (Kind::ListChange, 12),
            (Kind::AccessRefusal, 13),
            (Kind::Login, 14),
        ];
        assert!(known.iter().all(|(kind, code)| kind.code() == *code));
        let known = [
            (Status::Success, 0),
            (Status::Flagged, 3),
            (Status::Blocked, 5),
        ];
        assert!(known.iter().all(|(status, code)| status.code() == *code));
        assert_eq!((Kind::from_code(15), Status::from_code(-1)), (None, None));
    }
}
