//! The extension module `countersign_mcp._native`. The Python package around it is the interface; see its stubs.
#![forbid(unsafe_code)]

mod filters;
mod inspector;
mod sanitise;
mod schema;
mod text;
mod value;
mod verdict;

use pyo3::prelude::*;

/// Below this many bytes an inspection is over before another thread could have taken the lock.
const DETACH_FROM: usize = 4096;

/// Runs `work` without the interpreter's lock if there is enough of it.
fn detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < DETACH_FROM {
        return work();
    }
    py.detach(work)
}

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::filters::{BodyFilter, Boundary, LineFilter};
    #[pymodule_export]
    use crate::inspector::{Inspector, Tool};
    #[pymodule_export]
    use crate::sanitise::sanitise;
    #[pymodule_export]
    use crate::schema::Schema;
    #[pymodule_export]
    use crate::verdict::Verdict;
}
