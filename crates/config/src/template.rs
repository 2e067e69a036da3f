//! A file that says every default, for `config init`: in the order of the table, since people read it.

use super::keys::{Block, Form};
use super::model::ROOT;

/// A configuration file with every key and its default. Reading it gives what no file gives.
pub fn template() -> String {
    let mut text = String::new();
    write(ROOT, 0, &mut text);
    text.push('\n');
    text
}

/// Depth of recursion is that of the table.
fn write(block: &Block, depth: usize, text: &mut String) {
    let mut separator = "{\n";
    for key in block.keys {
        let default = key.default();
        let inner = match key.form {
            Form::Block(inner) => Some(inner),
            _ if default.is_empty() => continue,
            _ => None,
        };
        text.push_str(separator);
        indent(depth + 1, text);
        text.extend(["\"", key.name, "\": "]);
        match inner {
            Some(inner) => write(inner, depth + 1, text),
            None => text.push_str(&default),
        }
        separator = ",\n";
    }
    text.push('\n');
    indent(depth, text);
    text.push('}');
}

fn indent(depth: usize, text: &mut String) {
    text.extend(std::iter::repeat_n("  ", depth));
}
