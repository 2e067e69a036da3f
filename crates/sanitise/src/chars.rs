//! One lookup per character: does it matter to the match view, to the hidden-character rules, or to neither?
//! The table is built once per process from Unicode data; it decides nothing about keeping or removing.

use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

/// What a character is to this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Neither folded nor hidden.
    Inert,
    /// A nonspacing or enclosing mark.
    Mark,
    /// Folds to the text with this number; see [`Chars::folded`].
    Fold(u16),
    /// Hidden, blank or otherwise suspicious.
    Hidden(Hidden),
}

/// Classes of hidden characters; the name is the rule suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Hidden {
    Control,
    LineEnding,
    ZeroWidth,
    Joiner,
    BidiMark,
    BidiControl,
    BidiIsolate,
    DeprecatedFormat,
    InvisibleMath,
    Tag,
    VariationSelector,
    Filler,
    SoftHyphen,
    Interlinear,
    Format,
    Ignorable,
    Blank,
    Noncharacter,
    PrivateUse,
}

impl Hidden {
    const ALL: [Self; 19] = [
        Self::Control,
        Self::LineEnding,
        Self::ZeroWidth,
        Self::Joiner,
        Self::BidiMark,
        Self::BidiControl,
        Self::BidiIsolate,
        Self::DeprecatedFormat,
        Self::InvisibleMath,
        Self::Tag,
        Self::VariationSelector,
        Self::Filler,
        Self::SoftHyphen,
        Self::Interlinear,
        Self::Format,
        Self::Ignorable,
        Self::Blank,
        Self::Noncharacter,
        Self::PrivateUse,
    ];

    /// Suffix of the rule id.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::LineEnding => "line_ending",
            Self::ZeroWidth => "zero_width",
            Self::Joiner => "joiner",
            Self::BidiMark => "bidi_mark",
            Self::BidiControl => "bidi_control",
            Self::BidiIsolate => "bidi_isolate",
            Self::DeprecatedFormat => "deprecated_format",
            Self::InvisibleMath => "invisible_math",
            Self::Tag => "tag",
            Self::VariationSelector => "variation_selector",
            Self::Filler => "filler",
            Self::SoftHyphen => "soft_hyphen",
            Self::Interlinear => "interlinear",
            Self::Format => "format",
            Self::Ignorable => "ignorable",
            Self::Blank => "blank",
            Self::Noncharacter => "noncharacter",
            Self::PrivateUse => "private_use",
        }
    }

    /// Class of a character, by code point alone.
    fn of(point: u32) -> Option<Self> {
        Some(match point {
            0xD | 0x85 | 0x2028 | 0x2029 => Self::LineEnding,
            0..=8 | 0xB | 0xC | 0xE..=0x1F | 0x7F..=0x9F => Self::Control,
            0x200B | 0x2060 | 0xFEFF | 0x180E => Self::ZeroWidth,
            0x200C | 0x200D => Self::Joiner,
            0x200E | 0x200F | 0x061C => Self::BidiMark,
            0x202A..=0x202E => Self::BidiControl,
            0x2066..=0x2069 => Self::BidiIsolate,
            0x206A..=0x206F => Self::DeprecatedFormat,
            0x2061..=0x2064 => Self::InvisibleMath,
            0xE0000..=0xE007F => Self::Tag,
            0xFE00..=0xFE0F | 0xE0100..=0xE01EF | 0x180B..=0x180D | 0x180F => {
                Self::VariationSelector
            }
            0x115F | 0x1160 | 0x3164 | 0xFFA0 | 0x17B4 | 0x17B5 => Self::Filler,
            0xAD | 0x34F => Self::SoftHyphen,
            0xFFF9..=0xFFFC => Self::Interlinear,
            0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A => Self::Format,
            0x2065 | 0xFFF0..=0xFFF8 | 0xE0080..=0xE0FFF => Self::Ignorable,
            0xA0 | 0x1680 | 0x2000..=0x200A | 0x202F | 0x205F | 0x2800 | 0x3000 => Self::Blank,
            0xFDD0..=0xFDEF => Self::Noncharacter,
            _ if point & 0xFFFE == 0xFFFE => Self::Noncharacter,
            0xE000..=0xF8FF | 0xF_0000.. => Self::PrivateUse,
            _ => return None,
        })
    }
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

    fn build() -> Box<Self> {
        let nfkc = ComposingNormalizerBorrowed::new_nfkc();
        let categories = CodePointMapData::<GeneralCategory>::new();
        let marks = GeneralCategoryGroup::NonspacingMark.union(GeneralCategoryGroup::EnclosingMark);
        let mut chars = Box::new(Self {
            codes: [INERT; TABLE],
            folds: Vec::new(),
        });
        let Self { codes, folds } = &mut *chars;
        for (point, code) in (0..).zip(codes.iter_mut()) {
            let Some(c) = char::from_u32(point).filter(|_| !is_bulk(point)) else {
                continue;
            };
            if let Some(hidden) = Hidden::of(point) {
                *code = HIDDEN + u16::from(hidden as u8);
            } else if marks.contains(categories.get(c)) {
                *code = MARK;
            } else if let Some(text) = fold(c, &nfkc) {
                *code = u16::try_from(folds.len()).map_or(INERT, |index| FOLD + index);
                folds.push(text);
            }
        }
        chars
    }

    /// What a character is.
    #[inline]
    pub(crate) fn sort(&self, c: char) -> Sort {
        match self.codes.get(c as usize) {
            Some(&INERT) => Sort::Inert,
            Some(&MARK) => Sort::Mark,
            Some(&code) if code >= FOLD => Sort::Fold(code - FOLD),
            Some(&code) => Hidden::ALL
                .get(usize::from(code - HIDDEN))
                .map_or(Sort::Inert, |hidden| Sort::Hidden(*hidden)),
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
            match self.sort(c) {
                Sort::Inert => folded.push(c),
                Sort::Fold(fold) => folded.push_str(self.folded(fold)),
                Sort::Hidden(Hidden::Blank) if c != '\u{2800}' => folded.push(' '),
                Sort::Mark if !ends_in_ascii(&folded) => folded.push(c),
                Sort::Mark | Sort::Hidden(_) => {}
            }
        }
        folded
    }
}

