//! Python values as JSON text, for callers that no longer have the bytes. Only what `json.loads` makes is taken; a float
//! that is not a number has no JSON form.

use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Deeper values are refused: Python's own reader makes none.
const MAX_DEPTH: usize = 1000;
/// How many bytes are looked at together for one that must be escaped.
const LANE: usize = 16;

/// The JSON text of a value.
#[pyfunction]
pub(crate) fn dumps<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut text = Vec::new();
    write(value, 0, &mut text)?;
    Ok(PyBytes::new(value.py(), &text))
}

/// Appends the JSON text of a value.
pub(crate) fn write_value(value: &Bound<'_, PyAny>, text: &mut Vec<u8>) -> PyResult<()> {
    write(value, 0, text)
}

/// The types that `json.loads` makes are recognised by their pointers, in the order in which they are common.
fn write(value: &Bound<'_, PyAny>, depth: usize, text: &mut Vec<u8>) -> PyResult<()> {
    if let Some(string) = exactly::<PyString>(value) {
        write_string(string, text)
    } else if let Some(number) = exactly::<PyInt>(value) {
        write_integer(number, text)
    } else if let Some(number) = exactly::<PyFloat>(value) {
        write_float(number, text)
    } else if let Some(object) = exactly::<PyDict>(value) {
        write_object(object, depth, text)
    } else if let Some(list) = exactly::<PyList>(value) {
        write_list(list, depth, text)
    } else {
        write_other(value, depth, text)
    }
}

/// The value as this type, if it has no other. A failed cast would make an error, which costs more than the comparison.
fn exactly<'a, 'py, T: PyTypeInfo>(value: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, T>> {
    if !value.is_exact_instance_of::<T>() {
        return None;
    }
    value.cast_exact().ok()
}

/// Constants, tuples and subclasses.
fn write_other(value: &Bound<'_, PyAny>, depth: usize, text: &mut Vec<u8>) -> PyResult<()> {
    if value.is_none() {
        text.extend_from_slice(b"null");
    } else if let Ok(flag) = value.cast::<PyBool>() {
        text.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
    } else if let Ok(string) = value.cast::<PyString>() {
        write_string(string, text)?;
    } else if let Ok(number) = value.cast::<PyInt>() {
        write_integer(number, text)?;
    } else if let Ok(object) = value.cast::<PyDict>() {
        write_object(object, depth, text)?;
    } else if let Ok(list) = value.cast::<PyList>() {
        write_list(list, depth, text)?;
    } else if let Ok(number) = value.cast::<PyFloat>() {
        write_float(number, text)?;
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        write_list(&tuple.to_list(), depth, text)?;
    } else {
        return Err(PyTypeError::new_err("the value has no JSON form"));
    }
    Ok(())
}

/// The depth inside a container at this depth.
fn inside(depth: usize) -> PyResult<usize> {
    if depth < MAX_DEPTH {
        Ok(depth + 1)
    } else {
        Err(PyValueError::new_err("the value is nested too deep"))
    }
}

fn write_object(object: &Bound<'_, PyDict>, depth: usize, text: &mut Vec<u8>) -> PyResult<()> {
    let depth = inside(depth)?;
    let mut before = b'{';
    for (key, value) in object.iter() {
        text.push(before);
        before = b',';
        let Ok(key) = key.cast::<PyString>() else {
            return Err(PyTypeError::new_err("the keys of an object are strings"));
        };
        write_string(key, text)?;
        text.push(b':');
        write(&value, depth, text)?;
    }
    text.extend_from_slice(if before == b'{' { b"{}" } else { b"}" });
    Ok(())
}

fn write_list(list: &Bound<'_, PyList>, depth: usize, text: &mut Vec<u8>) -> PyResult<()> {
    let depth = inside(depth)?;
    let mut before = b'[';
    for item in list.iter() {
        text.push(before);
        before = b',';
        write(&item, depth, text)?;
    }
    text.extend_from_slice(if before == b'[' { b"[]" } else { b"]" });
    Ok(())
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
        // A lone surrogate: written as an escape, as it came.
        let json = string.py().import("json")?;
        let escaped = json.call_method1("dumps", (string,))?;
        text.extend_from_slice(escaped.cast::<PyString>()?.to_str()?.as_bytes());
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

fn is_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Whether a byte must be escaped. Whole lanes are looked at without a branch, so that the compiler can use vectors.
fn has_escape(bytes: &[u8]) -> bool {
    let lanes = bytes.chunks_exact(LANE);
    let rest = lanes.remainder();
    let any = |lane: &[u8]| {
        lane.iter()
            .fold(false, |found, byte| found | is_escape(*byte))
    };
    any(rest) || lanes.into_iter().any(any)
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
