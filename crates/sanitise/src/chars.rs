//! One lookup per character: does it matter to the match view, to the hidden-character rules, or to neither?
//! The table is built once per process from Unicode data; it decides nothing about keeping or removing.

use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed};

use crate::hidden::Hidden;

/// How this crate treats a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharKind {
    /// Neither folded nor hidden.
    Inert,
    /// A nonspacing or enclosing mark.
    Mark,
    /// Folds to the text with this number; see [`Chars::folded`].
    Fold(u16),
    /// Hidden, blank or otherwise suspicious.
    Hidden(Hidden),
}

/// Characters below this are looked up, the few classes above it are ranges.
const TABLE: usize = 0x2_0000;
const INERT: u16 = 0;
const MARK: u16 = 1;
const HIDDEN: u16 = 2;
const FOLD: u16 = 64;

/// The lookup table and the texts that folding characters become.
#[derive(Debug)]
pub(crate) struct Chars {
    /// In place and of fixed size, so that a lookup is one comparison with a constant and one load.
    codes: [u16; TABLE],
    folds: Vec<Box<str>>,
}

/// Folds that NFKC does not make: the sentence-piece space, and the angles with a stroke, which decompose to an
/// angle and a mark.
const OWN_FOLDS: [(char, &str); 3] = [('\u{2581}', "_"), ('\u{226E}', "<"), ('\u{226F}', ">")];

impl Chars {
    /// The table of this process.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: LazyLock<Box<Chars>> = LazyLock::new(Chars::build);
        &SHARED
    }

    #[expect(clippy::large_stack_arrays, reason = "built once, into its box")]
    fn build() -> Box<Self> {
        let unicode = Unicode::new();
        let mut chars = Box::new(Self {
            codes: [INERT; TABLE],
            folds: Vec::new(),
        });
        let Self { codes, folds } = &mut *chars;
        for (point, code) in (0..).zip(codes.iter_mut()) {
            let Some(c) = char::from_u32(point).filter(|_| !is_bulk(point)) else {
                continue;
            };
            if let Some(hidden) = Hidden::from_code_point(point) {
                *code = HIDDEN + u16::from(hidden as u8);
            } else if unicode.is_mark(c) {
                *code = MARK;
            } else if let Some(text) = unicode.fold(c) {
                *code = u16::try_from(folds.len()).map_or(INERT, |index| FOLD + index);
                folds.push(text);
            }
        }
        chars
    }

    /// What a character is.
    #[inline]
    pub(crate) fn kind(&self, c: char) -> CharKind {
        match self.codes.get(c as usize) {
            Some(&INERT) => CharKind::Inert,
            Some(&MARK) => CharKind::Mark,
            Some(&code) if code >= FOLD => CharKind::Fold(code - FOLD),
            Some(&code) => Hidden::ALL
                .get(usize::from(code - HIDDEN))
                .map_or(CharKind::Inert, |hidden| CharKind::Hidden(*hidden)),
            None => above_table(c),
        }
    }

    /// The text a folding character becomes in the match view.
    pub(crate) fn folded(&self, fold: u16) -> &str {
        self.folds.get(usize::from(fold)).map_or("", AsRef::as_ref)
    }

    /// The match-view form of a short text: hidden characters and marks on ASCII dropped, the rest folded.
    pub(crate) fn fold_text(&self, text: &str) -> String {
        let mut folded = String::with_capacity(text.len());
        for c in text.chars() {
            match self.kind(c) {
                CharKind::Inert => folded.push(c),
                CharKind::Fold(fold) => folded.push_str(self.folded(fold)),
                CharKind::Hidden(Hidden::Blank) if c != '\u{2800}' => folded.push(' '),
                CharKind::Mark if !ends_in_ascii(&folded) => folded.push(c),
                CharKind::Mark | CharKind::Hidden(_) => {}
            }
        }
        folded
    }
}

#[cold]
fn above_table(c: char) -> CharKind {
    Hidden::from_code_point(c as u32).map_or(CharKind::Inert, CharKind::Hidden)
}

/// A mark on an ASCII base is ignored in the match view: no token has one, and accents get stripped downstream.
pub(crate) fn ends_in_ascii(text: &str) -> bool {
    text.as_bytes().last().is_some_and(u8::is_ascii)
}

