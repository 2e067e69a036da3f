//! Everything a server lists as its tools, page by page, each kept as it was declared. A list
//! without end is an error, and so is a cursor that leads nowhere new.

use bytes::Bytes;
use countersign_tape::{Kind, Span, elements};
use countersign_wire::json::member;
use thiserror::Error;

use super::exchange::{Fault, Reply};

const MOST_PAGES: usize = 1_000;
const MOST_TOOLS: usize = 100_000;

/// The tools of a server.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The tools, in the server's order.
    pub tools: Vec<Declaration>,
    /// How many entries have no name and so cannot be called.
    pub nameless: usize,
}

/// A tool as its server declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// The whole declaration, byte for byte.
    pub raw: Bytes,
}

/// Why there is no list.
#[derive(Debug, Error)]
pub enum ListError {
    /// A page was not answered.
    #[error("the tools could not be listed")]
    Unanswered(#[source] Fault),
    /// A page was refused with a JSON-RPC error.
    #[error("the server refused to list its tools (code {code:?})")]
    Refused {
        /// The error's code, if it is an integer.
        code: Option<i64>,
    },
    /// A page is not a list of tools.
    #[error("the answer to tools/list has no list of tools")]
    NoList,
    /// There are too many pages or tools, or the pages go round in circles.
    #[error("the list of tools does not end")]
    Endless,
}

/// A server that can be asked for one page of its tools.
pub(crate) trait ListPages {
    /// The page after the cursor that `members` of the `params` name, or the first one.
    fn list_page(&self, members: &[u8]) -> impl Future<Output = Result<Reply, Fault>> + Send;
}

impl List {
    /// Fetches all pages.
    pub(crate) async fn fetch(client: &impl ListPages) -> Result<Self, ListError> {
        let mut list = Self::default();
        let mut cursor: Option<Vec<u8>> = None;
        for _ in 0..MOST_PAGES {
            let members = cursor
                .as_ref()
                .map(|cursor| [br#""cursor":"#, &cursor[..]].concat());
            let page = match client.list_page(&members.unwrap_or_default()).await {
                Ok(Reply::Result(page)) => page,
                Ok(Reply::Error(error)) => return Err(ListError::Refused { code: error.code }),
                Err(fault) => return Err(ListError::Unanswered(fault)),
            };
            let next = list.add(&page)?;
            if list.tools.len() > MOST_TOOLS || (next.is_some() && next == cursor) {
                return Err(ListError::Endless);
            }
            if next.is_none() {
                return Ok(list);
            }
            cursor = next;
        }
        Err(ListError::Endless)
    }

    /// Adds a page; gives the token of the cursor to the next.
    fn add(&mut self, page: &Bytes) -> Result<Option<Vec<u8>>, ListError> {
        let whole = Span::whole(page);
        let tools = member(page, whole, "tools")
            .filter(|tools| tools.kind(page) == Some(Kind::Array))
            .ok_or(ListError::NoList)?;
        for tool in elements(page, tools) {
            let raw = page.slice_ref(tool.bytes(page));
            match member(page, tool, "name").and_then(|name| name.string(page)) {
                Some(name) => self.tools.push(Declaration {
                    name: name.into_owned(),
                    raw,
                }),
                None => self.nameless += 1,
            }
        }
        Ok(member(page, whole, "nextCursor")
            .filter(|cursor| cursor.kind(page) == Some(Kind::String))
            .map(|cursor| cursor.bytes(page).to_vec()))
    }
}
