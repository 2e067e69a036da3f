//! Looks up what `\p{…}` names.
//!
//! The tables are those of `regex_syntax`, reached through a hand-made syntax node, so no pattern text ever meets that
//! crate's parser. Case and underscores are forgiven, the form is not: a script needs `Script=`, as in ECMA-262.

use regex_syntax::ast::{Ast, ClassUnicode, ClassUnicodeKind, ClassUnicodeOpKind, Position, Span};
use regex_syntax::hir::{Class, HirKind, translate::TranslatorBuilder};

use super::set::CodeSet;

/// The set named between the braces, or `None` when there is no such property.
pub(super) fn lookup(inside: &str) -> Option<CodeSet> {
    let (name, value) = match inside.split_once('=') {
        Some((name, value)) => (Some(name), value),
        None => (None, inside),
    };
    if !is_word(value) {
        return None;
    }
    match name {
        Some("General_Category" | "gc") => valued("gc", value),
        Some("Script" | "sc") => valued("sc", value),
        Some("Script_Extensions" | "scx") => valued("scx", value),
        Some(_) => None,
        None => valued("gc", value).or_else(|| binary(value)),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn valued(name: &str, value: &str) -> Option<CodeSet> {
    translate(ClassUnicodeKind::NamedValue {
        op: ClassUnicodeOpKind::Equal,
        name: name.to_owned(),
        value: value.to_owned(),
    })
}

/// A bare name: the tables would take it for a script too, which ECMA-262 does not.
fn binary(name: &str) -> Option<CodeSet> {
    match valued("sc", name) {
        Some(_) => None,
        None => translate(ClassUnicodeKind::Named(name.to_owned())),
    }
}

fn translate(kind: ClassUnicodeKind) -> Option<CodeSet> {
    let nowhere = Span::splat(Position::new(0, 1, 1));
    let ast = Ast::class_unicode(ClassUnicode {
        span: nowhere,
        negated: false,
        kind,
    });
    let hir = TranslatorBuilder::new().build().translate("", &ast).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(CodeSet::from_class(&class)),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            Some(CodeSet::single(u32::from(text.chars().next()?)))
        }
        _ => None,
    }
}
