//! `GET /api/v1/tools` and `GET /api/v1/tools/{name}`: the tools behind the gateway, and everything about one of them.
//! What a server wrote about its tool is shown as clients see it, cleaned.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{ClientEra, Mode};
use countersign_tape::{Edits, MemberPosition, Span};
use hyper::StatusCode;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{ApiError, ApiResult, ok, respond_json};
use crate::path::screen;
use crate::state::{Server, Snapshot, Tool, names};

/// Every tool in short.
pub(super) fn list(snapshot: &Snapshot) -> ApiResult {
    let servers = snapshot.servers().iter();
    let tools =
        servers.flat_map(|server| server.tools.all().iter().map(move |tool| (server, tool)));
    let tools: Vec<Value> = tools
        .map(|(server, tool)| describe(snapshot, server, tool))
        .collect();
    ok(&json!({ "tools": tools }))
}

/// One tool in full: `name` is `server:tool`, percent-encoded.
pub(super) fn show(snapshot: &Snapshot, name: &str) -> ApiResult {
    let name = percent_decode_str(name).decode_utf8_lossy();
    let found = names::split(&name).and_then(|(server, tool)| {
        let server = snapshot.server(server)?;
        Some((server, server.tools.get(tool)?))
    });
    let (server, tool) = found.ok_or_else(|| ApiError::not_found("no such tool"))?;
    // The declaration goes as bytes, so that its numbers and the order of its members stay as they are.
    let described = describe(snapshot, server, tool).to_string().into_bytes();
    let mut edits = Edits::new(&described);
    let declaration = tool.listing().bytes();
    edits.insert_member(
        Span::whole(&described),
        MemberPosition::Last,
        "declaration",
        declaration,
    );
    let edited = edits.apply();
    let edited = edited.map_err(|_| ApiError::internal("the answer cannot be written"))?;
    Ok(respond_json(StatusCode::OK, Bytes::from(edited.to_vec())))
}

fn describe(snapshot: &Snapshot, server: &Server, tool: &Arc<Tool>) -> Value {
    let config = &snapshot.settings.config;
    let name = server.upstream.name();
    json!({
        "server": &**name,
        "tool": tool.name(),
        "wire_name": tool.wire_name(),
        "router": tool.access().as_str(),
        "generation": tool.contract().generation(),
        "output_schema": tool.contract().output().is_some(),
        "output_validation": output_validation(snapshot, name, tool),
        "classify": screen::describe(config, name, tool),
    })
}

/// The mode that holds for its results, which key says so, and whether its schema can be enforced.
fn output_validation(snapshot: &Snapshot, server: &str, tool: &Tool) -> Value {
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
    json!({
        "mode": mode.as_str(),
        "source": source.as_str(),
        "key": source.key(server, tool.name()),
        "enforceable": enforceable,
        "reason": reason,
    })
}
