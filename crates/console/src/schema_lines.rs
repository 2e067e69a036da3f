//! The declared schema of a tool, line by line, with the places that the findings of a record point at. The server wrote the
//! schema: it is read without recursion, and of a long one only the lines around the marked ones are shown.

use std::collections::BTreeMap;

use countersign_tape::{Kind, Limits, Tape};

use crate::page::{MarkedSchema, SchemaLine};
use crate::text::Text;

/// A larger declaration is not shown.
const MAX_BYTES: usize = 1 << 20;
/// A schema of no more lines is shown as a whole.
const MAX_WHOLE: usize = 60;
/// Lines before and after a marked one.
const AROUND: usize = 6;
/// Lines that are shown at most.
const MAX_LINES: usize = 400;
/// A line is cut after this number of characters.
const MAX_CHARS: usize = 200;

impl MarkedSchema {
    /// The schema in a member of a tool's declaration. `pointers` are the places in it that findings point at, with the numbers
    /// of the findings; nothing if there are none, or if the declaration is too large or no JSON.
    pub fn new(
        title: String,
        declaration: &[u8],
        member: &str,
        pointers: &BTreeMap<&str, Vec<usize>>,
    ) -> Option<Self> {
        let lines = lines(declaration, member, pointers)?;
        Some(Self { title, lines })
    }
}

/// The lines of a member of a declaration; nothing if there is nothing to mark in it.
fn lines(
    declaration: &[u8],
    member: &str,
    pointers: &BTreeMap<&str, Vec<usize>>,
) -> Option<Vec<SchemaLine>> {
    if pointers.is_empty() || declaration.len() > MAX_BYTES {
        return None;
    }
    let tape = Tape::parse(declaration, &Limits::default()).ok()?;
    let schema = tape.get(0, member)?;
    let mut printer = Printer {
        tape: &tape,
        pointers,
        pointer: String::new(),
        open: Vec::new(),
        line: String::new(),
        marks: Vec::new(),
        lines: Vec::new(),
    };
    printer.print(schema);
    Some(excerpt(printer.lines))
}

/// An object or array that is being written.
struct OpenContainer {
    is_object: bool,
    /// The node after its last one.
    end: u32,
    /// The next element of an array.
    index: usize,
    /// How much of the pointer is its own.
    pointer: usize,
}

/// Writes a value with one member or element in each line.
struct Printer<'a> {
    tape: &'a Tape<'a>,
    pointers: &'a BTreeMap<&'a str, Vec<usize>>,
    pointer: String,
    open: Vec<OpenContainer>,
    line: String,
    marks: Vec<usize>,
    lines: Vec<SchemaLine>,
}

impl Printer<'_> {
    fn print(&mut self, root: u32) {
        let (mut at, end) = (root, self.tape.index_after(root));
        while at < end {
            if self.tape.node(at).kind() == Kind::Key {
                self.name(at);
                at += 1;
            } else {
                self.count();
            }
            self.value(at);
            at += 1;
            self.close(at);
        }
    }

    /// The name of a member, which ends the pointer to its value.
    fn name(&mut self, key: u32) {
        if let Some(object) = self.open.last() {
            self.pointer.truncate(object.pointer);
        }
        let name = self.tape.string(key);
        self.pointer.push('/');
        self.pointer
            .push_str(&name.replace('~', "~0").replace('/', "~1"));
        self.line.push_str(self.tape.raw(key));
        self.line.push_str(": ");
    }

    /// The number of an element, which ends the pointer to it. The root has none.
    fn count(&mut self) {
        if let Some(array) = self.open.last_mut().filter(|open| !open.is_object) {
            self.pointer.truncate(array.pointer);
            self.pointer.extend(["/", &array.index.to_string()]);
            array.index += 1;
        }
    }

    fn value(&mut self, at: u32) {
        if let Some(numbers) = self.pointers.get(self.pointer.as_str()) {
            self.marks.extend(numbers);
        }
        let end = self.tape.index_after(at);
        let kind = self.tape.node(at).kind();
        let brackets = match kind {
            Kind::Object => Some(("{", "{}")),
            Kind::Array => Some(("[", "[]")),
            _ => None,
        };
        match brackets {
            Some((open, _)) if end > at + 1 => {
                self.line.push_str(open);
                self.end_line();
                self.open.push(OpenContainer {
                    is_object: kind == Kind::Object,
                    end,
                    index: 0,
                    pointer: self.pointer.len(),
                });
            }
            Some((_, empty)) => {
                self.line.push_str(empty);
                self.comma(end);
            }
            None => {
                self.line.push_str(self.tape.raw(at));
                self.comma(end);
            }
        }
    }

    /// Closes everything that ends before the node `at`.
    fn close(&mut self, at: u32) {
        while let Some(open) = self.open.pop_if(|open| open.end <= at) {
            self.line.push(if open.is_object { '}' } else { ']' });
            self.comma(open.end);
        }
    }

    /// Ends the line of a value, with a comma if another one follows in the same container.
    fn comma(&mut self, next: u32) {
        if self.open.last().is_some_and(|open| open.end > next) {
            self.line.push(',');
        }
        self.end_line();
    }

    fn end_line(&mut self) {
        let depth = self.open.len();
        let text: String = self.line.chars().take(MAX_CHARS).collect();
        self.line.clear();
        self.lines.push(SchemaLine {
            text: Text::new(format!("{}{text}", "  ".repeat(depth.min(40)))),
            findings: std::mem::take(&mut self.marks),
        });
    }
}

