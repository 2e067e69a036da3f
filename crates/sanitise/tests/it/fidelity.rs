//! Benign fidelity: how much honest text each mode changes. The figures are printed, the promises asserted: `clean`
//! leaves our samples and every well-formed emoji sequence alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use countersign_sanitise::{Action, Mode, Sanitiser};

use crate::samples::SAMPLES;
use crate::sanitiser;

/// Documents, changed documents, characters, changes by rule.
#[derive(Default)]
struct Damage {
    documents: u32,
    changed: u32,
    characters: u32,
    edits: BTreeMap<String, u64>,
}

impl Damage {
    fn add(&mut self, sanitiser: &Sanitiser, text: &str) -> bool {
        let cleaned = sanitiser.clean(text);
        assert!(!cleaned.blocked, "{text:?}");
        self.documents += 1;
        self.characters += u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let changed = cleaned.text != text;
        self.changed += u32::from(changed);
        let acted = cleaned
            .findings
            .iter()
            .filter(|finding| finding.action != Action::Reported);
        let mut explained = false;
        for finding in acted {
            *self.edits.entry(finding.rule.to_string()).or_default() += finding.count;
            explained = true;
        }
        if changed && !explained {
            *self.edits.entry("normalisation".to_owned()).or_default() += 1;
        }
        changed
    }

    fn print(&self, what: &str, mode: Mode) {
        let edits: u64 = self.edits.values().sum();
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let rate = 1000.0 * edits as f64 / f64::from(self.characters.max(1));
        println!(
            "{what:<24}{:<8}{:>6} texts{:>6} changed{rate:>9.3} edits per 1,000 characters  {:?}",
            mode.as_str(),
            self.documents,
            self.changed,
            self.edits
        );
    }
}

fn measure<'a>(what: &str, texts: &(impl Iterator<Item = &'a str> + Clone)) -> u32 {
    let mut changed_by_clean = 0;
    for mode in [Mode::Clean, Mode::Full] {
        let sanitiser = sanitiser(mode);
        let mut damage = Damage::default();
        for text in texts.clone() {
            damage.add(&sanitiser, text);
        }
        damage.print(what, mode);
        if mode == Mode::Clean {
            changed_by_clean = damage.changed;
        }
    }
    changed_by_clean
}

/// The texts of the test data.
fn data() -> PathBuf {
    let root = std::env::var_os("COUNTERSIGN_TEST_DATA").expect("COUNTERSIGN_TEST_DATA is set");
    PathBuf::from(root).join("injection")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn our_samples_come_through_clean_untouched() {
    let sanitiser = sanitiser(Mode::Clean);
    for (name, _, text) in SAMPLES {
        let cleaned = sanitiser.clean(text);
        assert_eq!(cleaned.text, *text, "{name}: {:?}", cleaned.findings);
        assert!(!cleaned.is_changed(), "{name} was copied");
    }
    let groups: BTreeSet<&str> = SAMPLES.iter().map(|sample| sample.1).collect();
    for group in groups {
        let texts = SAMPLES
            .iter()
            .filter(|sample| sample.1 == group)
            .map(|sample| sample.2);
        assert_eq!(measure(group, &texts), 0);
    }
}

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn emoji_sequences_come_through_clean_on_test_data() {
    let root = data();
    let list = read(&root.join("emoji-test.txt"));
    let sequences: Vec<String> = list
        .lines()
        .filter_map(|line| line.split(';').next())
        .filter(|points| !points.trim().is_empty() && !points.starts_with('#'))
        .map(|points| {
            let point = |hex| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
            points.split_whitespace().filter_map(point).collect()
        })
        .collect();
    assert!(sequences.len() > 4000);
    let alone = sequences.iter().map(String::as_str);
    assert_eq!(measure("emoji sequences", &alone), 0);
    let row = sequences.concat();
    assert_eq!(sanitiser(Mode::Clean).clean(&row).text, row, "in one row");
}

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn awkward_strings_change_only_where_they_hide_something_on_test_data() {
    let root = data();
    let strings: Vec<String> =
        serde_json::from_str(&read(&root.join("blns.json"))).expect("a list of strings");
    let changed = measure("awkward strings", &strings.iter().map(String::as_str));
    // Controls, bidi overrides, bare zero-width characters: the list has them on purpose.
    assert!(changed <= 20, "{changed} of {} changed", strings.len());
}

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn benign_contexts_come_through_clean_on_test_data() {
    let root = data();
    // The tables are from an encyclopaedia and have zero-width spaces.
    for (name, limit) in [("email", 0), ("table", 8), ("code", 0)] {
        let lines = read(&root.join("bipia").join(name).join("train.jsonl"));
        let texts: Vec<String> = lines
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .map(|record| match &record["context"] {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Array(lines) => {
                    let lines: Vec<&str> = lines.iter().filter_map(|line| line.as_str()).collect();
                    lines.join("\n")
                }
                _ => String::new(),
            })
            .collect();
        assert!(texts.len() >= 50);
        let changed = measure(name, &texts.iter().map(String::as_str));
        assert!(changed <= limit, "{name}: {changed} changed");
    }
}
