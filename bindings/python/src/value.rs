//! Python values as JSON text, for callers that no longer have the bytes. Only what `json.loads` makes is taken; a float
//! that is not a number has no JSON form.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Deeper values are refused: Python's own reader makes none.
const MAX_DEPTH: usize = 1000;

/// The JSON text of a value.
#[pyfunction]
pub(crate) fn dumps<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut text = Vec::new();
    write(value, 0, &mut text)?;
    Ok(PyBytes::new(value.py(), &text))
}

fn write(value: &Bound<'_, PyAny>, depth: usize, text: &mut Vec<u8>) -> PyResult<()> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err("the value is nested too deep"));
    }
    if let Ok(string) = value.cast::<PyString>() {
        return write_string(string, text);
    }
    if value.is_none() {
        text.extend_from_slice(b"null");
    } else if let Ok(flag) = value.cast::<PyBool>() {
        text.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
    } else if let Ok(number) = value.cast::<PyInt>() {
        write_integer(number, text)?;
    } else if let Ok(object) = value.cast::<PyDict>() {
        write_object(object, depth, text)?;
    } else if let Ok(list) = value.cast::<PyList>() {
        write_array(list.iter(), depth, text)?;
    } else if let Ok(number) = value.cast::<PyFloat>() {
        write_float(number, text)?;
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        write_array(tuple.iter(), depth, text)?;
    } else {
        return Err(PyTypeError::new_err("the value has no JSON form"));
    }
    Ok(())
}

fn write_object(object: &Bound<'_, PyDict>, depth: usize, text: &mut Vec<u8>) -> PyResult<()> {
    text.push(b'{');
    for (index, (key, value)) in object.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        let Ok(key) = key.cast::<PyString>() else {
            return Err(PyTypeError::new_err("the keys of an object are strings"));
        };
        write_string(key, text)?;
        text.push(b':');
        write(&value, depth + 1, text)?;
    }
    text.push(b'}');
    Ok(())
}

fn write_array<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
    text: &mut Vec<u8>,
) -> PyResult<()> {
    text.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        write(&item, depth + 1, text)?;
    }
    text.push(b']');
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
    text.extend_from_slice(format!("{:?}", number.value()).as_bytes());
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
    text.push(b'"');
    let bytes = plain.as_bytes();
    let mut done = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte >= 0x20 && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        text.extend_from_slice(&bytes[done..at]);
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            _ => text.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        done = at + 1;
    }
    text.extend_from_slice(&bytes[done..]);
    text.push(b'"');
    Ok(())
}
