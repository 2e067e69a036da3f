//! Our own answers to a tool call that never produced a result. A closed set: every text is
//! written here, with numbers at most and the name that the client asked for, so that nothing an
//! upstream wrote can reach an agent under our name.

use std::fmt;

use serde::Serialize;

use crate::text::{asked_tool_name, is_asked_name};

/// Stands between a refusal and the name that it is about.
const ABOUT: &str = ": ";

/// Why there is no result to forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The upstream did not answer in time.
    TimedOut {
        /// How long it was given.
        after_ms: u64,
    },
    /// The upstream's process ended or its connection broke before it answered.
    Lost,
    /// The upstream could not be reached.
    Unreachable,
    /// The upstream answered with something that is not an MCP response.
    Malformed,
    /// The upstream's answer is larger than a message may be.
    TooLarge {
        /// The limit in force.
        limit: u64,
    },
    /// Too many calls are waiting for this upstream.
    QueueFull,
    /// The caller has made as many calls as it may for now.
    OverRate {
        /// In how many seconds it may make another.
        after_s: u64,
    },
    /// As many calls of the caller are under way as may be.
    TooManyCalls,
    /// The gateway had no memory to spare for the upstream's answer.
    Busy,
    /// The upstream is switched off.
    Disabled,
    /// No such tool.
    UnknownTool,
    /// The tool exists, but not under the router tool that was used.
    WrongRouter {
        /// The router tool to use instead.
        instead: RouterCall,
    },
    /// The call's arguments are not usable.
    BadArguments,
    /// The call was cancelled.
    Cancelled,
    /// The decision could not be recorded, and unrecorded results are not forwarded.
    Unrecorded,
    /// The gateway is shutting down.
    ShuttingDown,
    /// A parked call expired, or belongs to another gateway.
    Expired,
    /// The upstream asked the client for something this client cannot give.
    Unsupported,
    /// A bug on our side.
    Internal,
}

/// A router tool that forwards calls, by what those calls may do. The order is from harmless to destructive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RouterCall {
    /// `call_tool_read`
    Read,
    /// `call_tool_write`
    Write,
    /// `call_tool_destructive`
    Destructive,
}

impl RouterCall {
    /// The tool's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "call_tool_read",
            Self::Write => "call_tool_write",
            Self::Destructive => "call_tool_destructive",
        }
    }
}

impl Refusal {
    /// Every refusal once, a refusal that names a router tool once for each of them. Numbers are placeholders.
    pub const ALL: [Self; 21] = [
        Self::TimedOut { after_ms: 0 },
        Self::Lost,
        Self::Unreachable,
        Self::Malformed,
        Self::TooLarge { limit: 0 },
        Self::QueueFull,
        Self::OverRate { after_s: 0 },
        Self::TooManyCalls,
        Self::Busy,
        Self::Disabled,
        Self::UnknownTool,
        Self::wrong_router(RouterCall::Read),
        Self::wrong_router(RouterCall::Write),
        Self::wrong_router(RouterCall::Destructive),
        Self::BadArguments,
        Self::Cancelled,
        Self::Unrecorded,
        Self::ShuttingDown,
        Self::Expired,
        Self::Unsupported,
        Self::Internal,
    ];

    const fn wrong_router(instead: RouterCall) -> Self {
        Self::WrongRouter { instead }
    }

    /// The refusal whose text this is, with a placeholder for the number that may stand in it and with or without the
    /// name that it is about.
    pub fn from_text(text: &str) -> Option<Self> {
        let unnamed = match text.rsplit_once(ABOUT) {
            Some((unnamed, name)) if name.chars().all(is_asked_name) => unnamed,
            _ => text,
        };
        Self::ALL
            .into_iter()
            .find(|refusal| refusal.matches_text(unnamed))
    }

    /// The text with the name that the client asked for, which is shortened and stripped of what no name has.
    pub(crate) fn text_with_name(self, name: &str) -> String {
        format!("{self}{ABOUT}{}", asked_tool_name(name))
    }