#[cold]
fn above_table(c: char) -> Sort {
    Hidden::of(c as u32).map_or(Sort::Inert, Sort::Hidden)
}

/// A mark on an ASCII base is ignored in the match view: no token has one, and accents get stripped downstream.
pub(crate) fn ends_in_ascii(text: &str) -> bool {
    text.as_bytes().last().is_some_and(u8::is_ascii)
}

/// Large ranges without a folding, marking or hidden character, skipped to keep the build short.
fn is_bulk(point: u32) -> bool {
    matches!(point, 0x20..=0x7E | 0x3400..=0x9FFF | 0xAC00..=0xD7A3 | 0x1_2000..=0x1_2FFF | 0x1_7000..=0x1_8CFF)
}

/// What NFKC makes of a letter with an accent stays a letter with an accent, so only real changes fold.
fn fold(c: char, nfkc: &ComposingNormalizerBorrowed<'static>) -> Option<Box<str>> {
    if let Some((_, text)) = OWN_FOLDS.iter().find(|(own, _)| *own == c) {
        return Some((*text).into());
    }
    let mut bytes = [0; 4];
    let single: &str = c.encode_utf8(&mut bytes);
    (!nfkc.is_normalized(single)).then(|| {
        let normal = nfkc.normalize(single);
        let visible = normal.chars().filter(|c| Hidden::of(*c as u32).is_none());
        visible.collect::<String>().into()
    })
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
        let nfkc = ComposingNormalizerBorrowed::new_nfkc();
        let categories = CodePointMapData::<GeneralCategory>::new();
        let marks = GeneralCategoryGroup::NonspacingMark.union(GeneralCategoryGroup::EnclosingMark);
        for c in (0..0x2_0000)
            .filter(|point| is_bulk(*point))
            .filter_map(char::from_u32)
        {
            assert_eq!(Hidden::of(c as u32), None, "{c:?}");
            assert_eq!(fold(c, &nfkc), None, "{c:?}");
            assert!(!marks.contains(categories.get(c)), "{c:?}");
        }
    }

    #[test]
    fn every_class_is_found_again() {
        let chars = Chars::shared();
        for point in 0..=0x10_FFFF {
            let Some(c) = char::from_u32(point) else {
                continue;
            };
            if let Some(hidden) = Hidden::of(point) {
                assert_eq!(chars.sort(c), Sort::Hidden(hidden), "{point:x}");
            }
        }
    }
}
