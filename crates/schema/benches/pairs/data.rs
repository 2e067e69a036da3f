//! What is measured: the pairs of the test data, or pairs of the same shape made here, and one that is dense in keys.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A schema and an instance that conforms to it.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) schema: Vec<u8>,
    pub(crate) instance: Vec<u8>,
}

impl Pair {
    fn new(name: &str, schema: impl Into<Vec<u8>>, instance: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.to_owned(),
            schema: schema.into(),
            instance: instance.into(),
        }
    }
}

/// The pairs to measure.
pub(crate) fn pairs(folder: Option<&Path>) -> Vec<Pair> {
    let mut pairs = match folder {
        Some(folder) => stored(&folder.join("bench")),
        None => vec![weather(), issues(), records(), bundle()],
    };
    pairs.push(dense_keys());
    pairs
}

fn stored(folder: &Path) -> Vec<Pair> {
    let pair = |name: &str| {
        let schema = read(&folder.join(format!("{name}.schema.json")));
        Pair::new(name, schema, read(&folder.join(format!("{name}.json"))))
    };
    ["a_weather", "b_issues", "c_records", "d_fhir"]
        .map(pair)
        .into()
}

/// Every schema below a folder.
pub(crate) fn schemas(folder: &Path) -> Vec<Vec<u8>> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut schemas = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else {
                schemas.push(read(&path));
            }
        }
    }
    schemas
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A small report: what most tool calls answer with.
fn weather() -> Pair {
    let schema = r#"{"type":"object","properties":{"temperature":{"type":"number","minimum":-90,"maximum":60},
        "sky":{"enum":["clear","cloudy","rain","snow"]},"humidity":{"type":"integer","minimum":0,"maximum":100},
        "place":{"type":"object","properties":{"name":{"type":"string","minLength":1},"north":{"type":"number"},"east":{"type":"number"}},
        "required":["name"],"additionalProperties":false},
        "hours":{"type":"array","maxItems":24,"items":{"type":"object","properties":{"at":{"type":"string","pattern":"^[0-2][0-9]:[0-5][0-9]$"},
        "temperature":{"type":"number"}},"required":["at","temperature"]}}},"required":["temperature","sky"],"additionalProperties":false}"#;
    let instance = r#"{"temperature":11.5,"sky":"cloudy","humidity":71,"place":{"name":"Tromsø","north":69.65,"east":18.96},"hours":[{"at":"09:00","temperature":9.5},{"at":"10:00","temperature":10.1},{"at":"11:00","temperature":11.5}]}"#;
    Pair::new("a generated", schema, instance)
}

/// A page of issues: references, alternatives, patterns, prose.
fn issues() -> Pair {
    let schema = r##"{"$defs":{"person":{"type":"object","properties":{"login":{"type":"string"},"id":{"type":"integer"},"kind":{"enum":["user","bot"]},"page":{"type":"string"}},"required":["login","id"]},
        "label":{"type":"object","properties":{"name":{"type":"string"},"colour":{"type":"string","pattern":"^[0-9a-f]{6}$"},"text":{"type":["string","null"]}},"required":["name"]},
        "issue":{"type":"object","properties":{"number":{"type":"integer","minimum":1},"title":{"type":"string","maxLength":400},"state":{"enum":["open","closed"]},
        "body":{"anyOf":[{"type":"string"},{"type":"null"}]},"author":{"$ref":"#/$defs/person"},"assignees":{"type":"array","items":{"$ref":"#/$defs/person"}},
        "labels":{"type":"array","items":{"$ref":"#/$defs/label"}},"created":{"type":"string","format":"date-time"},"locked":{"type":"boolean"}},
        "required":["number","title","state","author"],"additionalProperties":false}},
        "type":"object","properties":{"total":{"type":"integer"},"items":{"type":"array","items":{"$ref":"#/$defs/issue"}}},"required":["items"]}"##;
    let mut instance = r#"{"total":110,"items":["#.to_owned();
    for n in 1..=110 {
        let body = if n % 5 == 0 {
            "null".to_owned()
        } else {
            format!(
                "\"{}\"",
                "The reader stops at the first empty line.\\n".repeat(n % 17 + 3)
            )
        };
        let comma = if n < 110 { "," } else { "]}" };
        write!(
            instance,
            r#"{{"number":{n},"title":"Reader stops early, case {n}","state":"open","body":{body},"author":{{"login":"ada{n}","id":{n},"kind":"user","page":"https://example.com/ada{n}"}},"assignees":[{{"login":"bob","id":2}}],"labels":[{{"name":"bug","colour":"d73a4a","text":null}},{{"name":"reader","colour":"0e8a16"}}],"created":"2026-01-02T03:04:05Z","locked":false}}{comma}"#
        )
        .expect("a string takes it");
    }
    Pair::new("b generated", schema, instance)
}

