//! Python values as JSON text, for callers that no longer have the bytes. Only what `json.loads` makes is taken; a float
//! that is not a number has no JSON form.

use std::ops::Range;

use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Deeper values are refused: Python's own reader makes none.
const MAX_DEPTH: usize = 1000;

/// Appends the JSON text of a value.
pub(crate) fn write_value(value: &Bound<'_, PyAny>, text: &mut Vec<u8>) -> PyResult<()> {
    let mut writer = ValueWriter {
        text,
        keys: WrittenKeys {
            places: [const { None }; WRITTEN_KEYS],
        },
    };
    writer.write(value, 0)
}

/// A text that grows, and the keys in it.
struct ValueWriter<'a, 'py> {
    text: &'a mut Vec<u8>,
    keys: WrittenKeys<'py>,
}

impl<'py> ValueWriter<'_, 'py> {
    /// The types that `json.loads` makes are recognised by their pointers, in the order in which they are common.
    fn write(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if let Some(string) = exactly::<PyString>(value) {
            write_string(string, self.text)
        } else if let Some(number) = exactly::<PyInt>(value) {
            write_integer(number, self.text)
        } else if let Some(number) = exactly::<PyFloat>(value) {
            write_float(number, self.text)
        } else if let Some(object) = exactly::<PyDict>(value) {
            self.write_object(object, depth)
        } else if let Some(list) = exactly::<PyList>(value) {
            self.write_list(list, depth)
        } else {
            self.write_other(value, depth)
        }
    }

    /// Constants, tuples and subclasses.
    fn write_other(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if value.is_none() {
            self.text.extend_from_slice(b"null");
        } else if let Ok(flag) = value.cast::<PyBool>() {
            self.text
                .extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
        } else if let Ok(string) = value.cast::<PyString>() {
            write_string(string, self.text)?;
        } else if let Ok(number) = value.cast::<PyInt>() {
            write_integer(number, self.text)?;
        } else if let Ok(object) = value.cast::<PyDict>() {
            self.write_object(object, depth)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            self.write_list(list, depth)?;
        } else if let Ok(number) = value.cast::<PyFloat>() {
            write_float(number, self.text)?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.write_list(&tuple.to_list(), depth)?;
        } else {
            return Err(PyTypeError::new_err("the value has no JSON form"));
        }
        Ok(())
    }

    fn write_object(&mut self, object: &Bound<'py, PyDict>, depth: usize) -> PyResult<()> {
        let depth = inside(depth)?;
        let mut before = b'{';
        // Without the interpreter's lock another thread may change the object while it is read.
        #[cfg(Py_GIL_DISABLED)]
        let object = &object.copy()?;
        for (key, value) in object.iter() {
            self.text.push(before);
            before = b',';
            self.write_key(&key)?;
            self.text.push(b':');
            self.write(&value, depth)?;
        }
        self.text
            .extend_from_slice(if before == b'{' { b"{}" } else { b"}" });
        Ok(())
    }

    fn write_key(&mut self, key: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Some(key) = exactly::<PyString>(key) {
            return self.keys.write(key, self.text);
        }
        match key.cast::<PyString>() {
            Ok(key) => write_string(key, self.text),
            Err(_) => Err(PyTypeError::new_err("the keys of an object are strings")),
        }
    }

    fn write_list(&mut self, list: &Bound<'py, PyList>, depth: usize) -> PyResult<()> {
        let depth = inside(depth)?;
        let mut before = b'[';
        for item in list.iter() {
            self.text.push(before);
            before = b',';
            self.write(&item, depth)?;
        }
        self.text
            .extend_from_slice(if before == b'[' { b"[]" } else { b"]" });
        Ok(())
    }
}

/// The value as this type, if it has no other. A failed cast would make an error, which costs more than the comparison.
pub(crate) fn exactly<'a, 'py, T: PyTypeInfo>(
    value: &'a Bound<'py, PyAny>,
) -> Option<&'a Bound<'py, T>> {
    if !value.is_exact_instance_of::<T>() {
        return None;
    }
    value.cast_exact().ok()
}

/// The depth inside a container at this depth.
fn inside(depth: usize) -> PyResult<usize> {
    if depth < MAX_DEPTH {
        Ok(depth + 1)
    } else {
        Err(PyValueError::new_err("the value is nested too deep"))
    }
}

/// The same key comes again and again in a list of objects, and `json.loads` makes one string of it.
struct WrittenKeys<'py> {
    /// By the address of the string, which stays its own while it is held here.
    places: [Option<WrittenKey<'py>>; WRITTEN_KEYS],
}

const WRITTEN_KEYS: usize = 128;

struct WrittenKey<'py> {
    key: Bound<'py, PyString>,
    place: Range<usize>,
}

