//! JSON objects that are read strictly: limited depth, no duplicate members at any depth, no lone surrogates.

use std::borrow::Cow;

use countersign_tape::{Kind, Limits, Tape};

/// Claims of real issuers nest three or four levels.
const MAX_DEPTH: u32 = 16;

/// A JSON object.
pub(crate) struct Object<'a> {
    tape: Tape<'a>,
}

/// Why bytes are not such an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonError {
    Malformed,
    DuplicateMember,
}

impl<'a> Object<'a> {
    /// Reads an object of no more than `max_bytes`.
    pub(crate) fn parse(bytes: &'a [u8], max_bytes: usize) -> Result<Self, JsonError> {
        let limits = Limits {
            max_bytes,
            max_depth: MAX_DEPTH,
        };
        let tape = Tape::parse(bytes, &limits).map_err(|_| JsonError::Malformed)?;
        if tape.node(0).kind() != Kind::Object || !tape.lone_surrogates().is_empty() {
            return Err(JsonError::Malformed);
        }
        if !tape.duplicate_keys().is_empty() {
            return Err(JsonError::DuplicateMember);
        }
        Ok(Self { tape })
    }

    /// The object itself.
    pub(crate) fn root(&self) -> Value<'_> {
        Value {
            tape: &self.tape,
            index: 0,
        }
    }

    /// A member of it.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'_>> {
        self.root().get(name)
    }
}

/// A value inside an object.
#[derive(Clone, Copy)]
pub(crate) struct Value<'t> {
    tape: &'t Tape<'t>,
    index: u32,
}

impl<'t> Value<'t> {
    fn kind(self) -> Kind {
        self.tape.node(self.index).kind()
    }

    /// A member, if this is an object that has it.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        if self.kind() != Kind::Object {
            return None;
        }
        let index = self.tape.get(self.index, name)?;
        Some(Self { index, ..self })
    }

    /// The text, if this is a string.
    pub(crate) fn as_str(self) -> Option<Cow<'t, str>> {
        (self.kind() == Kind::String).then(|| self.tape.string(self.index))
    }

    /// The elements, if this is an array.
    pub(crate) fn elements(self) -> Option<impl Iterator<Item = Self>> {
        let is_array = self.kind() == Kind::Array;
        is_array.then(|| {
            let children = self.tape.children(self.index);
            children.map(move |index| Self { index, ..self })
        })
    }

    /// The texts, if this is a string or an array of nothing but strings.
    pub(crate) fn strings(self) -> Option<Vec<Cow<'t, str>>> {
        match self.elements() {
            Some(elements) => elements.map(Self::as_str).collect(),
            None => self.as_str().map(|text| vec![text]),
        }
    }

    /// Whether this is `true`.
    pub(crate) fn is_true(self) -> bool {
        self.tape.raw(self.index) == "true"
    }

    /// Whole seconds since 1970, if this is a number of them. A fraction is cut off.
    pub(crate) fn as_seconds(self) -> Option<u64> {
        if self.kind() != Kind::Number {
            return None;
        }
        let raw = self.tape.raw(self.index);
        if let Ok(whole) = raw.parse() {
            return Some(whole);
        }
        let seconds: f64 = raw.parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked, and the fraction is meant to go"
        )]
        (0.0..MAX_SECONDS)
            .contains(&seconds)
            .then_some(seconds as u64)
    }

    /// The value at a JSON pointer (RFC 6901).
    pub(crate) fn at_pointer(self, pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut value = self;
        for token in pointer.strip_prefix('/')?.split('/') {
            let name = token.replace("~1", "/").replace("~0", "~");
            value = match value.kind() {
                Kind::Array => value.elements()?.nth(name.parse().ok()?)?,
                _ => value.get(&name)?,
            };
        }
        Some(value)
    }
}

/// Beyond the year 30000; a float of that size still counts whole seconds.
const MAX_SECONDS: f64 = 1e12;
