//! `GET /api/v1/tools` and `GET /api/v1/tools/{name}`: the tools behind the gateway, and everything about one of them.
//! What a server wrote about its tool is shown as clients see it, cleaned.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{ClientEra, Mode};
use countersign_tape::{Edits, MemberPosition, Span};
use hyper::StatusCode;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Value, json};

use super::{ApiError, ApiResult, ok, respond_json};
use crate::path::screen;
use crate::state::{Server, Snapshot, Tool, names};

/// A tool in short.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ToolInfo {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) wire_name: String,
    pub(super) router: &'static str,
    pub(super) generation: u64,
    pub(super) output_schema: bool,
    pub(super) output_validation: ModeInForce,
    pub(super) classify: Value,
}

/// The mode that holds for a tool's results, which key says so, and whether its schema can be enforced.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ModeInForce {
    pub(super) mode: &'static str,
    pub(super) source: &'static str,
    pub(super) key: Option<String>,
    pub(super) enforceable: bool,
    pub(super) reason: String,
}

/// Every tool in short.
pub(super) fn list(snapshot: &Snapshot) -> ApiResult {
    let tools: Vec<ToolInfo> = all(snapshot).collect();
    ok(&json!({ "tools": tools }))
}

/// Every tool in short.
pub(super) fn all(snapshot: &Snapshot) -> impl Iterator<Item = ToolInfo> {
    let servers = snapshot.servers().iter();
    let tools =
        servers.flat_map(|server| server.tools.all().iter().map(move |tool| (server, tool)));
    tools.map(|(server, tool)| describe(snapshot, server, tool))
}

/// One tool in full: `name` is `server:tool`, percent-encoded.
pub(super) fn show(snapshot: &Snapshot, name: &str) -> ApiResult {
    let (info, declaration) = one(snapshot, name)?;
    // The declaration goes as bytes, so that its numbers and the order of its members stay as they are.
    let described = json!(info).to_string().into_bytes();
    let mut edits = Edits::new(&described);
    edits.insert_member(
        Span::whole(&described),
        MemberPosition::Last,
        "declaration",
        &declaration,
    );
    let edited = edits.apply();
    let edited = edited.map_err(|_| ApiError::internal("the answer cannot be written"))?;
    Ok(respond_json(StatusCode::OK, Bytes::from(edited.to_vec())))
}

/// One tool, and what its server declared, as clients see it.
pub(super) fn one(snapshot: &Snapshot, name: &str) -> Result<(ToolInfo, Bytes), ApiError> {
    let name = percent_decode_str(name).decode_utf8_lossy();
    let found = names::split(&name).and_then(|(server, tool)| {
        let server = snapshot.server(server)?;
        Some((server, server.tools.get(tool)?))
    });
    let (server, tool) = found.ok_or_else(|| ApiError::not_found("no such tool"))?;
    let declaration = Bytes::copy_from_slice(tool.listing().bytes());
    Ok((describe(snapshot, server, tool), declaration))
}

fn describe(snapshot: &Snapshot, server: &Server, tool: &Arc<Tool>) -> ToolInfo {
    let config = &snapshot.settings.config;
    let name = server.upstream.name();
    ToolInfo {
        server: name.to_string(),
        tool: tool.name().to_owned(),
        wire_name: tool.wire_name().to_owned(),
        router: tool.access().as_str(),
        generation: tool.contract().generation(),
        output_schema: tool.contract().output().is_some(),
        output_validation: output_validation(snapshot, name, tool),
        classify: screen::describe(config, name, tool),
    }
}

fn output_validation(snapshot: &Snapshot, server: &str, tool: &Tool) -> ModeInForce {
    let mode = tool.policy(ClientEra::Unnegotiated).output.mode;
    let source = snapshot.settings.config.mode_source(server, tool.name());
    let schema = tool.contract().output().map(|declared| declared.schema());
    let (enforceable, reason) = match (schema, mode) {
        (None, _) => (false, "it declares no output schema".to_owned()),
        (Some(Err(_)), _) => (false, tool.unenforceable_reason().unwrap_or_default()),
        (Some(Ok(_)), Mode::Off) => (true, "in mode off results are not held to it".to_owned()),
        (Some(Ok(_)), Mode::Warn) => (
            true,
            "results that break it are flagged and forwarded".to_owned(),
        ),
        (Some(Ok(_)), Mode::Strict) => (true, "results that break it are blocked".to_owned()),
    };
    ModeInForce {
        mode: mode.as_str(),
        source: source.as_str(),
        key: source.key(server, tool.name()),
        enforceable,
        reason,
    }
}
