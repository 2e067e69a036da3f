//! The JSON text of what a caller hands in. `bytes`, `bytearray`, `memoryview` and `str` are text already; anything else
//! is a value that is written as text first.

use std::cell::Cell;

use countersign_bindings::Fidelity;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMemoryView, PyString};

use crate::value::{encode_surrogates, exactly, write_value};

thread_local! {
    /// Where values are written; kept, so that not every call allocates.
    static TEXT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A larger buffer is not kept.
const KEPT: usize = 1 << 20;

/// Runs `work` on the JSON text of `data`. No Python runs in between that could change the bytes: `bytes` and `str` are
/// immutable, and everything else is copied.
pub(crate) fn with_text<T>(
    data: &Bound<'_, PyAny>,
    work: impl FnOnce(&[u8], Fidelity) -> T,
) -> PyResult<T> {
    // A cast that fails makes an error, and one that asks for subclasses is a call, so the usual types come first.
    if let Some(bytes) = exactly::<PyBytes>(data) {
        return Ok(work(bytes.as_bytes(), Fidelity::Bytes));
    }
    if data.is_exact_instance_of::<PyDict>() || data.is_exact_instance_of::<PyList>() {
        return with_value(data, work);
    }
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(work(bytes.as_bytes(), Fidelity::Bytes));
    }
    if let Ok(text) = data.cast::<PyString>() {
        return Ok(match text.to_str() {
            Ok(text) => work(text.as_bytes(), Fidelity::Bytes),
            // A text with a lone surrogate is not JSON, and neither are these bytes.
            Err(_) => work(encode_surrogates(text)?.as_bytes(), Fidelity::Bytes),
        });
    }
    if let Ok(array) = data.cast::<PyByteArray>() {
        return Ok(work(&array.to_vec(), Fidelity::Bytes));
    }
    if let Ok(view) = data.cast::<PyMemoryView>() {
        let bytes = view.call_method0("tobytes")?;
        return Ok(work(bytes.cast::<PyBytes>()?.as_bytes(), Fidelity::Bytes));
    }
    with_value(data, work)
}

fn with_value<T>(data: &Bound<'_, PyAny>, work: impl FnOnce(&[u8], Fidelity) -> T) -> PyResult<T> {
    let mut text = TEXT.take();
    text.clear();
    let outcome = write_value(data, &mut text).map(|()| work(&text, Fidelity::Value));
    if text.capacity() <= KEPT {
        TEXT.set(text);
    }
    outcome
}
