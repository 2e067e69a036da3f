//! A reader of JSON text that shares no code with the product and hides nothing: every member is visited, repeated keys
//! too, at any depth. It is the eye of the law in `law.rs`.

mod reader;

use reader::Reader;

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// A string of a document, decoded, and where it stands.
#[derive(Debug)]
pub(crate) struct Visit<'a> {
    pub(crate) path: &'a [Step],
    pub(crate) is_key: bool,
    pub(crate) text: &'a str,
}

/// What a document is not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) usize);

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    /// A value, or the end of an empty array.
    FirstItem,
    /// A key, or the end of an empty object.
    FirstKey,
    Key,
    /// A comma, or the end of what is open.
    Rest,
}

/// Shows every key and every string value of a document.
pub(crate) fn visit(json: &[u8], mut show: impl FnMut(&Visit<'_>)) -> Result<(), Malformed> {
    let mut reader = Reader::new(json);
    // Per open value: true for an object; its step stands at the same depth of the path.
    let mut open: Vec<bool> = Vec::new();
    let mut path: Vec<Step> = Vec::new();
    let mut next = Next::Value;
    loop {
        reader.blanks();
        let byte = reader.peek();
        next = match (next, byte) {
            (Next::FirstItem, Some(b']')) | (Next::FirstKey, Some(b'}')) => {
                reader.at += 1;
                path.pop();
                open.pop();
                Next::Rest
            }
            (Next::FirstKey | Next::Key, Some(b'"')) => {
                let text = reader.string()?;
                path.pop();
                show(&Visit {
                    path: &path,
                    is_key: true,
                    text: &text,
                });
                path.push(Step::Key(text));
                reader.blanks();
                reader.expect(b':')?;
                Next::Value
            }
            (Next::Value | Next::FirstItem, Some(b'{')) => {
                reader.at += 1;
                open.push(true);
                path.push(Step::Key(String::new()));
                Next::FirstKey
            }
            (Next::Value | Next::FirstItem, Some(b'[')) => {
                reader.at += 1;
                open.push(false);
                path.push(Step::Index(0));
                Next::FirstItem
            }
            (Next::Value | Next::FirstItem, Some(b'"')) => {
                let text = reader.string()?;
                show(&Visit {
                    path: &path,
                    is_key: false,
                    text: &text,
                });
                Next::Rest
            }
            (Next::Value | Next::FirstItem, Some(_)) => {
                reader.scalar()?;
                Next::Rest
            }
            (Next::Rest, None) if open.is_empty() => return Ok(()),
            (Next::Rest, Some(b',')) if !open.is_empty() => {
                reader.at += 1;
                match path.last_mut() {
                    Some(Step::Index(index)) => {
                        *index += 1;
                        Next::Value
                    }
                    _ => Next::Key,
                }
            }
            (Next::Rest, Some(b']')) if open.last() == Some(&false) => {
                reader.at += 1;
                path.pop();
                open.pop();
                Next::Rest
            }
            (Next::Rest, Some(b'}')) if open.last() == Some(&true) => {
                reader.at += 1;
                path.pop();
                open.pop();
                Next::Rest
            }
            _ => return Err(Malformed(reader.at)),
        };
    }
}

/// The members of an object, in order, keys decoded and values as they are written; nothing if it is no object.
pub(crate) fn members(json: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let mut reader = Reader::new(json);
    reader.blanks();
    reader.expect(b'{').ok()?;
    let mut members = Vec::new();
    loop {
        reader.blanks();
        if reader.peek()? == b'}' {
            return Some(members);
        }
        let key = reader.string().ok()?;
        reader.blanks();
        reader.expect(b':').ok()?;
        reader.blanks();
        members.push((key, reader.value()?));
        reader.blanks();
        if reader.peek()? == b',' {
            reader.at += 1;
        }
    }
}

/// The elements of an array as they are written; nothing if it is none.
pub(crate) fn elements(json: &[u8]) -> Option<Vec<&[u8]>> {
    let mut reader = Reader::new(json);
    reader.blanks();
    reader.expect(b'[').ok()?;
    let mut elements = Vec::new();
    loop {
        reader.blanks();
        match reader.peek()? {
            b']' => return Some(elements),
            b',' => reader.at += 1,
            _ => elements.push(reader.value()?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> Result<Vec<String>, Malformed> {
        let mut all = Vec::new();
        visit(json.as_bytes(), |it| {
            let path: Vec<String> = it
                .path
                .iter()
                .map(|step| match step {
                    Step::Key(key) => key.clone(),
                    Step::Index(index) => index.to_string(),
                })
                .collect();
            let mark = if it.is_key { "#" } else { "=" };
            all.push(format!("/{}{mark}{}", path.join("/"), it.text));
        })?;
        Ok(all)
    }

    #[test]
    fn every_string_is_seen_where_it_stands() {
        let all =
            shown(r#" {"a":["x",{"b\u0041":"\ud83d\ude00"}],"a":"y","c":[],"d":{},"e":1e999} "#);
        let expected = [
            "/#a",
            "/a/0=x",
            "/a/1#bA",
            "/a/1/bA=\u{1F600}",
            "/#a",
            "/a=y",
            "/#c",
            "/#d",
            "/#e",
        ];
        assert_eq!(all.expect("JSON"), expected);
        assert_eq!(shown(r#""x""#).expect("JSON"), ["/=x"]);
    }

    #[test]
    fn what_is_no_json_is_not_read() {
        for bad in [
            "",
            "{",
            "[1",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":1,}",
            "[,]",
            "tru",
            "01",
            "{} {}",
            "\"\u{1}\"",
            "\"\\x\"",
        ] {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn repeated_members_are_all_there() {
        let all = members(br#"{"a":{"b":[1,"}"]},"\u0061" : 2}"#).expect("an object");
        assert_eq!(
            all,
            [
                ("a".to_owned(), &br#"{"b":[1,"}"]}"#[..]),
                ("a".to_owned(), b"2")
            ]
        );
        let all = elements(br#"[1, {"a":","},"x"]"#).expect("an array");
        assert_eq!(all, [&b"1"[..], br#"{"a":","}"#, br#""x""#]);
    }
}
