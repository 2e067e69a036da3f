//! A server's whole tool list: every page, each checked and taken apart into its elements. A list
//! without end is cut, a cursor that comes back ends it. The bytes stay as they came.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::Refusal;
use countersign_tape::{Kind, ScanLimits, Span, elements, scan};
use countersign_wire::json::member;
use countersign_wire::message;
use thiserror::Error;
use tokio::time::timeout;

use countersign_client::{Connection, NoteSink};

const MAX_PAGES: usize = 1_000;
const MAX_TOOLS: usize = 10_000;
const MAX_BYTES: usize = 64 << 20;
/// How long one page may take.
const PAGE: Duration = Duration::from_secs(30);
/// How long all of them may take.
const WHOLE: Duration = Duration::from_mins(2);

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

/// A whole list.
#[derive(Debug, Default)]
pub(super) struct List {
    /// Every element, in the server's order.
    pub(super) tools: Vec<Bytes>,
    /// How long the server lets clients keep it: the shortest of its pages.
    pub(super) ttl_ms: u64,
    /// Why there was more that is not here.
    pub(super) cut: Option<&'static str>,
}

/// Fetches every page.
pub(super) async fn tools(connection: &Connection) -> Result<List, FetchError> {
    let fetched = timeout(WHOLE, pages(connection)).await;
    fetched.unwrap_or(Err(FetchError::TimedOut))
}

async fn pages(connection: &Connection) -> Result<List, FetchError> {
    let mut list = List::default();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for number in 0..MAX_PAGES {
        let page = page(connection, cursor.as_deref()).await?;
        let read = read(&page)?;
        bytes += page.len();
        list.ttl_ms = if number == 0 {
            read.ttl_ms
        } else {
            list.ttl_ms.min(read.ttl_ms)
        };
        list.tools.extend(read.tools);
        if list.tools.len() > MAX_TOOLS {
            list.tools.truncate(MAX_TOOLS);
            list.cut = Some("more tools than are kept");
            return Ok(list);
        }
        // An empty cursor is a cursor.
        let Some(next) = read.next else {
            return Ok(list);
        };
        if bytes >= MAX_BYTES {
            list.cut = Some("more bytes than are kept");
        } else if !seen.insert(next.clone()) {
            list.cut = Some("a cursor came twice");
        } else {
            cursor = Some(next);
            continue;
        }
        return Ok(list);
    }
    list.cut = Some("more pages than are fetched");
    Ok(list)
}

/// One page; the cursor is a raw JSON token, as the server wrote it.
async fn page(connection: &Connection, cursor: Option<&str>) -> Result<Bytes, FetchError> {
    let members = cursor
        .map(|token| format!(r#""cursor":{token}"#))
        .unwrap_or_default();
    let asked = connection
        .ask(
            "tools/list",
            |era, _| Ok(message::own_params(era, members.as_bytes())),
            &NoteSink::closed(),
        )
        .map_err(|error| FetchError::Refused(error.into()))?;
    match timeout(PAGE, asked.answer()).await {
        Err(_) => Err(FetchError::TimedOut),
        Ok(answer) => answer.map_err(|error| FetchError::Refused(error.into())),
    }
}

/// One page, taken apart.
#[derive(Debug)]
struct Page {
    tools: Vec<Bytes>,
    /// The token of the next cursor.
    next: Option<String>,
    ttl_ms: u64,
}

fn read(page: &Bytes) -> Result<Page, FetchError> {
    let envelope = scan(page, &ScanLimits::default()).map_err(|_| FetchError::Malformed)?;
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
    // What is missing, negative or no number means that the list must not be kept.
    let ttl_ms = member(page, result, "ttlMs")
        .and_then(|ttl| std::str::from_utf8(ttl.bytes(page)).ok()?.parse().ok());
    Ok(Page {
        tools: elements(page, tools).map(copy).collect(),
        next,
        ttl_ms: ttl_ms.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gives_its_elements_as_they_are() {
        let page = br#"{"result":{"nextCursor":"","tools":[{"name":"a" }, null,5]},"id":1,"jsonrpc":"2.0"}"#;
        let read_page = read(&Bytes::from_static(page)).expect("a page");
        assert_eq!(read_page.tools, [&b"{\"name\":\"a\" }"[..], b"null", b"5"]);
        assert_eq!(read_page.next.as_deref(), Some("\"\""));
        assert_eq!(read_page.ttl_ms, 0);
        let last = br#"{"result":{"ttlMs":700,"tools":[],"nextCursor":null}}"#;
        let last = read(&Bytes::from_static(last)).expect("a page");
        assert!(last.tools.is_empty() && last.next.is_none() && last.ttl_ms == 700);
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
