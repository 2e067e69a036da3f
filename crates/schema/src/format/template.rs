//! `uri-template` (RFC 6570, section 2, with the erratum that allows an apostrophe in literals).
//! Templates are checked, never expanded; reserved operators pass because the grammar has them.

use super::uri::{is_private, is_ucschar, skip_triplet};

/// Whether `text` is a URI template.
pub(super) fn is_template(text: &str) -> bool {
    let mut rest = text;
    loop {
        let (literal, tail) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
        if !is_literal(literal) {
            return false;
        }
        let Some(tail) = tail.strip_prefix('{') else {
            return true;
        };
        let Some((expression, tail)) = tail.split_once('}') else {
            return false;
        };
        if !is_expression(expression) {
            return false;
        }
        rest = tail;
    }
}

fn is_literal(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let fine = match c {
            '%' => skip_triplet(&mut chars),
            '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => false,
            '!'..='~' => true,
            c => is_ucschar(c) || is_private(c),
        };
        if !fine {
            return false;
        }
    }
    true
}

fn is_expression(text: &str) -> bool {
    let operators = ['+', '#', '.', '/', ';', '?', '&', '=', ',', '!', '@', '|'];
    let list = text.strip_prefix(operators).unwrap_or(text);
    list.split(',').all(is_variable)
}

/// A name with an optional prefix length or explode modifier.
fn is_variable(text: &str) -> bool {
    if let Some(name) = text.strip_suffix('*') {
        return is_name(name);
    }
    match text.split_once(':') {
        Some((name, length)) => is_name(name) && is_prefix_length(length),
        None => is_name(text),
    }
}

fn is_prefix_length(text: &str) -> bool {
    (1..=4).contains(&text.len())
        && !text.starts_with('0')
        && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name(text: &str) -> bool {
    text.split('.').all(|part| {
        let mut chars = part.chars();
        !part.is_empty()
            && std::iter::from_fn(|| {
                chars.next().map(|c| match c {
                    '%' => skip_triplet(&mut chars),
                    c => c.is_ascii_alphanumeric() || c == '_',
                })
            })
            .all(|fine| fine)
    })
}
