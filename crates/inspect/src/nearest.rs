//! The word that was probably meant by a misspelt one, for hints in error messages. Used by every crate that reads
//! words from an operator.

/// Longer words are cut, so that the cost of a comparison is bounded.
const MAX_CHARS: usize = 64;

/// The candidate closest to `word`, if any is close: at most one edit for every three letters of the candidate. An edit
/// is an insertion, a deletion, a substitution or a swap of neighbours; letter case does not count.
///
/// ```
/// use countersign_inspect::nearest_word;
///
/// assert_eq!(nearest_word("Strcit", ["off", "warn", "strict"]), Some("strict"));
/// assert_eq!(nearest_word("enforcing", ["off", "warn", "strict"]), None);
/// ```
pub fn nearest_word<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word: String = word.to_lowercase().chars().take(MAX_CHARS).collect();
    candidates
        .into_iter()
        .map(|candidate| {
            let distance = strsim::osa_distance(&word, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest_word;

    #[test]
    fn only_a_near_word_is_named() {
        let keys = ["listen", "api_key", "mcpServers", "data_dir", "rate"];
        for (word, expected) in [
            ("lisetn", Some("listen")),
            ("apikey", Some("api_key")),
            ("api-key", Some("api_key")),
            ("mcpservers", Some("mcpServers")),
            ("rat", Some("rate")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest_word(word, keys), expected, "{word}");
        }
        assert_eq!(nearest_word(&"x".repeat(10_000), keys), None);
    }
}
