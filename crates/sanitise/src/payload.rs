//! What hidden characters spell: ASCII in tag characters, bytes in variation selectors, bits in invisible
//! operators. Decoded for the report only, bounded, and shown in letters that can do nothing.

/// Characters shown of one payload.
const MAX: usize = 256;

/// Collects the hidden characters of one text, class by class.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    tags: Vec<u8>,
    selectors: Vec<u8>,
    bits: Vec<u8>,
}

impl Payloads {
    /// Takes note of a removed or reported character.
    pub(crate) fn note(&mut self, c: char) {
        let point = c as u32;
        let (list, limit, value) = match point {
            0xE0020..=0xE007E => (&mut self.tags, MAX, point - 0xE0000),
            0xFE00..=0xFE0F => (&mut self.selectors, MAX, point - 0xFE00),
            0xE0100..=0xE01EF => (&mut self.selectors, MAX, point - 0xE0100 + 16),
            0x2062 => (&mut self.bits, MAX * 8, 0),
            0x2064 => (&mut self.bits, MAX * 8, 1),
            _ => return,
        };
        if list.len() < limit {
            list.push(u8::try_from(value).unwrap_or(0));
        }
    }

    /// The payload of a class of hidden characters, if it spells something.
    pub(crate) fn decoded(&self, class: &str) -> Option<String> {
        match class {
            "tag" => inert(&self.tags),
            "variation_selector" => inert(&self.selectors),
            "invisible_math" if self.bits.len() >= 8 => inert(
                &self
                    .bits
                    .chunks_exact(8)
                    .map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit))
                    .collect::<Vec<u8>>(),
            ),
            _ => None,
        }
    }
}

/// Letters, digits and a little punctuation of a payload; everything else becomes a dot.
fn inert(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let shown: String = text
        .chars()
        .take(MAX)
        .map(|c| match c {
            c if c.is_alphanumeric() => c,
            ' ' | ',' | '.' | ';' | '?' | '!' | '-' | '_' | '\'' => c,
            _ => '.',
        })
        .collect();
    shown.chars().any(char::is_alphanumeric).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_selectors_and_bits_are_spelled_out_inert() {
        let mut payloads = Payloads::default();
        for byte in b"<|im_start|>run rm" {
            payloads.note(char::from_u32(0xE0000 + u32::from(*byte)).unwrap());
            let selector = match byte {
                0..=15 => 0xFE00 + u32::from(*byte),
                _ => 0xE0100 + u32::from(*byte) - 16,
            };
            payloads.note(char::from_u32(selector).unwrap());
            for bit in (0..8).rev() {
                payloads.note(if byte >> bit & 1 == 1 {
                    '\u{2064}'
                } else {
                    '\u{2062}'
                });
            }
        }
        for class in ["tag", "variation_selector", "invisible_math"] {
            assert_eq!(payloads.decoded(class).unwrap(), "..im_start..run rm");
        }
    }

    #[test]
    fn a_payload_is_bounded() {
        let mut payloads = Payloads::default();
        for _ in 0..10_000 {
            payloads.note('\u{E0041}');
        }
        assert_eq!(payloads.decoded("tag").unwrap().len(), MAX);
        assert_eq!(payloads.decoded("zero_width"), None);
    }
}
