//! The body of an HTTP response, after content decoding: one JSON message, a stream of events, or a text that explains a
//! failure.

use bytes::Bytes;
use countersign_inspect::Exchange;
use countersign_sanitise::{Sanitiser, Settings};

use crate::config::OnStoreError;
use crate::delivery::Delivery;
use crate::engine::Engine;
use crate::events::{Event, EventReader};
use crate::fidelity::Fidelity;

/// The longest text that explains a failure.
const MOST_TEXT: usize = 4096;

/// What a body is, by its status and content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    /// `application/json`, or nothing that is known: a client may read it as JSON.
    Json,
    /// `text/event-stream`.
    Events,
    /// Something else with a status that says failure.
    Text,
}

impl BodyFormat {
    /// The format of a response.
    pub(crate) fn new(status: u16, content_type: &str) -> Self {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("text/event-stream") {
            Self::Events
        } else if status >= 400 && !kind.eq_ignore_ascii_case("application/json") {
            Self::Text
        } else {
            Self::Json
        }
    }
}

/// Filters one body.
pub(crate) struct BodyFilter {
    exchange: Exchange,
    format: BodyFormat,
    on_store_error: OnStoreError,
    fidelity: Fidelity,
    /// One byte more than a message may have.
    most: usize,
    buffer: Vec<u8>,
    events: EventReader,
}

impl BodyFilter {
    /// A filter at the beginning of a body.
    pub(crate) fn new(engine: &Engine, exchange: Exchange, format: BodyFormat) -> Self {
        let limit = engine.inspector().base_policy().max_message_bytes;
        let most = limit.saturating_add(1);
        Self {
            exchange,
            format,
            on_store_error: engine.on_store_error(),
            fidelity: Fidelity::Bytes,
            most,
            buffer: Vec::new(),
            events: EventReader::new(most),
        }
    }

    /// Takes the next bytes, and gives what the client may read.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Delivery> {
        if self.format == BodyFormat::Events {
            let events = self.events.feed(bytes);
            return events
                .iter()
                .filter_map(|event| self.event(event))
                .collect();
        }
        let most = if self.format == BodyFormat::Text {
            MOST_TEXT
        } else {
            self.most
        };
        let room = most.saturating_sub(self.buffer.len());
        self.buffer
            .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        Vec::new()
    }

    /// The body is over.
    pub(crate) fn finish(&mut self) -> Option<Delivery> {
        let body = std::mem::take(&mut self.buffer);
        if body.trim_ascii().is_empty() {
            return None;
        }
        match self.format {
            // An event without its end is none.
            BodyFormat::Events => None,
            BodyFormat::Json => self.deliver(body.into(), Bytes::clone),
            BodyFormat::Text => Some(Delivery::plain(cleaned(&body))),
        }
    }

    fn event(&self, event: &Event) -> Option<Delivery> {
        if let Some(id) = &event.id {
            self.exchange.event_id(id);
        }
        if event.is_endpoint() {
            return Some(Delivery::plain(event.write(Some(&event.data))));
        }
        let bare = || {
            event
                .id
                .is_some()
                .then(|| Delivery::plain(event.write(None)))
        };
        if !event.is_message() {
            return bare();
        }
        let frame = |message: &Bytes| event.write(Some(message)).into();
        self.deliver(event.data.clone().into(), frame).or_else(bare)
    }

    fn deliver(&self, message: Bytes, frame: impl Fn(&Bytes) -> Bytes) -> Option<Delivery> {
        let passed = self.exchange.received(message);
        Delivery::new(&passed, self.on_store_error, self.fidelity, frame)
    }
}

/// A text that a client may put into an exception, and a program may show to a model.
fn cleaned(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let sanitiser = Sanitiser::new(Settings::default());
    sanitiser.map_or_else(
        |_| Vec::new(),
        |sanitiser| sanitiser.clean(&text).text.into_owned().into_bytes(),
    )
}
