//! Every matching record, written while it is sent: memory does not depend on how many there are,
//! and a reader that is slow makes the writer wait. A failure half-way breaks the connection.

use std::io::{self, Write};

use bytes::Bytes;
use countersign_audit::{ExportFormat, Filter, Timestamp, UnknownWord};
use hyper::header::{CONTENT_DISPOSITION, HeaderValue};
use tokio::sync::mpsc;

use super::{ApiError, ApiResult, pairs};
use crate::http::with_type;
use crate::path::reply::Body;
use crate::services::Services;

/// How much is sent at a time.
const PIECE: usize = 64 * 1024;
/// Pieces that may wait for the reader.
const WAITING: usize = 4;

pub(super) fn respond(services: &Services, query: &str) -> ApiResult {
    let (filter, format) = parameters(query).map_err(ApiError::bad_request)?;
    let (pieces, stream) = mpsc::channel(WAITING);
    let reader = services.store.reader().clone();
    tokio::task::spawn_blocking(move || {
        let mut out = ChunkWriter::new(pieces);
        if let Err(error) = reader.export(&filter, format, &mut out)
            && !out.is_unread()
        {
            tracing::error!(%error, "an export broke off");
            out.break_off();
        }
    });
    let kind = HeaderValue::from_static(format.media_type());
    let mut response = with_type(kind, Body::Download(stream));
    let file = match format {
        ExportFormat::Jsonl => "attachment; filename=\"activity.jsonl\"",
        ExportFormat::Csv => "attachment; filename=\"activity.csv\"",
        ExportFormat::Sarif => "attachment; filename=\"activity.sarif\"",
    };
    let file = HeaderValue::from_static(file);
    response.headers_mut().insert(CONTENT_DISPOSITION, file);
    Ok(response)
}

fn parameters(query: &str) -> Result<(Filter, ExportFormat), String> {
    let mut format = ExportFormat::Jsonl;
    let mut filters = Vec::new();
    for (key, value) in pairs(query) {
        if key == "format" {
            format = value.parse().map_err(|why: UnknownWord| why.to_string())?;
        } else {
            filters.push((key, value));
        }
    }
    let filter = Filter::from_pairs(filters, Timestamp::now());
    Ok((filter.map_err(|why| why.to_string())?, format))
}

/// Collects what is written into pieces and hands them over.
struct ChunkWriter {
    to: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl ChunkWriter {
    fn new(to: mpsc::Sender<io::Result<Bytes>>) -> Self {
        Self {
            to,
            piece: Vec::with_capacity(PIECE),
        }
    }

    /// The client has gone away, which is no failure of the export.
    fn is_unread(&self) -> bool {
        self.to.is_closed()
    }

    fn break_off(&self) {
        let broken = io::Error::other("the export broke off");
        drop(self.to.blocking_send(Err(broken)));
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        let gone = |_| io::ErrorKind::BrokenPipe.into();
        self.to.blocking_send(Ok(piece.into())).map_err(gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_asked_for_in_known_words() {
        let (filter, format) = parameters("format=csv&status=blocked").expect("known");
        assert_eq!(format, ExportFormat::Csv);
        assert_eq!(filter.statuses.len(), 1);
        let wrong = parameters("format=xml").expect_err("unknown");
        assert_eq!(wrong, "unknown format `xml`; allowed: jsonl, csv, sarif");
        assert!(parameters("limit=5").is_err() && parameters("status=x").is_err());
    }

    #[test]
    fn small_writes_travel_together() {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let mut pieces = ChunkWriter::new(sender);
        for _ in 0..PIECE + 10 {
            pieces.write_all(b"x").expect("read");
        }
        pieces.flush().expect("read");
        let lengths = [PIECE, 10].map(Some);
        let mut next = || {
            receiver
                .try_recv()
                .ok()
                .map(|piece| piece.expect("bytes").len())
        };
        assert_eq!([next(), next()], lengths);
        drop(receiver);
        assert!(pieces.write_all(&vec![0; PIECE]).is_err() && pieces.is_unread());
    }
}