/// All lines of a short schema; of a long one those around the marked ones, with an empty line for those left out.
fn excerpt(lines: Vec<SchemaLine>) -> Vec<SchemaLine> {
    if lines.len() <= MAX_WHOLE {
        return lines;
    }
    let marked = lines.iter().enumerate();
    let marked: Vec<usize> = marked
        .filter(|(_, line)| !line.findings.is_empty())
        .map(|(at, _)| at)
        .collect();
    let mut shown: Vec<SchemaLine> = Vec::new();
    let mut next_mark = marked.iter().peekable();
    let mut is_gap = false;
    for (at, line) in lines.into_iter().enumerate() {
        while next_mark.next_if(|mark| **mark + AROUND < at).is_some() {}
        let is_near = next_mark.peek().is_some_and(|mark| at + AROUND >= **mark);
        if is_near && shown.len() < MAX_LINES {
            shown.push(line);
        } else if !is_gap {
            shown.push(SchemaLine::default());
        }
        is_gap = !is_near;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(declaration: &str, pointers: &[&str]) -> Vec<(String, Vec<usize>)> {
        let numbers = pointers.iter().zip(1..);
        let pointers = numbers
            .map(|(pointer, number)| (*pointer, vec![number]))
            .collect();
        let lines = lines(declaration.as_bytes(), "outputSchema", &pointers).expect("lines");
        let lines = lines.into_iter();
        lines
            .map(|line| (line.text.raw().to_owned(), line.findings))
            .collect()
    }

    #[test]
    fn a_schema_is_written_line_by_line_with_its_marks() {
        let declared = r#"{"name":"t","outputSchema":{"type":"object","required":["a"],"properties":{"a/b":{"enum":[1,2.0]},"c":{}},"x":[]}}"#;
        let shown = shown(declared, &["/properties/a~1b/enum", "/required", "/gone"]);
        let texts: Vec<&str> = shown.iter().map(|(text, _)| text.as_str()).collect();
        insta::assert_snapshot!(texts.join("\n"), @r#"
        {
          "type": "object",
          "required": [
            "a"
          ],
          "properties": {
            "a/b": {
              "enum": [
                1,
                2.0
              ]
            },
            "c": {}
          },
          "x": []
        }
        "#);
        let marked: Vec<&(String, Vec<usize>)> = shown
            .iter()
            .filter(|(_, marks)| !marks.is_empty())
            .collect();
        assert_eq!(marked.len(), 2);
        assert!(marked[0].0.contains("required") && marked[0].1 == [2]);
        assert!(marked[1].0.contains("enum") && marked[1].1 == [1]);
    }

    #[test]
    fn of_a_long_schema_only_the_lines_around_a_mark_are_shown() {
        let properties: Vec<String> = (0..1000)
            .map(|n| format!(r#""p{n}":{{"type":"string"}}"#))
            .collect();
        let declared = format!(
            r#"{{"outputSchema":{{"properties":{{{}}}}}}}"#,
            properties.join(",")
        );
        let shown = shown(&declared, &["/properties/p500/type"]);
        assert_eq!(shown.len(), 2 * AROUND + 1 + 2, "{shown:?}");
        assert_eq!(shown[0].0, "");
        let marked = shown.iter().find(|(_, marks)| marks == &[1]);
        assert_eq!(marked.expect("a mark").0, "      \"type\": \"string\"");
    }

    #[test]
    fn a_deep_schema_and_the_root_are_written_without_recursion() {
        let deep = format!("{}1{}", r#"{"not":"#.repeat(900), "}".repeat(900));
        let shown = shown(&format!(r#"{{"outputSchema":{deep}}}"#), &[""]);
        assert_eq!(shown[0], ("{".to_owned(), vec![1]));
        assert!(shown.len() < 20);
        let pointers = BTreeMap::from([("", vec![1])]);
        assert!(lines(br#"{"name":"t"}"#, "outputSchema", &pointers).is_none());
        assert!(lines(b"nonsense", "outputSchema", &pointers).is_none());
    }
}
