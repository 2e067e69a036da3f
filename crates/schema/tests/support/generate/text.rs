//! One of the many texts of a value: escapes, white space, order of members, forms of numbers.

use std::fmt::Write;

use serde_json::Value;

use crate::entropy::Entropy;

/// Integers up to here are the same number when written with a fraction or an exponent and read as a double.
const EXACT: u64 = 1 << 53;

/// Writes a value in one of the ways it can be written.
pub(crate) fn text(value: &Value, entropy: &mut Entropy<'_>) -> String {
    let mut out = String::new();
    write_value(value, entropy, &mut out);
    out
}

fn write_value(value: &Value, entropy: &mut Entropy<'_>, out: &mut String) {
    match value {
        Value::Number(number) => write_number(number, entropy, out),
        Value::String(text) => write_string(text, entropy, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                space(entropy, out);
                write_value(item, entropy, out);
            }
            space(entropy, out);
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            let start = entropy.below(members.len());
            let rotated = members.iter().skip(start).chain(members.iter().take(start));
            for (index, (name, value)) in rotated.enumerate() {
                if index > 0 {
                    out.push(',');
                }
                space(entropy, out);
                write_string(name, entropy, out);
                out.push(':');
                write_value(value, entropy, out);
            }
            space(entropy, out);
            out.push('}');
        }
        simple => out.push_str(&simple.to_string()),
    }
}

fn space(entropy: &mut Entropy<'_>, out: &mut String) {
    if entropy.chance(3) {
        out.push_str(entropy.pick(&[" ", "\n", "\t", "\r\n"]));
    }
}

fn write_number(number: &serde_json::Number, entropy: &mut Entropy<'_>, out: &mut String) {
    let plain = number.to_string();
    let exact = number
        .as_i64()
        .is_some_and(|integer| integer.unsigned_abs() <= EXACT);
    let form = if exact { entropy.below(8) } else { 7 };
    let written = match form {
        0 => format!("{plain}.0"),
        1 => format!("{plain}e0"),
        2 => format!("{plain}.00E+0"),
        3 if plain != "0" => format!("{plain}0e-1"),
        _ => plain,
    };
    out.push_str(&written);
}

fn write_string(text: &str, entropy: &mut Entropy<'_>, out: &mut String) {
    let escapes = entropy.chance(15);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            '/' if escapes => out.push_str("\\/"),
            '\n' => out.push_str("\\n"),
            control if control < ' ' => write_escape(control, out),
            other if escapes && entropy.chance(60) => write_escape(other, out),
            other => out.push(other),
        }
    }
    out.push('"');
}

fn write_escape(character: char, out: &mut String) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        write!(out, "\\u{unit:04x}").expect("a string takes it");
    }
}
