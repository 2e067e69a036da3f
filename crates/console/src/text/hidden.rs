//! Which characters a reader cannot see, and what each is called.

use std::borrow::Cow;

/// The C0 controls, in their order.
const CONTROLS: [&str; 32] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR",
    "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC",
    "FS", "GS", "RS", "US",
];

/// What a hidden character is called; nothing for one that is seen. New lines and tabs are seen.
pub(super) fn name(c: char) -> Option<Cow<'static, str>> {
    if matches!(c, ' '..='~' | '\n' | '\t') {
        return None;
    }
    let code = u32::from(c);
    if let Some(name) = direction(c).or_else(|| width(c)) {
        return Some(name.into());
    }
    match c {
        '\0'..='\x1f' => {
            let name = usize::try_from(code).ok().and_then(|at| CONTROLS.get(at));
            Some(name.copied().unwrap_or("control").into())
        }
        '\x7f' => Some("DEL".into()),
        '\u{80}'..='\u{9f}' => Some(format!("C1 {code:02X}").into()),
        '\u{e0020}'..='\u{e007e}' => {
            let shown = char::from_u32(code - 0xe0000).filter(char::is_ascii_alphanumeric);
            Some(match shown {
                Some(shown) => format!("tag {shown}").into(),
                None => format!("tag {:02X}", code - 0xe0000).into(),
            })
        }
        '\u{e0000}'..='\u{e0fff}' => Some("tag".into()),
        '\u{fe00}'..='\u{fe0f}' => Some(format!("VS{}", code - 0xfe00 + 1).into()),
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => Some("private use".into()),
        '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' => Some("special".into()),
        _ => None,
    }
}

/// Characters that turn the direction of a line.
fn direction(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{61c}' => "ALM",
        '\u{200e}' => "LRM",
        '\u{200f}' => "RLM",
        '\u{202a}' => "LRE",
        '\u{202b}' => "RLE",
        '\u{202c}' => "PDF",
        '\u{202d}' => "LRO",
        '\u{202e}' => "RLO",
        '\u{2066}' => "LRI",
        '\u{2067}' => "RLI",
        '\u{2068}' => "FSI",
        '\u{2069}' => "PDI",
        _ => return None,
    })
}

/// Characters without a width, or that look like a space and are none.
fn width(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{a0}' => "NBSP",
        '\u{ad}' => "SHY",
        '\u{34f}' => "CGJ",
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => "filler",
        '\u{17b4}' | '\u{17b5}' => "KIV",
        '\u{180b}'..='\u{180f}' => "MVS",
        '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{2800}' => "space",
        '\u{200b}' => "ZWSP",
        '\u{200c}' => "ZWNJ",
        '\u{200d}' => "ZWJ",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        '\u{2060}' => "WJ",
        '\u{feff}' => "BOM",
        '\u{2061}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{1bca0}'..='\u{1bca3}' => "format",
        _ => return None,
    })
}
