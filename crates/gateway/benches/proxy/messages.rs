//! What clients ask in the bench, and what the server answers: results of several sizes that conform to one schema.

use std::sync::LazyLock;

/// The version of a modern request.
const MODERN: &str = "2026-07-28";
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"#;

const SCHEMA: &str = r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"score":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id","name"],"additionalProperties":false}},"total":{"type":"integer"}},"required":["items"],"additionalProperties":false}"#;

/// Which version of the protocol both sides of a proxy speak.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

impl Era {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    pub(crate) fn from_word(word: &str) -> Self {
        if word == "modern" {
            Self::Modern
        } else {
            Self::Legacy
        }
    }
}

/// A result of some size; its name is the name of the tool that gives it.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) name: &'static str,
    /// Items in the structured content.
    items: usize,
    /// Whether the text repeats the structured content, as servers do for older clients.
    repeated: bool,
    /// How many fewer calls are made than of the smallest.
    pub(crate) weight: usize,
}

pub(crate) const SIZES: [Size; 4] = [
    Size::new("0.9KB", 14, false, 1),
    Size::new("16KB", 120, true, 3),
    Size::new("230KB", 1_680, true, 20),
    Size::new("4MB", 29_000, true, 400),
];

/// Results for the table of growth. They have no text beside the value, so that twice the items are twice the work.
pub(crate) const GROWTH_SIZES: [Size; 5] = [
    Size::new("1KB", 16, false, 1),
    Size::new("10KB", 155, false, 2),
    Size::new("100KB", 1_480, false, 10),
    Size::new("1MB", 14_700, false, 100),
    Size::new("5MB", 71_000, false, 500),
];

/// Every size that the server has a tool for.
fn all_sizes() -> impl Iterator<Item = Size> {
    SIZES.into_iter().chain(GROWTH_SIZES)
}

impl Size {
    const fn new(name: &'static str, items: usize, repeated: bool, weight: usize) -> Self {
        Self {
            name,
            items,
            repeated,
            weight,
        }
    }

    fn result(self) -> String {
        let item =
            |n| format!(r#"{{"id":{n},"name":"item number {n}","score":{n}.5,"tags":["a","b"]}}"#);
        let items: Vec<String> = (0..self.items).map(item).collect();
        let structured = format!(
            r#"{{"items":[{}],"total":{}}}"#,
            items.join(","),
            self.items
        );
        let text = if self.repeated {
            structured.replace('"', "\\\"")
        } else {
            "14 items, see the structured content".to_owned()
        };
        format!(
            r#""content":[{{"type":"text","text":"{text}"}}],"structuredContent":{structured}}}"#
        )
    }
}

/// The results, each without its opening brace.
static RESULTS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let result = |size: Size| (format!(r#""name":"{}""#, size.name), size.result());
    all_sizes().map(result).collect()
});

/// A call of a tool, as a whole HTTP request.
pub(crate) fn request(address: &str, key: &str, era: Era, tool: &str) -> String {
    let meta = if era == Era::Modern { META } else { "" };
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta}"name":"{tool}","arguments":{{"query":"weather in Oslo"}}}}}}"#
    );
    let headers = match era {
        Era::Legacy => String::new(),
        Era::Modern => format!(
            "MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        ),
    };
    format!(
        "POST /mcp/s/x HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The tools of the server: those with results, and as many `others` as the server is to have beside them.
fn tools(others: usize) -> String {
    let sized = all_sizes().map(|size| {
        format!(
            r#"{{"name":"{}","inputSchema":{{"type":"object"}},"outputSchema":{SCHEMA}}}"#,
            size.name
        )
    });
    let others = (0..others).map(|number| {
        format!(
            r#"{{"name":"other_{number}","description":"Lists the entries of department {number}, by name or by date.","inputSchema":{{"type":"object","properties":{{"department_{number}":{{"type":"string","maxLength":200}},"limit":{{"type":"integer","minimum":1,"maximum":100}}}},"required":["department_{number}"]}},"outputSchema":{SCHEMA}}}"#
        )
    });
    sized.chain(others).collect::<Vec<String>>().join(",")
}

/// What a server with `others` tools beside its own answers; nothing to a message without an id, an error to a method of
/// the other era.
pub(crate) fn answer(era: Era, others: usize, text: &str) -> Option<Result<String, ()>> {
    let number =
        |after: &str| -> String { after.chars().take_while(char::is_ascii_digit).collect() };
    let id = text
        .split_once(r#""id":"#)
        .map(|(_, after)| number(after))?;
    let (modern, kind) = match era {
        Era::Legacy => (false, ""),
        Era::Modern => (true, r#""resultType":"complete","#),
    };
    let result = if text.contains(r#""tools/call""#) {
        let called = RESULTS.iter().find(|(name, _)| text.contains(name));
        format!("{{{kind}{}", called.expect("a tool").1)
    } else if text.contains(r#""tools/list""#) {
        format!(
            r#"{{{kind}"ttlMs":60000,"cacheScope":"private","tools":[{}]}}"#,
            tools(others)
        )
    } else if text.contains(r#""initialize""#) && !modern {
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}"#.to_owned()
    } else if text.contains(r#""server/discover""#) && modern {
        format!(
            r#"{{{kind}"supportedVersions":["{MODERN}"],"capabilities":{{"tools":{{}}}},"ttlMs":60000,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"bench","version":"1"}}}}}}"#
        )
    } else {
        return Some(Err(()));
    };
    Some(Ok(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
    )))
}
