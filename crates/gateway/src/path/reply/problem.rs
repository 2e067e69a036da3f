//! What is wrong with a request, in the words of the protocol: a code, a status and a sentence from closed sets. Who
//! refuses it decides elsewhere; what the client wrote is not repeated, but for the version and the tool it asked for.

use countersign_inspect::ClientEra;
use countersign_tape::quote;
use countersign_wire::error_code;
use hyper::StatusCode;

use super::{Reply, envelope, versions};

/// Why a request is refused before it is a call: the client's fault, in the words of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Not JSON.
    Parse,
    /// JSON, but not a request we can read one way only.
    Invalid(&'static str),
    /// A method we do not have.
    Method,
    /// Parameters we cannot use.
    Params(&'static str),
    /// A tool that does not exist, by the name that `asked_tool_name` lets through.
    Tool(String),
    /// A resource that no server has.
    Resource,
    /// Something that the caller's token lacks scopes for.
    Scopes,
    /// A modern request without the members it must carry.
    Meta,
    /// A header that is missing or contradicts the body.
    Header(&'static str),
    /// A version we do not speak.
    Version(String),
    /// A session that the gateway did not open, or has closed.
    Session,
    /// There was no memory to read the request.
    Busy,
    /// The request is larger than a message may be.
    TooLarge,
    /// The only server there is does not run.
    Gone,
}

impl Problem {
    fn code(&self, client: ClientEra) -> i32 {
        match self {
            Self::Resource if client != ClientEra::Modern => error_code::RESOURCE_NOT_FOUND,
            Self::Parse => error_code::PARSE_ERROR,
            Self::Invalid(_) | Self::Session | Self::TooLarge | Self::Scopes => {
                error_code::INVALID_REQUEST
            }
            Self::Method => error_code::METHOD_NOT_FOUND,
            Self::Params(_) | Self::Tool(_) | Self::Resource | Self::Meta => {
                error_code::INVALID_PARAMS
            }
            Self::Header(_) => error_code::HEADER_MISMATCH,
            Self::Version(_) => error_code::UNSUPPORTED_VERSION,
            Self::Busy | Self::Gone => error_code::INTERNAL_ERROR,
        }
    }

    fn status(&self, client: ClientEra) -> StatusCode {
        match self {
            Self::Parse | Self::Invalid(_) | Self::Meta | Self::Header(_) | Self::Version(_) => {
                StatusCode::BAD_REQUEST
            }
            Self::Method if client == ClientEra::Modern => StatusCode::NOT_FOUND,
            Self::Method | Self::Params(_) | Self::Tool(_) | Self::Resource => StatusCode::OK,
            Self::Session => StatusCode::NOT_FOUND,
            Self::Scopes => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Busy | Self::Gone => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Parse => "Parse error".to_owned(),
            Self::Invalid(why) => format!("Invalid request: {why}"),
            Self::Method => "Method not found".to_owned(),
            Self::Params(why) => format!("Invalid params: {why}"),
            Self::Tool(name) => format!("Invalid params: unknown tool: {name}"),
            Self::Resource => "Resource not found".to_owned(),
            Self::Meta => "Invalid params: _meta lacks a required member".to_owned(),
            Self::Scopes => "Insufficient scope".to_owned(),
            Self::Header(name) => format!("Header mismatch: {name}"),
            Self::Version(_) => "Unsupported protocol version".to_owned(),
            Self::Session => "Session not found".to_owned(),
            Self::Busy => "The gateway is busy; try again later".to_owned(),
            Self::TooLarge => "Invalid request: the message is too large".to_owned(),
            Self::Gone => "The server is not running".to_owned(),
        }
    }

    fn data(&self) -> Option<String> {
        match self {
            Self::Version(requested) => {
                let requested = String::from_utf8_lossy(&quote(requested)).into_owned();
                Some(format!(
                    r#"{{"supported":{},"requested":{requested}}}"#,
                    versions()
                ))
            }
            Self::Scopes => Some(r#"{"kind":"insufficient_scope"}"#.to_owned()),
            Self::Busy => Some(r#"{"kind":"busy"}"#.to_owned()),
            Self::Gone => Some(r#"{"kind":"unreachable"}"#.to_owned()),
            _ => None,
        }
    }
}

/// A refusal in the words of the protocol.
pub(crate) fn problem(id: Option<&[u8]>, problem: &Problem, client: ClientEra) -> Reply {
    let data = problem
        .data()
        .map(|data| format!(r#","data":{data}"#))
        .unwrap_or_default();
    let message = quote(&problem.message());
    let error = format!(
        r#"{{"code":{},"message":{}{data}}}"#,
        problem.code(client),
        String::from_utf8_lossy(&message)
    );
    let bytes = envelope(id.unwrap_or(b"null"), "error", error.as_bytes());
    Reply::text(problem.status(client), bytes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::text;
    use super::*;

    #[test]
    fn problems_have_the_codes_and_statuses_of_their_era() {
        let shown = |kind: Problem, client| {
            let (status, body) = text(problem(Some(b"\"a\""), &kind, client));
            format!("{status} {body}")
        };
        let lines = [
            shown(Problem::Parse, ClientEra::Unnegotiated),
            shown(Problem::Method, ClientEra::Legacy),
            shown(Problem::Method, ClientEra::Modern),
            shown(Problem::Tool("files:read".to_owned()), ClientEra::Legacy),
            shown(Problem::Header("Mcp-Name"), ClientEra::Modern),
            shown(Problem::Version("1\"".to_owned()), ClientEra::Modern),
            shown(Problem::Session, ClientEra::Legacy),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        400 {"jsonrpc":"2.0","id":"a","error":{"code":-32700,"message":"Parse error"}}
        200 {"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}
        404 {"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}
        200 {"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"Invalid params: unknown tool: files:read"}}
        400 {"jsonrpc":"2.0","id":"a","error":{"code":-32020,"message":"Header mismatch: Mcp-Name"}}
        400 {"jsonrpc":"2.0","id":"a","error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"],"requested":"1\""}}}
        404 {"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"Session not found"}}
        "#);
    }
}
