//! Headers that repeat what the body of a modern HTTP request says: the method, the name of the tool, and the arguments
//! that the tool's `inputSchema` marks with `x-mcp-header`. They are always made from the message that is sent, never
//! taken from the one that was received.

mod walk;

use countersign_tape::{Kind, Limits, Span, Tape};
use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::header::{METHOD, NAME, decode_header_value, encode_header_value};
use crate::json::path;
use crate::method::Method;
use walk::Walk;

const MARK: &str = "x-mcp-header";
/// The most arguments of one tool that may be marked.
const MOST: usize = 64;
/// How deep a schema that marks arguments may be nested. A property is two levels down.
const DEEPEST: u32 = 128;

/// Which arguments of a tool are repeated as headers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MirroredArguments {
    all: Vec<(HeaderName, Vec<String>)>,
}

impl MirroredArguments {
    /// Reads a tool's `inputSchema`; `Err` says why a client has to leave the tool out.
    pub fn from_schema(schema: &[u8]) -> Result<Self, &'static str> {
        let mut found = Self::default();
        if memchr::memmem::find(schema, MARK.as_bytes()).is_none() {
            return Ok(found);
        }
        let limits = Limits {
            max_bytes: usize::MAX,
            max_depth: DEEPEST,
        };
        let tape = Tape::parse(schema, &limits).map_err(|error| {
            if error.is_too_deep() {
                "x-mcp-header stands in a schema that is nested too deep"
            } else {
                "the schema around x-mcp-header is not JSON"
            }
        })?;
        let mut walk = Walk::default();
        while let Some((value, place)) = walk.next(&tape) {
            if let Some(mark) = tape.get(value, MARK) {
                let property_path = walk.path_to(&tape, place);
                found.add(&tape, value, mark, property_path)?;
            }
        }
        Ok(found)
    }

    fn add(
        &mut self,
        tape: &Tape<'_>,
        value: u32,
        mark: u32,
        property_path: Option<Vec<String>>,
    ) -> Result<(), &'static str> {
        let property_path =
            property_path.ok_or("x-mcp-header stands where no single argument is")?;
        if tape.node(mark).kind() != Kind::String {
            return Err("x-mcp-header is not a string");
        }
        let kind = tape.get(value, "type").map(|kind| tape.string(kind));
        if !matches!(
            kind.as_deref(),
            Some("string" | "integer" | "number" | "boolean")
        ) {
            return Err("x-mcp-header marks something that is not a string, number or boolean");
        }
        let name = format!("mcp-param-{}", tape.string(mark));
        let name = match HeaderName::from_bytes(name.as_bytes()) {
            Ok(header) if header.as_str() != "mcp-param-" => header,
            _ => return Err("x-mcp-header is not a header's name"),
        };
        if self.all.len() >= MOST || self.all.iter().any(|(other, _)| *other == name) {
            return Err("x-mcp-header gives a name twice, or too many of them");
        }
        self.all.push((name, property_path));
        Ok(())
    }

    /// Whether a client's headers repeat its arguments as they should: each that is there, with
    /// the same value, and none that is not.
    pub fn agree(&self, arguments: Option<&[u8]>, given: &HeaderMap) -> bool {
        let mut expected = HeaderMap::new();
        self.write(arguments.unwrap_or(b"{}"), &mut expected);
        self.all
            .iter()
            .all(|(name, _)| match (expected.get(name), given.get(name)) {
                (Some(expected), Some(given)) => is_same_value(expected, given),
                (None, None) => true,
                _ => false,
            })
    }

    /// Writes the headers for a call with these arguments.
    fn write(&self, arguments: &[u8], headers: &mut HeaderMap) {
        for (name, property_path) in &self.all {
            let property_path: Vec<&str> = property_path.iter().map(String::as_str).collect();
            let Some(value) = path(arguments, Span::whole(arguments), &property_path) else {
                continue;
            };
            let value = match value.kind(arguments) {
                Some(Kind::String) => value
                    .string(arguments)
                    .map(|text| encode_header_value(&text)),
                Some(Kind::Number | Kind::True | Kind::False) => {
                    HeaderValue::from_bytes(value.bytes(arguments)).ok()
                }
                _ => None,
            };
            if let Some(value) = value {
                headers.insert(name.clone(), value);
            }
        }
    }
}

