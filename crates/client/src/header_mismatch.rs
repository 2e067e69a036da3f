//! A modern server may refuse a call because the headers do not repeat what its tool marks in the arguments. Then the marks
//! that are known are old: the tool is listed anew, and the call is made once more.

use countersign_tape::Span;
use countersign_wire::json::path;
use countersign_wire::{MirroredArguments, message};

use crate::client::{Fault, List, ListPages, Reply};
use crate::connection::Connection;
use crate::notes::NoteSink;

/// The arguments of a tool that are repeated as headers, as the server lists them now. Nothing if the tool is not listed, or
/// its marks are invalid.
pub(crate) async fn listed_marks(connection: &Connection, tool: &str) -> Option<MirroredArguments> {
    let list = List::fetch(connection).await.ok()?;
    let declared = list.tools.into_iter().find(|listed| listed.name == tool)?;
    let schema = path(&declared.raw, Span::whole(&declared.raw), &["inputSchema"])?;
    MirroredArguments::from_schema(schema.bytes(&declared.raw)).ok()
}

impl ListPages for Connection {
    async fn list_page(&self, members: &[u8]) -> Result<Reply, Fault> {
        let params = |era, _| Ok(message::own_params(era, members));
        let request = self.ask("tools/list", params, &NoteSink::closed())?;
        let id = request.id();
        Reply::read(&request.answer().await?, id)
    }
}
