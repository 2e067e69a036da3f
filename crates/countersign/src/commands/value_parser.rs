//! Parsers of option values that several commands have: one of a fixed set of words, and `FORMAT=FILE`.

use std::error::Error;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};

/// Reads `FORMAT=FILE`. `known` lists the formats for messages.
pub(super) fn parse_format_and_file<T>(
    text: &str,
    known: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<(T, PathBuf), String> {
    let (name, file) = text
        .split_once('=')
        .ok_or_else(|| format!("expected FORMAT=FILE, FORMAT one of {known}"))?;
    let format = parse(name).ok_or_else(|| format!("no format '{name}'; there are {known}"))?;
    Ok((format, file.into()))
}

/// A parser of one of these words.
pub(super) fn word<T, E>(
    words: &'static [&'static str],
    parse: fn(&str) -> Result<T, E>,
) -> ValueParser
where
    T: Clone + Send + Sync + 'static,
    E: Error + Send + Sync + 'static,
{
    let parser = PossibleValuesParser::new(words);
    parser.try_map(move |word| parse(&word)).into()
}