    fn matches_text(self, text: &str) -> bool {
        let is_digit = |letter: char| letter.is_ascii_digit();
        let own = self.to_string();
        match own.split_once(is_digit) {
            None => own == text,
            Some((before, after)) => text
                .strip_prefix(before)
                .and_then(|rest| rest.trim_start_matches(is_digit).strip_prefix(after))
                .is_some_and(str::is_empty),
        }
    }

    /// A stable word for records, metrics and the `data.kind` of an error.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::TimedOut { .. } => "timed_out",
            Self::Lost => "lost",
            Self::Unreachable => "unreachable",
            Self::Malformed => "malformed",
            Self::TooLarge { .. } => "too_large",
            Self::QueueFull => "queue_full",
            Self::OverRate { .. } => "over_rate",
            Self::TooManyCalls => "too_many_calls",
            Self::Busy => "busy",
            Self::Disabled => "disabled",
            Self::UnknownTool => "unknown_tool",
            Self::WrongRouter { .. } => "wrong_router",
            Self::BadArguments => "bad_arguments",
            Self::Cancelled => "cancelled",
            Self::Unrecorded => "unrecorded",
            Self::ShuttingDown => "shutting_down",
            Self::Expired => "expired",
            Self::Unsupported => "unsupported",
            Self::Internal => "internal",
        }
    }

    /// Whether the same call may be made again: the upstream certainly did not carry it out, and may do so a moment
    /// later.
    pub const fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::Unreachable | Self::QueueFull | Self::OverRate { .. } | Self::TooManyCalls
        )
    }

    /// Whether the upstream may have carried the call out although there is no result.
    const fn may_have_run(self) -> bool {
        matches!(
            self,
            Self::TimedOut { .. } | Self::Lost | Self::Busy | Self::Unrecorded | Self::ShuttingDown
        )
    }
}

