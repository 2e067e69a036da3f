//! The server behind the gateway, as far as it is honest: how it greets, what it lists, and what it is asked. What it
//! answers to a call is the input of a run.

use serde_json::Value;

/// Stands in an input for the id of the request that is answered.
pub(crate) const ID: &[u8] = b"@id";

/// What the server says of itself, in both eras.
const CAPABILITIES: &str =
    r#"{"tools":{"listChanged":false},"prompts":{},"resources":{},"completions":{},"logging":{}}"#;

/// One tool that declares nothing about its output and one that does.
const TOOLS: &str = r#"{"name":"plain","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"typed","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"},"o":{"type":"object"},"a":{"type":"array"}}},"annotations":{"readOnlyHint":true}}"#;

/// What a server says about itself and its tools, as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Greeting {
    /// Members of its greeting, after the ones there have to be.
    pub(crate) members: String,
    /// The elements of its list of tools.
    pub(crate) tools: String,
}

impl Default for Greeting {
    fn default() -> Self {
        Self {
            members: r#""instructions":"Be kind.""#.to_owned(),
            tools: TOOLS.to_owned(),
        }
    }
}

/// What a server does about a message from the gateway.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerAction {
    /// Sends this answer.
    Answer(Vec<u8>),
    /// Sends the answer of this run, under this id.
    Script(u64),
    /// Does nothing.
    Nothing,
}

/// Reads a message from the gateway; a modern server is greeted the modern way only.
pub(crate) fn action_for(message: &[u8], modern: bool, greeting: &Greeting) -> ServerAction {
    let Ok(message) = serde_json::from_slice::<Value>(message) else {
        return ServerAction::Nothing;
    };
    let (Some(id), Some(method)) = (message["id"].as_u64(), message["method"].as_str()) else {
        return ServerAction::Nothing;
    };
    let answer = |what: &str| {
        ServerAction::Answer(format!(r#"{{"jsonrpc":"2.0","id":{id},{what}}}"#).into_bytes())
    };
    let Greeting { members, tools } = greeting;
    match method {
        "server/discover" if modern => answer(&format!(
            r#""result":{{"supportedVersions":["2026-07-28"],"capabilities":{CAPABILITIES},"serverInfo":{{"name":"x","version":"0"}},{members}}}"#
        )),
        "initialize" if !modern => answer(&format!(
            r#""result":{{"protocolVersion":"2025-06-18","capabilities":{CAPABILITIES},"serverInfo":{{"name":"x","version":"0"}},{members}}}"#
        )),
        "tools/list" => answer(&format!(r#""result":{{"tools":[{tools}]}}"#)),
        "tools/call"
        | "prompts/get"
        | "resources/read"
        | "prompts/list"
        | "resources/list"
        | "resources/templates/list"
        | "completion/complete" => ServerAction::Script(id),
        _ => answer(r#""error":{"code":-32601,"message":"Method not found"}"#),
    }
}

/// An input with the id of the request in its place.
pub(crate) fn addressed(input: &[u8], id: u64) -> Vec<u8> {
    let id = id.to_string();
    let mut all = Vec::with_capacity(input.len() + 16);
    let mut rest = input;
    while let Some(at) = rest.windows(ID.len()).position(|window| window == ID) {
        all.extend_from_slice(&rest[..at]);
        all.extend_from_slice(id.as_bytes());
        rest = &rest[at + ID.len()..];
    }
    all.extend_from_slice(rest);
    all
}

/// An answer that conforms, so that a call ends whatever the input was.
pub(crate) fn harmless(id: u64) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{{}}}}}}"#)
        .into_bytes()
}

/// What a client asks for, by number: the method and the `params` of an honest request.
pub(crate) fn question(number: u8) -> (&'static str, &'static str) {
    match number % 8 {
        0 => ("tools/call", r#""name":"plain","arguments":{}"#),
        1 => ("tools/call", r#""name":"typed","arguments":{}"#),
        2 => ("prompts/get", r#""name":"p""#),
        3 => ("resources/read", r#""uri":"file:///r""#),
        4 => ("resources/list", ""),
        5 => ("prompts/list", ""),
        6 => ("resources/templates/list", ""),
        _ => (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}"#,
        ),
    }
}

/// The `_meta` members of a modern client.
pub(crate) const MODERN_META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{},"roots":{}},"io.modelcontextprotocol/logLevel":"debug""#;

/// The request of a client; `id` and `params` are as they are written.
pub(crate) fn request(id: u64, (method, params): (&str, &str), modern: bool) -> Vec<u8> {
    let meta = if modern { MODERN_META } else { "" };
    let comma = |text: &str| if text.is_empty() { "" } else { "," };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{}"_meta":{{"progressToken":"progress"{}{meta}}}}}}}"#,
        comma(params),
        comma(meta)
    )
    .into_bytes()
}
