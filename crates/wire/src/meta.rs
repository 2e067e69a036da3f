//! The members of `_meta` that MCP defines.

/// The protocol version of a modern request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the sender of a modern request can be asked for.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The name and version of the sender of a modern request.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The name and version of a modern server.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The least important log messages that a modern request asks for. Means nothing to a legacy server.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The span that a request belongs to, as W3C trace context writes it. This and the next are without a prefix.
pub const TRACEPARENT: &str = "traceparent";
/// What tracing systems say about the trace.
pub const TRACESTATE: &str = "tracestate";
