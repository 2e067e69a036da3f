//! The texts classifiers are measured with: a folder in the layout of the BIPIA benchmark, the list of naughty strings,
//! and any file `NAME.attack.json` or `NAME.benign.json` with an array of strings. Attack text is data here and nothing
//! else; a set says what it is and how many texts of it are used.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use serde_json::Value;

use crate::report::Failure;

const LARGEST: u64 = 64 << 20;

/// Texts of one kind.
#[derive(Debug)]
pub(super) struct TextSet {
    pub(super) name: String,
    /// Whether a classifier should object to them.
    pub(super) attack: bool,
    pub(super) texts: Vec<String>,
}

impl TextSet {
    /// At most this many of them, evenly spread.
    pub(super) fn at_most(mut self, limit: usize) -> Self {
        let all = self.texts.len();
        if limit > 0 && all > limit {
            let texts = std::mem::take(&mut self.texts).into_iter().enumerate();
            let chosen =
                texts.filter(|(index, _)| index * limit / all != (index + 1) * limit / all);
            self.texts = chosen.map(|(_, text)| text).collect();
        }
        self
    }
}

/// Every set of a folder.
pub(super) fn read(folder: &Path) -> Result<Vec<TextSet>, Failure> {
    let mut sets = bipia(&folder.join("bipia"))?;
    if let Some(value) = json(&folder.join("blns.json"))? {
        let texts = strings(&value)
            .into_iter()
            .filter(|text| !text.trim().is_empty());
        sets.push(set("naughty strings", false, texts.collect()));
    }
    sets.extend(named(folder)?);
    sets.retain(|set| !set.texts.is_empty());
    if sets.is_empty() {
        let error = anyhow!("there is no set of texts in {}", folder.display());
        let hint = "it should hold bipia/, blns.json, NAME.attack.json or NAME.benign.json";
        return Err(Failure::usage(error).hint(hint));
    }
    Ok(sets)
}

fn set(name: &str, attack: bool, texts: Vec<String>) -> TextSet {
    let name = name.to_owned();
    TextSet {
        name,
        attack,
        texts,
    }
}

fn bipia(folder: &Path) -> Result<Vec<TextSet>, Failure> {
    let attacks = |file: &str| -> Result<Vec<String>, Failure> {
        let value = json(&folder.join(file))?;
        Ok(value.as_ref().map(strings).unwrap_or_default())
    };
    let text = attacks("text_attack_train.json")?;
    let code = attacks("code_attack_train.json")?;
    let mut sets = Vec::new();
    for (kind, attacks) in [("email", &text), ("table", &text), ("code", &code)] {
        let contexts = contexts(&folder.join(kind).join("train.jsonl"))?;
        // Each context once, with the attack behind it that has its number.
        let pairs = contexts.iter().zip(attacks.iter().cycle());
        let placed = pairs
            .map(|(context, attack)| format!("{context}\n{attack}"))
            .collect();
        sets.push(set(
            &format!("bipia {kind}, attack at its end"),
            true,
            placed,
        ));
        sets.push(set(&format!("bipia {kind}"), false, contexts));
    }
    sets.push(set("bipia text attacks alone", true, text));
    sets.push(set("bipia code attacks alone", true, code));
    sets.sort_by_key(|set| !set.attack);
    Ok(sets)
}

fn contexts(file: &Path) -> Result<Vec<String>, Failure> {
    let Some(text) = content(file)? else {
        return Ok(Vec::new());
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let contexts = lines.map(|line| {
        let value: Value = serde_json::from_str(line)?;
        Ok(joined(&value["context"]))
    });
    let contexts: Result<Vec<String>, serde_json::Error> = contexts.collect();
    contexts
        .with_context(|| format!("{} is not JSON, line by line", file.display()))
        .map_err(Failure::usage)
}

/// A text, or the lines of one.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            lines.join("\n")
        }
        _ => String::new(),
    }
}

fn named(folder: &Path) -> Result<Vec<TextSet>, Failure> {
    let unread = || format!("cannot read {}", folder.display());
    let entries = fs::read_dir(folder)
        .with_context(unread)
        .map_err(Failure::usage)?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let mut sets = Vec::new();
    for file in files {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for (ending, attack) in [(".attack.json", true), (".benign.json", false)] {
            if let Some(name) = name.strip_suffix(ending)
                && let Some(value) = json(&file)?
            {
                sets.push(set(name, attack, strings(&value)));
            }
        }
    }
    Ok(sets)
}

/// The strings of an array, or of the arrays of an object.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(members) => members.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

fn json(file: &Path) -> Result<Option<Value>, Failure> {
    let Some(text) = content(file)? else {
        return Ok(None);
    };
    let value = serde_json::from_str(&text);
    let value = value.with_context(|| format!("{} is not JSON", file.display()));
    value.map(Some).map_err(Failure::usage)
}

/// A file's text; `None` where there is no such file.
fn content(file: &Path) -> Result<Option<String>, Failure> {
    match file.metadata() {
        Err(_) => return Ok(None),
        Ok(metadata) if metadata.len() > LARGEST => {
            let error = anyhow!("{} is larger than {} MiB", file.display(), LARGEST >> 20);
            return Err(Failure::usage(error));
        }
        Ok(_) => {}
    }
    let text = fs::read_to_string(file);
    let text = text.with_context(|| format!("cannot read {}", file.display()));
    text.map(Some).map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_evenly() {
        let texts: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        let sample = |limit| set("x", true, texts.clone()).at_most(limit).texts;
        assert_eq!(sample(0).len(), 10);
        assert_eq!(sample(20).len(), 10);
        assert_eq!(sample(3), ["3", "6", "9"]);
    }
}
