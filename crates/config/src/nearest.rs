//! The word somebody probably meant. Serves hints only.

/// The candidate closest to `word`, if any is close.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(64).collect();
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, substitutions and swaps of neighbours, case and separators aside.
fn distance(word: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.to_lowercase().chars().collect();
    let width = candidate.len() + 1;
    let mut cells = vec![0; (word.len() + 1) * width];
    for row in 0..=word.len() {
        for column in 0..width {
            cells[row * width + column] = if row == 0 || column == 0 {
                row + column
            } else {
                let (a, b) = (word[row - 1], candidate[column - 1]);
                let above = (row - 1) * width + column;
                let mut best = (cells[above] + 1)
                    .min(cells[row * width + column - 1] + 1)
                    .min(cells[above - 1] + usize::from(a != b));
                let swapped =
                    row > 1 && column > 1 && a == candidate[column - 2] && b == word[row - 2];
                if swapped {
                    best = best.min(cells[(row - 2) * width + column - 2] + 1);
                }
                best
            };
        }
    }
    cells[cells.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_a_near_word_is_named() {
        let keys = ["listen", "api_key", "mcpServers", "data_dir"];
        assert_eq!(nearest("lisetn", keys), Some("listen"));
        assert_eq!(nearest("apikey", keys), Some("api_key"));
        assert_eq!(nearest("mcpservers", keys), Some("mcpServers"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest(&"x".repeat(10_000), keys), None);
    }
}
