//! A call that has ended, as the signals tell it: OpenTelemetry's names for MCP, and a few of our own. Neither arguments
//! nor results are among the fields.

use std::time::{Duration, SystemTime};

use crate::protobuf::{Message, Value, cut};
use crate::trace::CallTrace;

/// A call that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Its place in a trace, if calls are traced.
    pub trace: Option<&'a CallTrace>,
    /// The method of the protocol.
    pub method: &'a str,
    /// What was called.
    pub target: Target<'a>,
    /// Whether the target is one that a server has, and not only a word of the client. Only such names are dimensions of
    /// metrics.
    pub is_known_target: bool,
    /// The name of the server in the configuration.
    pub server: Option<&'a str>,
    /// Who called, as the activity log names callers.
    pub caller: Option<&'a str>,
    /// The public name of the client's session.
    pub session: Option<&'a str>,
    /// The client's id of the request.
    pub request_id: &'a str,
    /// The id of the call's record in the activity log.
    pub activity_id: &'a str,
    /// What was decided about the result.
    pub decision: &'a str,
    /// The exchange with the client.
    pub towards_client: Exchange<'a>,
    /// The exchange with the server, if the call came so far.
    pub towards_server: Option<Exchange<'a>>,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A tool.
    Tool(&'a str),
    /// A prompt.
    Prompt(&'a str),
    /// Something else, which has no name of low cardinality.
    Other,
}

/// One side of a call: a request and what was answered.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// When it began.
    pub start: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// The version of the protocol, if known.
    pub version: Option<&'a str>,
    /// How the peer is reached.
    pub transport: Transport,
    /// The number of our request to the server.
    pub request_number: Option<u64>,
    /// What went wrong, if anything did.
    pub error: Option<ErrorType<'a>>,
}

/// How a peer is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Over HTTP.
    Tcp,
    /// Over standard input and output.
    Pipe,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorType<'a> {
    /// The code of a JSON-RPC error.
    Code(i64),
    /// A result that says `isError`.
    Tool,
    /// A word for why there is no result.
    Other(&'a str),
}

/// The field for attributes, in a `Span` and in a `HistogramDataPoint`.
pub(crate) const ATTRIBUTES: u32 = 9;
/// A longer name is no dimension of a metric.
const MAX_DIMENSION: usize = 128;
/// What a dimension says instead of a value that it cannot have.
const OTHER: &str = "_OTHER";

/// The attribute that names the caller.
pub(crate) const CALLER: &str = "enduser.id";

/// The name of an attribute, and its value.
pub(crate) type Attribute<'a> = (&'static str, Value<'a>);

impl Call<'_> {
    /// The name of a span of the call.
    pub(crate) fn span_name(&self) -> String {
        match self.target {
            Target::Tool(name) | Target::Prompt(name) => [self.method, " ", cut(name)].concat(),
            Target::Other => self.method.to_owned(),
        }
    }

    /// Whether its target can be a dimension of a metric.
    pub(crate) fn has_countable_target(&self) -> bool {
        match self.target {
            Target::Tool(name) | Target::Prompt(name) => {
                self.is_known_target && name.len() <= MAX_DIMENSION
            }
            Target::Other => true,
        }
    }
}

impl<'a> Exchange<'a> {
    /// The same, with an error that can be a dimension of a metric: servers may answer with any code.
    pub(crate) fn countable(self) -> Exchange<'a> {
        let is_counted = |code| (-32_768..=-32_000).contains(&code);
        let error = match self.error {
            Some(ErrorType::Code(code)) if !is_counted(code) => Some(ErrorType::Other(OTHER)),
            error => error,
        };
        Exchange { error, ..self }
    }
}

impl<'a> Target<'a> {
    /// The attribute that names it.
    pub(crate) fn attribute(self) -> Option<Attribute<'a>> {
        match self {
            Self::Tool(name) => Some(("gen_ai.tool.name", Value::Text(name))),
            Self::Prompt(name) => Some(("gen_ai.prompt.name", Value::Text(name))),
            Self::Other => None,
        }
    }

    /// The same kind of target, without the name.
    pub(crate) fn unnamed(self) -> Target<'static> {
        match self {
            Self::Tool(_) => Target::Tool(OTHER),
            Self::Prompt(_) => Target::Prompt(OTHER),
            Self::Other => Target::Other,
        }
    }

    /// What the conventions for generative AI call it.
    pub(crate) fn operation(self) -> Option<Attribute<'static>> {
        let is_tool = matches!(self, Self::Tool(_));
        is_tool.then_some(("gen_ai.operation.name", Value::Text("execute_tool")))
    }
}

impl Transport {
    pub(crate) fn attribute(self) -> Attribute<'static> {
        let word = match self {
            Self::Tcp => "tcp",
            Self::Pipe => "pipe",
        };
        ("network.transport", Value::Text(word))
    }
}

/// The attributes of one side of a call, as fields of a `Span` and of a `HistogramDataPoint` alike.
pub(crate) fn write_attributes(call: &Call<'_>, exchange: &Exchange<'_>) -> Message {
    let mut message = Message::with_capacity(512);
    let method = ("mcp.method.name", Value::Text(call.method));
    let version = |version| ("mcp.protocol.version", Value::Text(version));
    let server = |server| ("countersign.server.name", Value::Text(server));
    let attributes = [
        Some(method),
        call.target.attribute(),
        call.target.operation(),
        exchange.version.map(version),
        Some(exchange.transport.attribute()),
        call.server.map(server),
    ];
    for (key, value) in attributes.into_iter().flatten() {
        message.attribute(ATTRIBUTES, key, value);
    }
    if let Some(error) = exchange.error {
        write_error(&mut message, error);
    }
    message
}

/// Writes `error.type`, and the code of a JSON-RPC error once more under the name that RPC has for it.
fn write_error(message: &mut Message, error: ErrorType<'_>) {
    let code;
    let word = match error {
        ErrorType::Code(number) => {
            code = number.to_string();
            message.attribute(ATTRIBUTES, "rpc.response.status_code", Value::Text(&code));
            &code
        }
        ErrorType::Tool => "tool_error",
        ErrorType::Other(word) => word,
    };
    message.attribute(ATTRIBUTES, "error.type", Value::Text(word));
}

/// Nanoseconds since 1970.
pub(crate) fn unix_nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}
