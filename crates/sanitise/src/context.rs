//! The locale-safe rules: which hidden characters a script or an emoji sequence needs where they stand. Reads the
//! neighbours only; strict mode never asks. The match view ignores these characters whether kept or not.

use icu_properties::props::{
    CanonicalCombiningClass, ExtendedPictographic, GeneralCategory, GeneralCategoryGroup,
};
use icu_properties::{CodePointMapData, CodePointSetData};

const BLACK_FLAG: char = '\u{1F3F4}';
const CANCEL_TAG: char = '\u{E007F}';

/// A joiner stays between letters of one joining or Indic script, after a virama or an Arabic letter that asks for a
/// joining form, and between the parts of an emoji sequence.
pub(crate) fn keeps_joiner(joiner: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let joins = after.is_some_and(|after| {
        joining_script(before).is_some() && joining_script(before) == joining_script(after)
    });
    if joins || is_virama(before) {
        return true;
    }
    joiner == '\u{200D}'
        && (is_arabic_letter(before)
            || (is_emoji_part(before) && after.is_some_and(is_pictographic)))
}

/// A bidi mark stays beside a right-to-left letter, where blanks and punctuation do not count: keeping these in order
/// is what the marks are for.
pub(crate) fn keeps_bidi_mark(before: &str, after: &str) -> bool {
    fn near(mut chars: impl Iterator<Item = char>) -> bool {
        let letter = chars
            .by_ref()
            .take(4)
            .find(|c| *c != ' ' && !c.is_ascii_punctuation());
        letter.is_some_and(is_rtl)
    }
    near(before.chars().rev()) || near(after.chars())
}

/// A paragraph keeps its isolates if they are balanced and it has right-to-left text.
pub(crate) fn keeps_isolates(paragraph: &str) -> bool {
    let mut open = 0_u32;
    let mut rtl = false;
    for c in paragraph.chars() {
        match c {
            '\u{2066}'..='\u{2068}' => open += 1,
            '\u{2069}' => match open.checked_sub(1) {
                Some(rest) => open = rest,
                None => return false,
            },
            c => rtl |= is_rtl(c),
        }
    }
    rtl && open == 0
}

/// One selector stays after a base that takes it.
pub(crate) fn keeps_selector(selector: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(base) = before else { return false };
    match selector {
        '\u{FE0E}' | '\u{FE0F}' => {
            is_pictographic(base)
                || (matches!(base, '0'..='9' | '#' | '*') && after == Some('\u{20E3}'))
        }
        '\u{FE00}'
            if is_maths(base)
                || matches!(base, '\u{1000}'..='\u{109F}' | '\u{A840}'..='\u{A87F}') =>
        {
            true
        }
        '\u{FE00}' | '\u{FE01}'
            if matches!(base, '\u{3001}' | '\u{3002}' | '\u{FF01}'..='\u{FF1F}') =>
        {
            true
        }
        '\u{FE00}'..='\u{FE02}' | '\u{E0100}'..='\u{E011F}' => is_ideograph(base),
        '\u{180B}'..='\u{180F}' => {
            matches!(base, '\u{1820}'..='\u{18AA}' | '\u{11660}'..='\u{1167F}')
        }
        _ => false,
    }
}

/// A subdivision flag: black flag, a region and a subdivision in tag letters, a cancel tag.
pub(crate) fn keeps_tags(run: &str, before: Option<char>) -> bool {
    if before != Some(BLACK_FLAG) {
        return false;
    }
    let mut letters = 0;
    let mut tags = run.chars();
    for tag in tags.by_ref() {
        match tag {
            '\u{E0061}'..='\u{E007A}' => letters += 1,
            '\u{E0030}'..='\u{E0039}' if letters >= 2 => letters += 1,
            CANCEL_TAG => break,
            _ => return false,
        }
    }
    run.ends_with(CANCEL_TAG) && tags.next().is_none() && (3..=6).contains(&letters)
}

/// A jamo filler stays beside conjoining jamo; the others never do.
pub(crate) fn keeps_filler(filler: char, before: Option<char>, after: Option<char>) -> bool {
    matches!(filler, '\u{115F}' | '\u{1160}')
        && (before.is_some_and(is_jamo) || after.is_some_and(is_jamo))
}

/// Right-to-left letters, by block.
fn is_rtl(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
        && c != '\u{61C}'
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFD}')
}

fn is_jamo(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115E}' | '\u{1161}'..='\u{11FF}' | '\u{A960}'..='\u{A97C}' | '\u{D7B0}'..='\u{D7FB}')
}

fn is_maths(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{22FF}' | '\u{2A00}'..='\u{2AFF}')
}

fn is_virama(c: char) -> bool {
    CodePointMapData::<CanonicalCombiningClass>::new().get(c) == CanonicalCombiningClass::Virama
}

