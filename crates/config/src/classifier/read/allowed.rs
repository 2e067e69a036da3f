//! The classifiers that a server or tool allows to see its results.

use countersign_inspect::nearest_word;

use crate::document::brief;
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
            let known = reader.classifiers.iter().map(String::as_str);
            let listed = reader.classifiers.join(", ");
            let hint = match nearest_word(&name, known) {
                _ if listed.is_empty() => "describe it in \"classifiers\"".to_owned(),
                Some(meant) => format!("did you mean \"{meant}\"? there are: {listed}"),
                None => format!("there are: {listed}"),
            };
            reader.refuse(element, message, hint);
        }
        names.push(name);
    }
    *allowed = Some(names);
}
