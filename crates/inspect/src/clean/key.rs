//! Names of members with something in them. A name is cleaned as text is, and never becomes a name that a reader knows:
//! without its hidden characters, `"structured\u200bContent"` would be a second `structuredContent` that was not checked.

use countersign_sanitise::{Action, Cleaned};

/// Marks a name that lost characters and has no placeholder to show it.
const MARK: &str = " (cleaned)";

/// The name that takes the place of a cleaned one.
pub(crate) fn renamed(cleaned: &Cleaned<'_>) -> String {
    let replaced = |finding: &countersign_sanitise::Finding| finding.action == Action::Replaced;
    let mark = if cleaned.findings.iter().any(replaced) {
        ""
    } else {
        MARK
    };
    format!("{}{mark}", cleaned.text)
}

#[cfg(test)]
mod tests {
    use countersign_sanitise::{Sanitiser, Settings};

    use super::*;

    #[test]
    fn a_cleaned_name_is_none_that_a_reader_knows() {
        let sanitiser = Sanitiser::new(Settings::default()).unwrap();
        let name = |text: &str| renamed(&sanitiser.clean(text));
        assert_eq!(name("meth\u{200b}od"), "method (cleaned)");
        assert_eq!(name("a<|im_end|>\u{200b}b"), "a(removed: control token)b");
    }
}
