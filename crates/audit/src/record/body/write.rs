//! A record as JSON, field by field, in the order of the struct. The bytes are those the derived serialiser would write (a
//! test holds the two together) for half of its work: keys are not searched for what must be escaped, and texts are
//! searched all at once. Every call writes one, before its reply leaves.

use serde::Serialize;

use crate::record::Record;

type WriteResult = Result<(), serde_json::Error>;

/// Writes the members of a record, each after a comma, and the closing brace.
pub(super) fn members(record: &Record, out: &mut Vec<u8>) -> WriteResult {
    // Taken apart as a whole, so that a new field cannot be forgotten.
    let Record {
        id,
        kind,
        timestamp,
        duration_ms,
        source,
        server,
        tool,
        client,
        caller,
        session_id,
        request_id,
        parent_id,
        status,
        decision,
        reason,
        mode,
        findings,
        findings_left_out,
        validated,
        unvalidated,
        schema_digest,
        schema_generation,
        payload_digest,
        request_bytes,
        response_bytes,
        request,
        response,
        opening,
    } = record;
    plain(out, "id", &id.encode());
    plain(out, "type", kind.as_str().as_bytes());
    plain(out, "timestamp", &timestamp.text());
    other(out, "duration_ms", duration_ms.as_ref())?;
    plain(out, "source", source.as_str().as_bytes());
    text(out, "server", server.as_deref())?;
    text(out, "tool", tool.as_deref())?;
    text(out, "client", client.as_deref())?;
    text(out, "caller", caller.as_deref())?;
    text(out, "session_id", session_id.as_deref())?;
    text(out, "request_id", request_id.as_deref())?;
    if let Some(parent) = parent_id {
        plain(out, "parent_id", &parent.encode());
    }
    plain(out, "status", status.as_str().as_bytes());
    other(out, "decision", decision.as_ref())?;
    text(out, "reason", reason.as_deref())?;
    other(out, "mode", mode.as_ref())?;
    other(
        out,
        "findings",
        Some(findings).filter(|all| !all.is_empty()),
    )?;
    let left_out = Some(findings_left_out).filter(|count| **count > 0);
    other(out, "findings_left_out", left_out)?;
    other(out, "validated", Some(validated).filter(|done| **done))?;
    text(out, "unvalidated", unvalidated.as_deref())?;
    text(out, "schema_digest", schema_digest.as_deref())?;
    other(out, "schema_generation", schema_generation.as_ref())?;
    text(out, "payload_digest", payload_digest.as_deref())?;
    other(out, "request_bytes", request_bytes.as_ref())?;
    other(out, "response_bytes", response_bytes.as_ref())?;
    other(out, "request", request.as_ref())?;
    other(out, "response", response.as_ref())?;
    other(out, "opening", opening.as_ref())?;
    out.push(b'}');
    Ok(())
}

fn key(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// A fixed text of this crate, which has nothing to escape.
fn plain(out: &mut Vec<u8>, name: &str, text: &[u8]) {
    key(out, name);
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}

fn text(out: &mut Vec<u8>, name: &str, text: Option<&str>) -> WriteResult {
    let Some(text) = text else {
        return Ok(());
    };
    // Looks at every byte, without a way out, because that is done many bytes at a time.
    let escapes = text.bytes().fold(0, |found, byte| {
        found | u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\')
    });
    if escapes != 0 {
        return other(out, name, Some(text));
    }
    plain(out, name, text.as_bytes());
    Ok(())
}

fn other(out: &mut Vec<u8>, name: &str, value: Option<impl Serialize>) -> WriteResult {
    let Some(value) = value else {
        return Ok(());
    };
    key(out, name);
    serde_json::to_writer(out, &value)
}
