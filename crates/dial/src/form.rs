//! The form of a response body, by its content type: JSON, an event stream, or something else.

use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

/// What a response says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One piece of JSON.
    Json,
    /// A stream of events.
    Events,
    /// Something else, or nothing said.
    Other,
}

impl Form {
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
        let form = |value: &'static str| {
            let value = HeaderValue::from_static(value);
            Form::from_headers(&HeaderMap::from_iter([(CONTENT_TYPE, value)]))
        };
        assert_eq!(form("application/json"), Form::Json);
        assert_eq!(form("Application/JSON ; charset=utf-8"), Form::Json);
        assert_eq!(form("text/event-stream;x"), Form::Events);
        assert_eq!(form("application/jsonl"), Form::Other);
        assert_eq!(Form::from_headers(&HeaderMap::new()), Form::Other);
    }
}
