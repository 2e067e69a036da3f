//! The lists of prompts, resources and templates that servers last gave, as digests, so that a list is recorded when it
//! changed and only then. Tools are not here: the catalogue compares them one by one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use countersign_dial::lock;
use countersign_inspect::Digest;

use countersign_wire::Method;

/// Pages remembered of one list. A server chooses its cursors, so their number has a bound.
const MAX_PAGES: usize = 256;

/// Digests of pages by the digest of the cursor they were asked for with.
type Pages = HashMap<[u8; 32], [u8; 32]>;

/// What servers last listed.
#[derive(Debug, Default)]
pub(crate) struct ListDigests {
    known: Mutex<BTreeMap<(String, &'static str), Pages>>,
}

impl ListDigests {
    /// Remembers a page of a list and says whether it differs from the one before. A page that was not known does. Once too
    /// many pages of a list are known, all of them are forgotten.
    pub(crate) fn is_changed(
        &self,
        server: &str,
        method: Method,
        cursor: &[u8],
        page: Digest,
    ) -> bool {
        let mut known = lock(&self.known);
        let pages = known
            .entry((server.to_owned(), method.as_str()))
            .or_default();
        let cursor = *Digest::sha256(cursor).as_bytes();
        if pages.len() >= MAX_PAGES && !pages.contains_key(&cursor) {
            pages.clear();
        }
        let page = *page.as_bytes();
        pages.insert(cursor, page) != Some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_news_once_and_again_when_it_changed() {
        let lists = ListDigests::default();
        let is_news = |server, method, cursor: &str, page: &str| {
            lists.is_changed(
                server,
                method,
                cursor.as_bytes(),
                Digest::sha256(page.as_bytes()),
            )
        };
        assert!(is_news("a", Method::ListPrompts, "", "one"));
        assert!(!is_news("a", Method::ListPrompts, "", "one"));
        assert!(is_news("a", Method::ListPrompts, "2", "one"));
        assert!(is_news("a", Method::ListResources, "", "one"));
        assert!(is_news("b", Method::ListPrompts, "", "one"));
        assert!(is_news("a", Method::ListPrompts, "", "two"));
        assert!(is_news("a", Method::ListPrompts, "", "one"));
    }

    #[test]
    fn a_server_with_endless_cursors_takes_bounded_room() {
        let lists = ListDigests::default();
        for number in 0..3 * MAX_PAGES {
            let cursor = number.to_string();
            lists.is_changed(
                "a",
                Method::ListPrompts,
                cursor.as_bytes(),
                Digest::sha256(b"page"),
            );
        }
        let known = lists.known.lock().expect("not poisoned");
        assert!(known.values().all(|pages| pages.len() <= MAX_PAGES));
    }
}
