//! Reports: the run as JSON first, every other form rendered from it.
