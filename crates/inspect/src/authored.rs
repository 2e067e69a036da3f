//! The one form of our own answers: `isError`, one text block, nothing else. Every client
//! accepts it; structured content beside an error makes some of them throw.

use bytes::Bytes;
use countersign_tape::quote;

use crate::reply::ClientEra;

/// A tool result that says what went wrong.
pub(crate) fn error_result(text: &str, client: ClientEra) -> Bytes {
    let kind: &[u8] = match client {
        ClientEra::Modern => br#""resultType":"complete","#,
        ClientEra::Legacy | ClientEra::Unnegotiated => b"",
    };
    let text = quote(text);
    let parts: [&[u8]; 5] = [
        b"{",
        kind,
        br#""content":[{"type":"text","text":"#,
        &text,
        br#"}],"isError":true}"#,
    ];
    parts.concat().into()
}