impl<'py> WrittenKeys<'py> {
    /// Appends the key: as it stands in the text already, if it does.
    fn write(&mut self, key: &Bound<'py, PyString>, text: &mut Vec<u8>) -> PyResult<()> {
        // Strings lie at least 16 bytes apart.
        let address = key.as_ptr() as usize >> 4;
        let slot = &mut self.places[(address ^ address >> 7) % WRITTEN_KEYS];
        if let Some(written) = slot
            && written.key.is(key)
        {
            text.extend_from_within(written.place.clone());
            return Ok(());
        }
        let start = text.len();
        write_string(key, text)?;
        *slot = Some(WrittenKey {
            key: key.clone(),
            place: start..text.len(),
        });
        Ok(())
    }
}

fn write_integer(number: &Bound<'_, PyInt>, text: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(small) = number.extract::<i64>() {
        text.extend_from_slice(itoa::Buffer::new().format(small).as_bytes());
        return Ok(());
    }
    // Subclasses may write themselves differently.
    let plain = number
        .py()
        .get_type::<PyInt>()
        .call_method1("__repr__", (number,))?;
    text.extend_from_slice(plain.cast::<PyString>()?.to_str()?.as_bytes());
    Ok(())
}

fn write_float(number: &Bound<'_, PyFloat>, text: &mut Vec<u8>) -> PyResult<()> {
    if !number.value().is_finite() {
        return Err(PyValueError::new_err("NaN and infinity have no JSON form"));
    }
    // The shortest text that reads as the same number.
    text.extend_from_slice(zmij::Buffer::new().format_finite(number.value()).as_bytes());
    Ok(())
}

fn write_string(string: &Bound<'_, PyString>, text: &mut Vec<u8>) -> PyResult<()> {
    let Ok(plain) = string.to_str() else {
        write_with_surrogates(encode_surrogates(string)?.as_bytes(), text);
        return Ok(());
    };
    let bytes = plain.as_bytes();
    text.reserve(bytes.len() + 2);
    text.push(b'"');
    if has_escape(bytes) {
        write_escaped(bytes, text);
    } else {
        text.extend_from_slice(bytes);
    }
    text.push(b'"');
    Ok(())
}

/// The UTF-8 of a text that has lone surrogates, each in the three bytes that it would have if it were a character. No
/// Python code runs, and no method of a subclass is asked.
pub(crate) fn encode_surrogates<'py>(
    string: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyBytes>> {
    let class = string.py().get_type::<PyString>();
    let encoded = class.call_method1("encode", (string, "utf-8", "surrogatepass"))?;
    Ok(encoded.cast_into::<PyBytes>()?)
}

/// Writes lone surrogates as escapes, which is how they came.
fn write_with_surrogates(mut bytes: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    loop {
        let lone = |window: &[u8]| matches!(window, [0xED, 0xA0..=0xBF, _]);
        let plain = bytes.windows(3).position(lone).unwrap_or(bytes.len());
        let (before, rest) = bytes.split_at(plain);
        write_escaped(before, text);
        let [first, second, third, behind @ ..] = rest else {
            break;
        };
        let bits = |byte: &u8, mask: u8| u16::from(byte & mask);
        let unit = bits(first, 0x0F) << 12 | bits(second, 0x3F) << 6 | bits(third, 0x3F);
        text.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        bytes = behind;
    }
    text.push(b'"');
}

fn is_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Bytes that are looked at together.
const LANE: usize = 16;

/// Whether a byte must be escaped. The last lane overlaps the one before it.
fn has_escape(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<LANE>() else {
        return has_escape_in_short(bytes);
    };
    let (lanes, _) = bytes.as_chunks::<LANE>();
    lanes.iter().any(has_escape_in_lane) || has_escape_in_lane(last)
}

/// Without a branch, so that the compiler can use vectors.
fn has_escape_in_lane(lane: &[u8; LANE]) -> bool {
    let is_escape =
        |byte: u8| u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\');
    lane.iter().fold(0, |any, byte| any | is_escape(*byte)) != 0
}

/// The same for fewer bytes than a lane has, in words of eight; what is missing is filled up with spaces.
fn has_escape_in_short(bytes: &[u8]) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let words = [first, last].map(|word| u64::from_le_bytes(*word));
        return words.into_iter().any(has_escape_in_word);
    }
    let add = |word, byte: &u8| word << 8 | u64::from(*byte);
    has_escape_in_word(bytes.iter().fold(u64::from_le_bytes([b' '; 8]), add))
}

/// Bytes beyond ASCII never must be escaped.
fn has_escape_in_word(word: u64) -> bool {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    // A byte below the limit borrows, which sets its highest bit. A byte above it may borrow as well; one is enough.
    let has_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let has = |byte: u8| has_below(word ^ (ONES * u64::from(byte)), 1);
    has_below(word, 0x20) | has(b'"') | has(b'\\') != 0
}

fn write_escaped(bytes: &[u8], text: &mut Vec<u8>) {
    for piece in bytes.chunk_by(|before, after| !is_escape(*before) && !is_escape(*after)) {
        match piece {
            [byte @ (b'"' | b'\\')] => text.extend_from_slice(&[b'\\', *byte]),
            [byte] if *byte < 0x20 => text.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            plain => text.extend_from_slice(plain),
        }
    }
}
