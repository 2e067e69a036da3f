//! One line of `countersign doctor`: what was checked, the result, and what to do about it.

use countersign_inspect::word_enum;
use serde::Serialize;

use crate::report::printable;

word_enum! {
    /// The result of a check, from best to worst.
    #[derive(PartialOrd, Ord)]
    pub enum Status {
        Ok = "ok",
        Warning = "warning",
        Error = "error",
    }
}

/// One check and its result.
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

impl Check {
    pub(super) fn text(&self) -> String {
        let (status, about) = (self.status, self.about);
        let message = printable(&self.message);
        let mut text = format!("{status:<7}  {about:<11}  {message}\n");
        if let Some(hint) = &self.hint {
            text.extend(["         hint: ", &printable(hint), "\n"]);
        }
        text
    }
}