/// Whether two headers say the same, wrapped or not; numbers may be written differently.
fn is_same_value(one: &HeaderValue, other: &HeaderValue) -> bool {
    let (Some(one), Some(other)) = (decode_header_value(one), decode_header_value(other)) else {
        return false;
    };
    let number = |text: &str| text.parse::<f64>().ok();
    one == other || number(&one).is_some_and(|value| number(&other) == Some(value))
}

/// What a request is about, for headers.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The method.
    pub method: &'a str,
    /// The tool's own name.
    pub name: Option<&'a str>,
    /// The tool's arguments.
    pub arguments: Option<&'a [u8]>,
    /// Those of them that are repeated as headers.
    pub mirrored: Option<&'a MirroredArguments>,
}

impl<'a> Subject<'a> {
    /// A request that names no tool, prompt or resource.
    pub fn method(method: &'a str) -> Self {
        Self {
            method,
            name: None,
            arguments: None,
            mirrored: None,
        }
    }

    /// Writes the headers in place of those that are there.
    pub fn write(&self, headers: &mut HeaderMap) {
        // A known method needs no copy.
        let method = Method::from_name(self.method).map(Method::as_str);
        let method = method.map(HeaderValue::from_static);
        headers.insert(
            METHOD,
            method.unwrap_or_else(|| encode_header_value(self.method)),
        );
        match self.name {
            Some(name) => headers.insert(NAME, encode_header_value(name)),
            None => headers.remove(NAME),
        };
        if let (Some(mirrored), Some(arguments)) = (self.mirrored, self.arguments) {
            mirrored.write(arguments, headers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(schema: &str, arguments: &str) -> Vec<String> {
        let mirrored = MirroredArguments::from_schema(schema.as_bytes()).expect("a good schema");
        let mut headers = HeaderMap::new();
        mirrored.write(arguments.as_bytes(), &mut headers);
        let show = |(name, value): (&HeaderName, &HeaderValue)| {
            format!("{name}: {}", value.to_str().expect("ASCII"))
        };
        let mut all: Vec<String> = headers.iter().map(show).collect();
        all.sort();
        all
    }

    #[test]
    fn marked_arguments_become_headers() {
        let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"in":{"type":"object","properties":{"on":{"type":"boolean","x-mcp-header":"On"}}},"free":{"type":"string","default":{"x-mcp-header":1}}}}"#;
        let arguments = r#"{"region":"eu-1","n":42,"in":{"on":true},"free":"x"}"#;
        assert_eq!(
            written(schema, arguments),
            [
                "mcp-param-n: 42",
                "mcp-param-on: true",
                "mcp-param-region: eu-1"
            ]
        );
        assert_eq!(written(schema, r#"{"region":null,"n":[1]}"#), [""; 0]);
        assert_eq!(written(r#"{"type":"object"}"#, "{}"), [""; 0]);
    }

    #[test]
    fn marks_that_mean_nothing_are_refused() {
        let property = |inner: &str| format!(r#"{{"properties":{{"a":{inner}}}}}"#);
        for schema in [
            property(r#"{"type":"object","x-mcp-header":"A"}"#),
            property(r#"{"type":"string","x-mcp-header":""}"#),
            property(r#"{"type":"string","x-mcp-header":"a b"}"#),
            property(r#"{"type":"string","x-mcp-header":5}"#),
            property(r#"{"type":"array","items":{"type":"string","x-mcp-header":"A"}}"#),
            property(r#"{"anyOf":[{"type":"string","x-mcp-header":"A"}]}"#),
            r#"{"type":"string","x-mcp-header":"A"}"#.to_owned(),
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#.to_owned(),
        ] {
            assert!(MirroredArguments::from_schema(schema.as_bytes()).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_schema_nested_too_deep_is_refused_and_read_in_one_pass() {
        let nested = |levels: usize| {
            let open = r#"{"properties":{"a":"#.repeat(levels);
            let mark = r#"{"type":"string","x-mcp-header":"A"}"#;
            format!("{open}{mark}{}", "}}".repeat(levels))
        };
        assert_eq!(written(&nested(60), "{}"), [""; 0]);
        // Walked level by level, each to its end, this took minutes.
        let refused = MirroredArguments::from_schema(nested(60_000).as_bytes());
        assert!(refused.is_err_and(|why| why.contains("too deep")));
        let wide = r#"{"type":"object","properties":{}},"#.repeat(200_000);
        let wide = format!(r#"{{"anyOf":[{wide}{{"x-mcp-header":"A"}}]}}"#);
        assert!(MirroredArguments::from_schema(wide.as_bytes()).is_err());
    }
}
