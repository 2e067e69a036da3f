//! The classifiers that a server or tool allows to see its results.

use crate::document::{brief, suggestion};
use crate::reader::Reader;

/// The classifiers that a server or tool names in `classify`. Each has to be described in `classifiers`.
pub(crate) fn read_allowed(
    reader: &mut Reader<'_, '_>,
    node: u32,
    allowed: &mut Option<Vec<String>>,
) {
    let elements: Vec<_> = reader.tape().children(node).collect();
    let mut names = Vec::new();
    for element in elements {
        let name = reader.text(element);
        if !reader.classifiers.contains(&name) {
            let message = format!("there is no classifier \"{}\"", brief(&name));
            let known: Vec<_> = reader.classifiers.iter().map(String::as_str).collect();
            let hint = match known.as_slice() {
                [] => "describe it in \"classifiers\"".to_owned(),
                known => suggestion(&name, known, "there are"),
            };
            reader.refuse(element, message, hint);
        }
        names.push(name);
    }
    *allowed = Some(names);
}
