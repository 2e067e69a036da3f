//! One line of the doctor's: what was looked at, how it is, and what to do about it.

use serde::Serialize;

use crate::format::Report;
use crate::report::printable;

/// How something is, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Ok,
    Warning,
    Error,
}

/// One line.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    #[serde(rename = "check")]
    about: &'static str,
    pub(super) status: Status,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    pub(super) fn ok(about: &'static str, message: impl Into<String>) -> Self {
        Self {
            about,
            status: Status::Ok,
            message: message.into(),
            hint: None,
        }
    }

    /// A start would succeed, but the operator should know this.
    pub(super) fn warning(
        about: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            status: Status::Warning,
            hint: Some(hint.into()),
            ..Self::ok(about, message)
        }
    }

    /// Something would not work.
    pub(super) fn error(
        about: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            status: Status::Error,
            ..Self::warning(about, message, hint)
        }
    }
}

impl Report for Check {
    fn text(&self) -> String {
        let status = match self.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Error => "error",
        };
        let mut text = format!(
            "{status:<7}  {:<11}  {}\n",
            self.about,
            printable(&self.message)
        );
        if let Some(hint) = &self.hint {
            text.extend(["         hint: ", &printable(hint), "\n"]);
        }
        text
    }
}
