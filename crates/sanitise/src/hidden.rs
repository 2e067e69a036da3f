//! Classes of characters a reader does not see, or sees as something else. Decided by code point alone: `walk`
//! decides by the surrounding text whether one of them is kept.

use crate::named_enum::named_enum;

named_enum! {
    /// Classes of hidden characters; the name is the rule suffix.
    #[repr(u8)]
    pub(crate) enum Hidden {
        Control = "control",
        LineEnding = "line_ending",
        ZeroWidth = "zero_width",
        Joiner = "joiner",
        BidiMark = "bidi_mark",
        BidiControl = "bidi_control",
        BidiIsolate = "bidi_isolate",
        DeprecatedFormat = "deprecated_format",
        InvisibleMath = "invisible_math",
        Tag = "tag",
        VariationSelector = "variation_selector",
        Filler = "filler",
        SoftHyphen = "soft_hyphen",
        Interlinear = "interlinear",
        Format = "format",
        Ignorable = "ignorable",
        Blank = "blank",
        Noncharacter = "noncharacter",
        PrivateUse = "private_use",
    }
}

impl Hidden {
    /// Class of a character, by code point alone.
    pub(crate) fn from_code_point(point: u32) -> Option<Self> {
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
