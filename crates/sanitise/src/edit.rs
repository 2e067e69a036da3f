//! Changes to a text, collected first and applied once. An edit inside or over another one is absorbed, so nothing
//! of a hit is ever left standing between two replacements.

/// What stands in the place of a control token. No token has a parenthesis and no shape rule passes a space, so text
/// on both sides of it can never grow together to a token.
pub const TOKEN_PLACEHOLDER: &str = "(removed: control token)";

/// What stands in the place of a forged boundary.
pub const BOUNDARY_PLACEHOLDER: &str = "(removed: boundary)";

/// One change: a range of source bytes and what replaces it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) replacement: Replacement,
}

/// What replaces a stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replacement {
    Nothing,
    LineFeed,
    Token,
    Boundary,
}

impl Replacement {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::LineFeed => "\n",
            Self::Token => TOKEN_PLACEHOLDER,
            Self::Boundary => BOUNDARY_PLACEHOLDER,
        }
    }
}

/// The edits of one pass.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<Edit>);

impl Edits {
    /// Adds an edit. A removal directly behind another one extends it, so a long run of hidden characters is one edit.
    pub(crate) fn push(&mut self, edit: Edit) {
        match self.0.last_mut() {
            Some(last)
                if edit.replacement == Replacement::Nothing
                    && last.replacement == Replacement::Nothing
                    && last.end == edit.start =>
            {
                last.end = edit.end;
            }
            _ => self.0.push(edit),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The changed text.
    pub(crate) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|edit| edit.start);
        let mut changed = String::with_capacity(text.len());
        let mut done = 0;
        for edit in self.0 {
            if edit.start >= done {
                changed.push_str(text.get(done..edit.start).unwrap_or_default());
                changed.push_str(edit.replacement.text());
            }
            done = done.max(edit.end);
        }
        changed.push_str(text.get(done..).unwrap_or_default());
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_edits_leave_nothing_between() {
        let mut edits = Edits::default();
        edits.push(Edit {
            start: 4,
            end: 6,
            replacement: Replacement::Token,
        });
        edits.push(Edit {
            start: 1,
            end: 5,
            replacement: Replacement::Token,
        });
        edits.push(Edit {
            start: 2,
            end: 3,
            replacement: Replacement::Nothing,
        });
        assert_eq!(edits.apply("abcdefgh"), format!("a{TOKEN_PLACEHOLDER}gh"));
    }

    #[test]
    fn a_run_of_removals_is_one_edit() {
        let mut edits = Edits::default();
        for start in 1..1000 {
            edits.push(Edit {
                start,
                end: start + 1,
                replacement: Replacement::Nothing,
            });
        }
        assert_eq!(edits.0.len(), 1);
        assert_eq!(edits.apply(&"x".repeat(1001)), "xx");
    }
}
