//! The client's transport: a stream whose other end is a server's stdin and stdout, with the boundary in between. Every
//! line passes through it while it is still bytes.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::{Boundary, Inspector, Passed, Policy};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};
use tokio::io::{BufReader, DuplexStream};

/// The longest line of either side.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// Connects a client to a server; the stream is the client's end.
pub(crate) fn inspected_transport(
    server_out: impl AsyncRead + Send + Unpin + 'static,
    server_in: impl AsyncWrite + Send + Unpin + 'static,
    policy: Policy,
) -> DuplexStream {
    let boundary = Arc::new(Boundary::new(Arc::new(Inspector::new(policy))));
    let (client, ours) = tokio::io::duplex(64 * 1024);
    let (from_client, to_client) = tokio::io::split(ours);
    let sending = Arc::clone(&boundary);
    tokio::spawn(pump(from_client, server_in, move |line| {
        Some(sending.sent(line))
    }));
    tokio::spawn(pump(server_out, to_client, move |line| {
        Passed::into_message(boundary.received(line))
    }));
    client
}

/// Passes lines on, each through `filter`, until one side ends.
async fn pump(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    filter: impl Fn(Bytes) -> Option<Bytes>,
) -> std::io::Result<()> {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        (&mut from)
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .await?;
        if line.pop() != Some(b'\n') {
            // The end, or a line without one.
            return to.shutdown().await;
        }
        if let Some(line) = filter(line.into()) {
            to.write_all(&line).await?;
            to.write_all(b"\n").await?;
            to.flush().await?;
        }
    }
}
