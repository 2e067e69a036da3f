//! Random text, which must never panic.

use proptest::prelude::*;

use super::{ALL, has_format};

proptest! {
    #[test]
    fn any_text_has_a_verdict(text in any::<String>()) {
        for name in ALL {
            let _verdict = has_format(name, &text);
        }
    }

    #[test]
    fn near_misses_have_a_verdict(text in "(xn--)?[-0-9a-zA-ZTPZ:./@\\[\\]{}%~#?*,+\"é\\\\]{0,70}") {
        for name in ALL {
            let _verdict = has_format(name, &text);
        }
    }

    #[test]
    fn every_uri_is_an_iri(text in "[a-c:/?#%0-2@\\[\\]é. ]{0,14}") {
        let holds = |name: &str| has_format(name, &text);
        prop_assert!(!holds("uri") || holds("iri") && holds("uri-reference"));
        prop_assert!(!holds("uri-reference") || holds("iri-reference"));
        prop_assert!(!holds("iri") || holds("iri-reference"));
    }
}
