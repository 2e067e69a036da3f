//! A stream of server-sent events, read as the standard says and written again with only what a client of MCP needs:
//! messages, ids, pauses and the address that the older transport announces. An event stops at `max_message_bytes`.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) id: Option<Vec<u8>>,
    retry: Vec<u8>,
    has_data: bool,
}

/// Names, ids and pauses are short.
const MOST_FIELD: usize = 1024;

impl Event {
    /// Whether clients read it as a message.
    pub(crate) fn is_message(&self) -> bool {
        self.has_data && !self.data.is_empty() && matches!(&self.name[..], b"" | b"message")
    }

    /// Whether the older transport says with it where to post.
    pub(crate) fn is_endpoint(&self) -> bool {
        self.name == b"endpoint" && self.data.len() <= 4096
    }

    /// The event as text, with this data or without any.
    pub(crate) fn write(&self, data: Option<&[u8]>) -> Vec<u8> {
        let mut text = Vec::with_capacity(data.map_or(0, <[u8]>::len) + 64);
        let mut line = |name: &[u8], value: &[u8]| {
            text.extend_from_slice(name);
            text.extend_from_slice(b": ");
            text.extend_from_slice(value);
            text.push(b'\n');
        };
        if !self.name.is_empty() {
            line(b"event", &self.name);
        }
        if let Some(id) = &self.id {
            line(b"id", id);
        }
        if !self.retry.is_empty() {
            line(b"retry", &self.retry);
        }
        if let Some(data) = data {
            for part in data.split(|byte| matches!(byte, b'\n' | b'\r')) {
                line(b"data", part);
            }
        }
        text.push(b'\n');
        text
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Cuts a stream into events.
pub(crate) struct EventReader {
    most: usize,
    line: Vec<u8>,
    event: Event,
    after_return: bool,
    is_first_line: bool,
}

impl EventReader {
    /// A reader that keeps so many bytes of an event's data.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            line: Vec::new(),
            event: Event::default(),
            after_return: false,
            is_first_line: true,
        }
    }

    /// Takes the next bytes, and gives the events that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.finish_line()),
                // The name of a field and a colon stand before the data.
                _ if self.line.len() < self.most.saturating_add(8) => self.line.push(*byte),
                _ => {}
            }
        }
        events
    }

    fn finish_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = &line[..];
        if std::mem::replace(&mut self.is_first_line, false) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return (!event.is_empty()).then_some(event);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.get(1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        self.field(name, value);
        None
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        let is_short = value.len() <= MOST_FIELD;
        match name {
            b"data" => {
                if self.event.has_data {
                    self.event.data.push(b'\n');
                }
                self.event.has_data = true;
                let room = self.most.saturating_sub(self.event.data.len());
                let value = value.get(..room).unwrap_or(value);
                self.event.data.extend_from_slice(value);
            }
            b"event" if is_short => self.event.name = value.to_vec(),
            b"id" if is_short && !value.contains(&0) => self.event.id = Some(value.to_vec()),
            b"retry" if is_short && value.iter().all(u8::is_ascii_digit) => {
                self.event.retry = value.to_vec();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] = b"\xef\xbb\xbf: hello\r\nevent: message\rid: 7\ndata: {\"a\":\ndata: 1}\n\nid:8\nretry: 50\ndata:\n\nevent: x\ndata: y\n\ndata: cut";

    #[test]
    fn chunks_do_not_matter() {
        let whole = EventReader::new(1000).feed(STREAM);
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[0].data, b"{\"a\":\n1}");
        assert!(whole[0].is_message() && !whole[1].is_message() && !whole[2].is_message());
        assert_eq!(whole[1].write(None), b"id: 8\nretry: 50\n\n");
        assert_eq!(
            whole[0].write(Some(b"1\n2")),
            b"event: message\nid: 7\ndata: 1\ndata: 2\n\n"
        );
        for size in 1..STREAM.len() {
            let mut reader = EventReader::new(1000);
            let chunks = STREAM.chunks(size);
            let events: Vec<Event> = chunks.flat_map(|chunk| reader.feed(chunk)).collect();
            assert_eq!(events, whole, "{size}");
        }
    }

    #[test]
    fn an_event_holds_no_more_than_it_may() {
        let mut reader = EventReader::new(10);
        reader.feed(b"data: ");
        reader.feed(&[b'x'; 10_000]);
        assert!(reader.line.len() < 20);
        let events = reader.feed(b"\ndata: yyyyyyyyyyyyyyyy\n\n");
        assert!(events[0].data.len() <= 11, "{}", events[0].data.len());
    }
}