/// A megabyte of flat records.
fn records() -> Pair {
    let schema = r#"{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer","minimum":0},"key":{"type":"string"},"name":{"type":"string","minLength":1,"maxLength":80},
        "amount":{"type":"number"},"currency":{"enum":["NOK","SEK","DKK"]},"active":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},"at":{"type":"string"}},
        "required":["id","key","name","amount"],"additionalProperties":false}}"#;
    let mut instance = "[".to_owned();
    for n in 0..5_600 {
        let comma = if n < 5_599 { "," } else { "]" };
        write!(
            instance,
            r#"{{"id":{n},"key":"9d2f7c1e-0000-4000-8000-{n:012}","name":"some ordinary name {n}","amount":{}.25,"currency":"NOK","active":true,"tags":["blue","{n}"],"at":"2026-05-06T07:08:09.123Z"}}{comma}"#,
            n * 7
        )
        .expect("a string takes it");
    }
    Pair::new("c generated", schema, instance)
}

/// Resources within resources, told apart by `oneOf`.
fn bundle() -> Pair {
    let schema = r##"{"$defs":{"extension":{"type":"object","properties":{"url":{"type":"string"},"code":{"type":"string","pattern":"^[^\\s]+(\\s[^\\s]+)*$"},"extension":{"type":"array","items":{"$ref":"#/$defs/extension"}}},"required":["url"],"additionalProperties":false},
        "concept":{"type":"object","properties":{"coding":{"type":"array","items":{"type":"object","properties":{"system":{"type":"string"},"code":{"type":"string","pattern":"^[^\\s]+$"}},"additionalProperties":false}},"text":{"type":"string"}},"additionalProperties":false},
        "observation":{"type":"object","properties":{"kind":{"const":"observation"},"id":{"type":"string","pattern":"^[A-Za-z0-9.-]{1,64}$"},"status":{"enum":["draft","final"]},"extension":{"type":"array","items":{"$ref":"#/$defs/extension"}},"code":{"$ref":"#/$defs/concept"},"value":{"type":"number"}},"required":["kind","status","code"],"additionalProperties":false},
        "person":{"type":"object","properties":{"kind":{"const":"person"},"id":{"type":"string"},"born":{"type":"string","pattern":"^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$"},"contained":{"type":"array","items":{"$ref":"#/$defs/resource"}}},"required":["kind"],"additionalProperties":false},
        "resource":{"oneOf":[{"$ref":"#/$defs/person"},{"$ref":"#/$defs/observation"}]}},
        "type":"object","properties":{"entry":{"type":"array","items":{"type":"object","properties":{"resource":{"$ref":"#/$defs/resource"}},"required":["resource"]}}},"required":["entry"]}"##;
    let concept = r#"{"coding":[{"system":"urn:codes","code":"8480-6"},{"system":"urn:other","code":"271649006"}],"text":"upper pressure"}"#;
    let extension = r#"[{"url":"urn:e","extension":[{"url":"urn:e","extension":[{"url":"urn:leaf","code":"abc def"}]}]}]"#;
    let observation = format!(
        r#"{{"kind":"observation","id":"obs-1","status":"final","extension":{extension},"code":{concept},"value":120.5}}"#
    );
    let entry = format!(
        r#"{{"resource":{{"kind":"person","id":"p1","born":"1980-01-01","contained":[{observation},{observation},{observation}]}}}}"#
    );
    let instance = format!(r#"{{"entry":[{}]}}"#, vec![entry; 95].join(","));
    Pair::new("d generated", schema, instance)
}

/// Objects of many short members: repeated names cost most here.
fn dense_keys() -> Pair {
    let mut properties = Vec::new();
    let mut members = Vec::new();
    for n in 0..40 {
        properties.push(format!(r#""k{n}":{{"type":"integer"}}"#));
        members.push(format!(r#""k{n}":{}"#, n % 10));
    }
    let schema = format!(
        r#"{{"type":"array","items":{{"type":"object","properties":{{{}}},"additionalProperties":false}}}}"#,
        properties.join(",")
    );
    let object = format!("{{{}}}", members.join(","));
    Pair::new(
        "e dense keys",
        schema,
        format!("[{}]", vec![object; 400].join(",")),
    )
}