fn is_arabic_letter(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{64A}' | '\u{66E}'..='\u{6D3}' | '\u{750}'..='\u{77F}' | '\u{8A0}'..='\u{8C7}')
}

fn is_pictographic(c: char) -> bool {
    CodePointSetData::new::<ExtendedPictographic>().contains(c)
}

/// What may stand before a joiner in an emoji sequence. A kept selector or cancel tag has an emoji before it.
fn is_emoji_part(c: char) -> bool {
    is_pictographic(c) || matches!(c, '\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}' | CANCEL_TAG)
}

/// A number for the script of a letter or mark, if joiners have a meaning in that script. Blocks, not the Script
/// property: vowel signs of Arabic are `Inherited`.
fn joining_script(c: char) -> Option<u32> {
    let point = c as u32;
    let script = match point {
        0x600..=0x6FF | 0x750..=0x77F | 0x870..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFC => 1,
        0x700..=0x74F | 0x860..=0x86F => 2,
        0x7C0..=0x7FF => 3,
        0x840..=0x85F => 4,
        0x900..=0x97F | 0xA8E0..=0xA8FF | 0x1CD0..=0x1CFF => 5,
        // Bengali to Tibetan, one or two blocks of 128 each.
        0x980..=0xFFF => 0x100 + point / 0x80,
        0x1000..=0x109F | 0xA9E0..=0xA9FF | 0xAA60..=0xAA7F => 6,
        0x1780..=0x17FF => 7,
        0x1800..=0x18AF => 8,
        // Limbu to Lepcha, Saurashtra to Meetei Mayek.
        0x1900..=0x1CCF | 0xA800..=0xA8DF | 0xA900..=0xA9DF | 0xAA00..=0xAA5F | 0xAA80..=0xABFF => {
            0x200 + point / 0x20
        }
        // Right-to-left and Indic scripts of the supplementary plane.
        0x1_0A00..=0x1_0FFF | 0x1_1000..=0x1_1FFF | 0x1_E900..=0x1_E95F => 0x1000 + point / 0x80,
        _ => return None,
    };
    let letters = GeneralCategoryGroup::Letter.union(GeneralCategoryGroup::Mark);
    letters
        .contains(CodePointMapData::<GeneralCategory>::new().get(c))
        .then_some(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_stay_where_scripts_need_them() {
        assert!(keeps_joiner('\u{200C}', Some('ی'), Some('ش')));
        assert!(keeps_joiner('\u{200D}', Some('\u{94D}'), Some('ष')));
        assert!(
            keeps_joiner('\u{200D}', Some('\u{D4D}'), Some(' ')),
            "Malayalam chillu"
        );
        assert!(
            keeps_joiner('\u{200D}', Some('ه'), Some(' ')),
            "Hijri abbreviation"
        );
        assert!(keeps_joiner('\u{200D}', Some('👩'), Some('🔬')));
        assert!(!keeps_joiner('\u{200C}', Some('a'), Some('b')));
        assert!(!keeps_joiner('\u{200C}', Some('ی'), Some('b')));
        assert!(!keeps_joiner('\u{200D}', None, Some('🔬')));
    }

    #[test]
    fn bidi_marks_stay_near_right_to_left_letters() {
        assert!(keeps_bidi_mark("שלום ", "(C++)"));
        assert!(keeps_bidi_mark("C++)", " שלום"));
        assert!(!keeps_bidi_mark("plain ", "text"));
        assert!(!keeps_bidi_mark("שלום abc ", ""));
    }

    #[test]
    fn flags_are_short_and_closed() {
        let tag = |letters: &str| -> String {
            letters
                .chars()
                .map(|c| char::from_u32(0xE0000 + c as u32).unwrap())
                .collect()
        };
        let england = tag("gbeng") + "\u{E007F}";
        assert!(keeps_tags(&england, Some(BLACK_FLAG)));
        assert!(!keeps_tags(&england, Some('x')));
        assert!(!keeps_tags(&tag("gbeng"), Some(BLACK_FLAG)));
        assert!(!keeps_tags(
            &(tag("ignorerules") + "\u{E007F}"),
            Some(BLACK_FLAG)
        ));
        assert!(!keeps_tags(&(england.clone() + &england), Some(BLACK_FLAG)));
    }

    #[test]
    fn isolates_need_balance_and_a_right_to_left_letter() {
        assert!(keeps_isolates("שלום \u{2066}abc\u{2069}"));
        assert!(!keeps_isolates("plain \u{2066}abc\u{2069}"));
        assert!(!keeps_isolates("שלום \u{2066}abc"));
        assert!(!keeps_isolates("שלום \u{2069}\u{2066}"));
    }
}