/// Large ranges without a folding, marking or hidden character, skipped to keep the build short.
fn is_bulk(point: u32) -> bool {
    matches!(point, 0x20..=0x7E | 0x1200..=0x135C | 0x13A0..=0x167F | 0x3400..=0xA66E | 0xAC00..=0xDFFF
        | 0x1_2000..=0x1_342F | 0x1_3460..=0x1_60FF | 0x1_7000..=0x1_AFEF | 0x1_F300..=0x1_FBEF)
}

/// The Unicode data the table is built from.
struct Unicode {
    nfkc: ComposingNormalizerBorrowed<'static>,
    categories: CodePointMapDataBorrowed<'static, GeneralCategory>,
}

impl Unicode {
    fn new() -> Self {
        Self {
            nfkc: ComposingNormalizerBorrowed::new_nfkc(),
            categories: CodePointMapData::new(),
        }
    }

    fn is_mark(&self, c: char) -> bool {
        let marks = GeneralCategoryGroup::NonspacingMark.union(GeneralCategoryGroup::EnclosingMark);
        marks.contains(self.categories.get(c))
    }

    /// What NFKC makes of a letter with an accent stays a letter with an accent, so only real changes fold. Format
    /// characters with a shape of their own stay in the text, but no token has one and cleaners strip them.
    fn fold(&self, c: char) -> Option<Box<str>> {
        if let Some((_, text)) = OWN_FOLDS.iter().find(|(own, _)| *own == c) {
            return Some((*text).into());
        }
        match self.categories.get(c) {
            GeneralCategory::Format => return Some("".into()),
            GeneralCategory::Unassigned => return None,
            _ => {}
        }
        let mut bytes = [0; 4];
        let single: &str = c.encode_utf8(&mut bytes);
        if self.nfkc.is_normalized(single) {
            return None;
        }
        let mut folded = String::new();
        for c in self.nfkc.normalize(single).chars() {
            let ignored = self.is_mark(c) && ends_in_ascii(&folded);
            if !ignored && Hidden::from_code_point(c as u32).is_none() {
                folded.push(c);
            }
        }
        Some(folded.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_reach_ascii() {
        let chars = Chars::shared();
        assert_eq!(chars.fold_text("＜｜ｉｍ＿ｓｔａｒｔ｜＞"), "<|im_start|>");
        assert_eq!(
            chars.fold_text("<｜end▁of▁sentence｜>"),
            "<|end_of_sentence|>"
        );
        assert_eq!(
            chars.fold_text("\u{226E}|im\u{200B}_start|\u{226F}"),
            "<|im_start|>"
        );
        assert_eq!(chars.fold_text("𝐒𝐲𝐬𝐭𝐞𝐦："), "System:");
    }

    #[test]
    fn skipped_ranges_hold_nothing_of_interest() {
        let unicode = Unicode::new();
        for c in (0..0x2_0000)
            .filter(|point| is_bulk(*point))
            .filter_map(char::from_u32)
        {
            assert_eq!(Hidden::from_code_point(c as u32), None, "{c:?}");
            assert_eq!(unicode.fold(c), None, "{c:?}");
            assert!(!unicode.is_mark(c), "{c:?}");
        }
    }

    #[test]
    fn everything_that_normalises_to_ascii_folds_to_it() {
        use unicode_normalization::UnicodeNormalization;
        let chars = Chars::shared();
        for c in ('\u{80}'..=char::MAX).filter(|c| Hidden::from_code_point(*c as u32).is_none()) {
            let normal: String = std::iter::once(c).nfkc().collect();
            if normal.bytes().any(|byte| byte.is_ascii()) {
                assert_eq!(
                    chars.fold_text(&c.to_string()),
                    chars.fold_text(&normal),
                    "{c:?}"
                );
            }
        }
    }

    #[test]
    fn every_class_is_found_again() {
        let chars = Chars::shared();
        for point in 0..=0x10_FFFF {
            let Some(c) = char::from_u32(point) else {
                continue;
            };
            if let Some(hidden) = Hidden::from_code_point(point) {
                assert_eq!(chars.kind(c), CharKind::Hidden(hidden), "{point:x}");
            }
        }
    }
}
