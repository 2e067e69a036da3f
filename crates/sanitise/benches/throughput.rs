//! Throughput of the sanitiser on 64 KiB texts, beside a byte search and two normalisers in the same run. Prints GB/s
//! and ratios; asserts nothing, because a shared machine proves nothing.

#![expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use countersign_sanitise::{Mode, Sanitiser, Settings};
use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_normalization::UnicodeNormalization;

const SIZE: usize = 64 * 1024;

fn main() {
    let clean = Sanitiser::new(Settings::default()).expect("default settings are valid");
    let full = Sanitiser::new(Settings::for_mode(Mode::Full)).expect("full settings are valid");
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    println!(
        "{:<26}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>15}",
        "GB/s on 64 KiB of", "memchr", "clean", "full", "scan", "icu", "u-n", "memchr / clean"
    );
    for (name, text) in corpus() {
        let bytes = text.as_bytes();
        let memchr = rate(bytes, || memchr::memchr(0, black_box(bytes)).is_some());
        let cleaned = rate(bytes, || clean.clean(black_box(&text)).blocked);
        let whole = rate(bytes, || full.clean(black_box(&text)).blocked);
        let scanned = rate(bytes, || clean.scan(black_box(&text)).is_empty());
        let icu = rate(bytes, || nfkc.normalize(black_box(&text)).is_empty());
        let plain = rate(bytes, || {
            black_box(&text).nfkc().collect::<String>().is_empty()
        });
        println!(
            "{name:<26}{memchr:>8.2}{cleaned:>8.2}{whole:>8.2}{scanned:>8.2}{icu:>8.2}{plain:>8.2}{:>15.1}",
            memchr / cleaned
        );
    }
}

/// GB/s of the fastest of several runs: the least disturbed one.
fn rate(bytes: &[u8], mut work: impl FnMut() -> bool) -> f64 {
    let mut best = Duration::MAX;
    let mut spent = Duration::ZERO;
    while spent < Duration::from_millis(500) {
        let start = Instant::now();
        black_box(work());
        let elapsed = start.elapsed();
        best = best.min(elapsed);
        spent += elapsed;
    }
    #[expect(clippy::cast_precision_loss, reason = "64 KiB is exact in a float")]
    let length = bytes.len() as f64;
    length / best.as_secs_f64() / 1e9
}

fn corpus() -> Vec<(&'static str, String)> {
    let prose = "The quick brown fox jumps over the lazy dog, then sits down and waits for the rain to end.\n\
        Nothing in this paragraph needs any attention: it has letters, digits like 42, and marks (of a kind).\n\n";
    let code = "fn first<T>(items: &[T]) -> Option<&T> {\n    if items.len() > 0 && n % 2 == 0 { items.get(0) } else { None }\n}\n";
    let json = "{\"id\": 17, \"tags\": [\"a\", \"b\"], \"name\": \"A \\\"quoted\\\" name\", \"ratio\": 0.25, \"next\": null},\n";
    let dense = "Всё течёт, всё меняется. 天地玄黄宇宙洪荒日月盈昃辰宿列张 सभी मनुष्यों को गौरव और अधिकारों के मामले में \
        كل الناس يولدون أحرارا 모든 인간은 태어날 때부터 자유로우며 Όλοι οι άνθρωποι γεννιούνται ελεύθεροι ";
    let chinese =
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。";
    let vietnamese =
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. ";
    let persian =
        "تمام افراد بشر آزاد به دنیا می\u{200C}آیند و از لحاظ حیثیت و حقوق با هم برابرند. ";
    let emoji = "done 👩‍🔬 ✅ see ❤️ and 🏳️‍🌈 for more of the same, ";
    let hits = format!("{}<|im_\u{200B}start|>system ", dense.repeat(4));
    let wide = "ｆｕｌｌｗｉｄｔｈ　ｔｅｘｔ";
    vec![
        ("clean ASCII prose", fill(prose)),
        ("source code", fill(code)),
        ("JSON", fill(json)),
        ("dense multilingual", fill(dense)),
        ("dense multilingual, hits", fill(&hits)),
        (
            "Russian",
            fill("Все люди рождаются свободными и равными в своём достоинстве и правах. "),
        ),
        ("Chinese", fill(chinese)),
        ("Vietnamese", fill(vietnamese)),
        ("Persian with ZWNJ", fill(persian)),
        ("ASCII with emoji", fill(emoji)),
        ("fullwidth letters", fill(wide)),
        ("zero-width spaces", fill("\u{200B}")),
        ("nested openers", fill("<|im_")),
    ]
}

fn fill(unit: &str) -> String {
    let mut text = unit.repeat(SIZE / unit.len() + 1);
    text.truncate(text.floor_char_boundary(SIZE));
    text
}
