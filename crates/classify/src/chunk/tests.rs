use proptest::prelude::*;

use super::*;

fn chunks(text: &str, size: usize) -> Vec<String> {
    let split = split(std::iter::once(text), size, 1000);
    split.chunks.into_iter().map(|chunk| chunk.text).collect()
}

#[test]
fn short_text_is_one_chunk() {
    assert_eq!(chunks("One. Two.", 100), ["One. Two."]);
    assert!(chunks("", 100).is_empty());
    assert!(chunks(" \n ", 100).is_empty());
}

#[test]
fn cuts_are_between_sentences() {
    let text =
        "The first sentence is here. The second one follows it. The third is the last of all.";
    let cut = chunks(text, 60);
    assert_eq!(
        cut[0],
        "The first sentence is here. The second one follows it. "
    );
    assert!(cut[1].ends_with("The third is the last of all."), "{cut:?}");
}

#[test]
fn texts_are_one_stream_and_chunks_know_where_they_begin() {
    let long = "word ".repeat(40);
    let texts = ["a short one", "", &long, "the end"];
    let split = split(texts.into_iter(), 100, 1000);
    assert!(split.chunks[0].text.starts_with("a short one\nword"));
    assert_eq!(split.texts[0], 0);
    assert_eq!(split.texts[1], 2);
    assert!(split.chunks.last().unwrap().text.ends_with("\nthe end"));
    assert_eq!(split.covered, split.total);
}

#[test]
fn what_is_beyond_the_limit_is_counted() {
    let text = "word ".repeat(1000);
    let split = split(std::iter::once(text.as_str()), 100, 3);
    assert_eq!((split.chunks.len(), split.total), (3, 5000));
    assert!(
        split.covered > 200 && split.covered <= 300,
        "{}",
        split.covered
    );
}

/// Prose, walls of text without a space, and characters of two code units.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = prop_oneof![
        "([a-z]{1,9}[ .\n]{1,2}){0,80}",
        "[a-z]{0,400}",
        "[😀éß。 ]{0,200}",
        "\\PC{0,60}",
    ];
    prop::collection::vec(text, 0..5)
}

proptest! {
    #[test]
    fn every_short_passage_is_whole_in_some_chunk(texts in texts(), size in 20usize..200) {
        let split = split(texts.iter().map(String::as_str), size, usize::MAX);
        let kept: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
        let stream = kept.join("\n");
        prop_assert_eq!(split.total, units(&stream));
        prop_assert_eq!(split.covered, split.total);
        for chunk in &split.chunks {
            prop_assert!(units(&chunk.text) <= size.max(2));
        }
        // Any passage no longer than the overlap.
        let passage = size / 10;
        let characters: Vec<char> = stream.chars().collect();
        for window in characters.windows(passage.max(1) / 2 + 1) {
            let window: String = window.iter().collect();
            if units(&window) <= passage {
                prop_assert!(split.chunks.iter().any(|chunk| chunk.text.contains(&window)), "{window:?}");
            }
        }
        prop_assert!(split.chunks.len() <= split.total * 2 / size + 2, "{} of {}", split.chunks.len(), split.total);
    }
}
