//! `input_validation`: arguments against the declared `inputSchema`, before a call is forwarded.
//! Warn never changes a call.

use super::block::block;
use crate::verdict::Mode;

block! {
    /// `input_validation` as one file says it.
    raw RawInputValidation;
    /// `input_validation` as it holds for one tool.
    resolved InputValidation {
        /// `off`, `warn` or `strict`.
        mode: Mode = Mode::Warn;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_overrides_its_server_which_overrides_the_rest() {
        let raw = |mode| RawInputValidation { mode };
        let global = raw(Some(Mode::Off));
        let server = raw(Some(Mode::Strict));
        let tool = raw(None);
        let resolved = InputValidation::resolve([&global, &server, &tool]);
        assert_eq!(resolved.mode, Mode::Strict);
        assert_eq!(InputValidation::resolve([]).mode, Mode::Warn);
    }
}
