//! The kind of a response body, by its `Content-Type`: JSON, an event stream, or something else.

use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

/// What a response says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// One piece of JSON.
    Json,
    /// A stream of events.
    Events,
    /// Something else, or nothing said.
    Other,
}

impl MediaType {
    /// What the headers of a response say it is.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        let kind = value.unwrap_or_default().split(|byte| *byte == b';').next();
        let kind = kind.unwrap_or_default().trim_ascii();
        if kind.eq_ignore_ascii_case(b"application/json") {
            Self::Json
        } else if kind.eq_ignore_ascii_case(b"text/event-stream") {
            Self::Events
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_do_not_matter() {
        let media_type = |value: &'static str| {
            let value = HeaderValue::from_static(value);
            MediaType::from_headers(&HeaderMap::from_iter([(CONTENT_TYPE, value)]))
        };
        assert_eq!(media_type("application/json"), MediaType::Json);
        assert_eq!(
            media_type("Application/JSON ; charset=utf-8"),
            MediaType::Json
        );
        assert_eq!(media_type("text/event-stream;x"), MediaType::Events);
        assert_eq!(media_type("application/jsonl"), MediaType::Other);
        assert_eq!(MediaType::from_headers(&HeaderMap::new()), MediaType::Other);
    }
}
