//! The one form of our own answers: one text block, `isError` if it is a refusal, nothing else. Every client
//! accepts it; structured content beside an error makes some of them throw.

use bytes::Bytes;
use countersign_tape::quote;

use crate::era::ClientEra;

/// A tool result that says what went wrong.
pub(crate) fn error_result(text: &str, client: ClientEra) -> Bytes {
    result(text, br#"}],"isError":true}"#, client)
}

/// A tool result that says this.
pub(crate) fn text_result(text: &str, client: ClientEra) -> Bytes {
    result(text, b"}]}", client)
}

fn result(text: &str, end: &[u8], client: ClientEra) -> Bytes {
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
        end,
    ];
    parts.concat().into()
}
