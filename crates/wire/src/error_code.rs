//! The error codes of JSON-RPC and MCP.

/// The message is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The message is not a request.
pub const INVALID_REQUEST: i32 = -32600;
/// The receiver does not know the method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters are wrong.
pub const INVALID_PARAMS: i32 = -32602;
/// The receiver failed.
pub const INTERNAL_ERROR: i32 = -32603;
/// How some legacy servers refuse a session that they do not know.
pub const NOT_INITIALIZED: i32 = -32000;
/// Legacy: there is no such resource.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
/// Legacy, from 2025-11-25 on: the user has to open a page first. The `data` names it.
pub const URL_ELICITATION_REQUIRED: i32 = -32042;
/// Modern: the headers of a request say something else than its body.
pub const HEADER_MISMATCH: i32 = -32020;
/// Modern: the client lacks a capability.
pub const MISSING_CAPABILITY: i32 = -32021;
/// Modern: the server does not speak the version of the request. Its `data` names those that it speaks.
pub const UNSUPPORTED_VERSION: i32 = -32022;
