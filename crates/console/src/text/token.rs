//! The control tokens of chat templates, as far as a reader should notice them. This marks them in what is shown; what
//! happens to a result is decided by sanitising, which knows more of them.

/// The text between the ends of a token is no longer than this.
const MAX_INSIDE: usize = 64;

const WORDS: [&str; 12] = [
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    "<s>",
    "</s>",
    "[TOOL_CALLS]",
    "[TOOL_RESULTS]",
];

/// The token that a text begins with.
pub(super) fn at_start(text: &str) -> Option<&str> {
    let first = text.as_bytes().first()?;
    if !matches!(first, b'<' | b'[' | 0xef) {
        return None;
    }
    let word = |word: &&str| {
        let start = text.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    if let Some(word) = WORDS.iter().find(|one| word(one)) {
        return text.get(..word.len());
    }
    [
        ("<|", "|>"),
        ("<\u{ff5c}", "\u{ff5c}>"),
        ("\u{ff1c}|", "|\u{ff1e}"),
    ]
    .into_iter()
    .find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?;
        let end = inside.find(close)?;
        let is_short = inside.get(..end)?.chars().count() <= MAX_INSIDE;
        let is_token = end > 0 && is_short && !inside.get(..end)?.contains('\n');
        text.get(..open.len() + end + close.len())
            .filter(|_| is_token)
    })
}
