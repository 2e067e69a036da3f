//! JSON Schema for schemas and data that somebody else wrote.
