//! Load: open-loop and closed-loop executors, timings from the intended start, saturation.
