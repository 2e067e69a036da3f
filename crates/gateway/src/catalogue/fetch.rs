//! A server's whole tool list: every page, each checked and taken apart into its elements. A list
//! without end is cut, a cursor that comes back ends it. The bytes stay as they came.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::Refusal;
use countersign_tape::{Hard, Kind, Span, elements, scan};
use thiserror::Error;
use tokio::time::timeout;

use crate::json::member;
use crate::upstream::{Connection, NoteSink, request};

const MAX_PAGES: usize = 1_000;
const MAX_TOOLS: usize = 10_000;
const MAX_BYTES: usize = 64 << 20;
/// How long one page may take.
const PAGE: Duration = Duration::from_secs(30);

/// Why a list could not be had.
#[derive(Debug, Error)]
pub(super) enum FetchError {
    #[error("the server did not answer in time")]
    TimedOut,
    #[error("{0}")]
    Refused(Refusal),
    #[error("the server answered with an error")]
    Error,
    #[error("the answer is not a tool list")]
    Malformed,
}

/// Every element of the list, in the server's order.
pub(super) async fn tools(connection: &Connection) -> Result<Vec<Bytes>, FetchError> {
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for _ in 0..MAX_PAGES {
        let page = page(connection, cursor.as_deref()).await?;
        let (tools, next) = read(&page)?;
        bytes += page.len();
        all.extend(tools);
        all.truncate(MAX_TOOLS);
        match next {
            // An empty cursor is a cursor; one that was there before leads nowhere.
            Some(next)
                if all.len() < MAX_TOOLS && bytes < MAX_BYTES && seen.insert(next.clone()) =>
            {
                cursor = Some(next);
            }
            _ => break,
        }
    }
    Ok(all)
}

/// One page; the cursor is a raw JSON token, as the server wrote it.
async fn page(connection: &Connection, cursor: Option<&str>) -> Result<Bytes, FetchError> {
    let members = cursor
        .map(|token| format!(r#""cursor":{token}"#))
        .unwrap_or_default();
    let asked = connection
        .ask(
            "tools/list",
            |era, _| Ok(request::own_params(era, &members).into_bytes()),
            &NoteSink::closed(),
        )
        .map_err(FetchError::Refused)?;
    match timeout(PAGE, asked.answer()).await {
        Err(_) => Err(FetchError::TimedOut),
        Ok(answer) => answer.map_err(FetchError::Refused),
    }
}

/// The elements of a page, and the token of the next cursor.
fn read(page: &Bytes) -> Result<(Vec<Bytes>, Option<String>), FetchError> {
    let envelope = scan(page, &Hard::default()).map_err(|_| FetchError::Malformed)?;
    if envelope.error().is_some() {
        return Err(FetchError::Error);
    }
    let result = envelope.result().ok_or(FetchError::Malformed)?;
    let tools = member(page, result, "tools").ok_or(FetchError::Malformed)?;
    if tools.kind(page) != Some(Kind::Array) {
        return Err(FetchError::Malformed);
    }
    // A copy per tool: a slice would keep the whole page alive for as long as the tool is known.
    let copy = |tool: Span| Bytes::copy_from_slice(tool.bytes(page));
    let next = member(page, result, "nextCursor")
        .filter(|next| next.kind(page) == Some(Kind::String))
        .map(|next| String::from_utf8_lossy(next.bytes(page)).into_owned());
    Ok((elements(page, tools).map(copy).collect(), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gives_its_elements_as_they_are() {
        let page = br#"{"result":{"nextCursor":"","tools":[{"name":"a" }, null,5]},"id":1,"jsonrpc":"2.0"}"#;
        let (tools, next) = read(&Bytes::from_static(page)).expect("a page");
        assert_eq!(tools, [&b"{\"name\":\"a\" }"[..], b"null", b"5"]);
        assert_eq!(next.as_deref(), Some("\"\""));
        let last = br#"{"result":{"tools":[],"nextCursor":null}}"#;
        assert!(matches!(read(&Bytes::from_static(last)), Ok((tools, None)) if tools.is_empty()));
        for bad in [
            &b"{}"[..],
            b"x",
            br#"{"result":{"tools":{}}}"#,
            br#"{"error":{}}"#,
        ] {
            assert!(read(&Bytes::copy_from_slice(bad)).is_err());
        }
    }
}