/// What is said of a call that the upstream may have carried out although there is no result: an agent that repeats it
/// may do the same thing twice. "Try again" is said only of a call that certainly was not carried out.
const MAY_HAVE_RUN: &str = "the call may have run, so check before you repeat it";

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut { .. } => "the tool's server did not answer within ",
            Self::Lost => "the tool's server went away before it answered",
            Self::Unreachable => "the tool's server cannot be reached",
            Self::Malformed => "the tool's server sent an answer that is not valid MCP",
            Self::TooLarge { .. } => "the tool's answer is larger than ",
            Self::QueueFull => "too many calls are waiting for this tool's server; try again later",
            Self::OverRate { .. } => "too many calls in a short time; try again in ",
            Self::TooManyCalls => {
                "too many calls are under way for this caller; try again when one has ended"
            }
            Self::Busy => "the gateway had no memory left for the tool's answer",
            Self::Disabled => "this tool's server is disabled",
            Self::UnknownTool => "there is no such tool",
            Self::WrongRouter { .. } => "this tool must be called with ",
            Self::BadArguments => "the arguments of this call cannot be used",
            Self::Cancelled => "the call was cancelled",
            Self::Unrecorded => "the result was withheld because it could not be recorded",
            Self::ShuttingDown => "the gateway is shutting down",
            Self::Expired => "this call has expired; start it again",
            Self::Unsupported => {
                "the tool's server asked for something this client does not support"
            }
            Self::Internal => "the call failed inside the gateway",
        })?;
        match self {
            Self::TimedOut { after_ms } => write!(f, "{after_ms} ms")?,
            Self::TooLarge { limit } => write!(f, "{limit} bytes")?,
            Self::OverRate { after_s } => write!(f, "{after_s} s")?,
            Self::WrongRouter { instead } => f.write_str(instead.as_str())?,
            _ => {}
        }
        if self.may_have_run() {
            write!(f, "; {MAY_HAVE_RUN}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_text_is_ours() {
        let lines: Vec<String> = Refusal::ALL
            .iter()
            .map(|refusal| {
                let again = if refusal.is_retryable() { "retry" } else { "-" };
                format!("{:<14} {again:<5} {refusal}", refusal.kind())
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        timed_out      -     the tool's server did not answer within 0 ms; the call may have run, so check before you repeat it
        lost           -     the tool's server went away before it answered; the call may have run, so check before you repeat it
        unreachable    retry the tool's server cannot be reached
        malformed      -     the tool's server sent an answer that is not valid MCP
        too_large      -     the tool's answer is larger than 0 bytes
        queue_full     retry too many calls are waiting for this tool's server; try again later
        over_rate      retry too many calls in a short time; try again in 0 s
        too_many_calls retry too many calls are under way for this caller; try again when one has ended
        busy           -     the gateway had no memory left for the tool's answer; the call may have run, so check before you repeat it
        disabled       -     this tool's server is disabled
        unknown_tool   -     there is no such tool
        wrong_router   -     this tool must be called with call_tool_read
        wrong_router   -     this tool must be called with call_tool_write
        wrong_router   -     this tool must be called with call_tool_destructive
        bad_arguments  -     the arguments of this call cannot be used
        cancelled      -     the call was cancelled
        unrecorded     -     the result was withheld because it could not be recorded; the call may have run, so check before you repeat it
        shutting_down  -     the gateway is shutting down; the call may have run, so check before you repeat it
        expired        -     this call has expired; start it again
        unsupported    -     the tool's server asked for something this client does not support
        internal       -     the call failed inside the gateway
        "#);
    }

    #[test]
    fn only_what_certainly_did_not_run_may_be_tried_again() {
        for refusal in Refusal::ALL {
            let text = refusal.to_string();
            if text.contains("try again") {
                assert!(refusal.is_retryable(), "{text}");
            }
            assert!(
                !(refusal.is_retryable() && text.contains(MAY_HAVE_RUN)),
                "{text}"
            );
        }
    }

    /// How many kinds there are. A new variant does not compile here, as a reminder to add it to `ALL`.
    fn number_of_kinds() -> usize {
        match Refusal::Lost {
            Refusal::TimedOut { .. }
            | Refusal::Lost
            | Refusal::Unreachable
            | Refusal::Malformed
            | Refusal::TooLarge { .. }
            | Refusal::QueueFull
            | Refusal::OverRate { .. }
            | Refusal::TooManyCalls
            | Refusal::Busy
            | Refusal::Disabled
            | Refusal::UnknownTool
            | Refusal::WrongRouter { .. }
            | Refusal::BadArguments
            | Refusal::Cancelled
            | Refusal::Unrecorded
            | Refusal::ShuttingDown
            | Refusal::Expired
            | Refusal::Unsupported
            | Refusal::Internal => 19,
        }
    }

    #[test]
    fn every_refusal_is_found_by_its_text() {
        let kinds: HashSet<&str> = Refusal::ALL.map(Refusal::kind).into();
        assert_eq!(kinds.len(), number_of_kinds());
        for refusal in Refusal::ALL {
            let found = Refusal::from_text(&refusal.to_string());
            assert_eq!(found, Some(refusal));
        }
        for name in ["files:read", "a b: <|im_start|>", ""] {
            let found = Refusal::from_text(&Refusal::UnknownTool.text_with_name(name));
            assert_eq!(found, Some(Refusal::UnknownTool), "{name}");
        }
        let prose = "there is no such tool: it was removed";
        assert_eq!(Refusal::from_text(prose), None);
        let found = Refusal::from_text(&Refusal::TimedOut { after_ms: 60_000 }.to_string());
        assert_eq!(found.map(Refusal::kind), Some("timed_out"));
        assert_eq!(
            Refusal::from_text("the call was cancelled by the user"),
            None
        );
    }
}
