//! What a violation means for the run: one small pure function, and the overrides around it.
