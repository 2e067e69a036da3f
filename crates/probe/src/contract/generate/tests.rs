use countersign_schema::{Limits as SchemaLimits, compile};
use serde_json::json;

use super::*;

fn with<T>(schema: &Value, run: impl FnOnce(&Generator<'_>, &Schema) -> T) -> T {
    let engine =
        compile(schema.to_string().as_bytes(), &SchemaLimits::default()).expect("it compiles");
    run(&Generator::new(schema, &engine), &engine)
}

fn coverage(schema: &Value) -> Cases {
    with(schema, |generator, _| generator.coverage(500))
}

/// The keywords of the mistakes that were made, without repetition.
fn keywords(schema: &Value) -> Vec<String> {
    let mut found: Vec<String> = coverage(schema)
        .cases
        .into_iter()
        .filter_map(|case| match case.intent {
            Intent::Invalid { keyword, .. } => Some(keyword),
            _ => None,
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

fn valid_values(schema: &Value, member: &str) -> Vec<Value> {
    let cases = coverage(schema)
        .cases
        .into_iter()
        .filter(|case| case.intent.is_valid());
    cases
        .filter_map(|case| case.arguments.get(member).cloned())
        .collect()
}

#[test]
fn one_mistake_per_keyword() {
    let schema = json!({
        "type": "object",
        "properties": {
            "s": {"type": "string", "minLength": 2, "maxLength": 5},
            "p": {"type": "string", "pattern": "^[a-z]+$"},
            "n": {"type": "integer", "minimum": 1, "maximum": 9},
            "x": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "m": {"type": "integer", "multipleOf": 5},
            "e": {"enum": ["a", "b"]},
            "c": {"const": 3},
            "a": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2, "uniqueItems": true},
        },
        "required": ["s"],
        "additionalProperties": false,
    });
    assert_eq!(
        keywords(&schema),
        [
            "additionalProperties",
            "const",
            "enum",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "maxItems",
            "maxLength",
            "maximum",
            "minItems",
            "minLength",
            "minimum",
            "multipleOf",
            "pattern",
            "required",
            "type",
            "uniqueItems",
        ]
    );
}

#[test]
fn the_edges_are_visited() {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer", "minimum": -3, "maximum": 9},
        "s": {"type": "string", "minLength": 2, "maxLength": 4},
        "e": {"enum": ["a", "b", null]},
    }});
    let numbers = valid_values(&schema, "n");
    for edge in [-3, -2, 8, 9, 0] {
        assert!(numbers.contains(&json!(edge)), "{edge}: {numbers:?}");
    }
    let lengths: Vec<usize> = valid_values(&schema, "s")
        .iter()
        .filter_map(|s| Some(s.as_str()?.chars().count()))
        .collect();
    assert!(lengths.contains(&2) && lengths.contains(&4), "{lengths:?}");
    let listed = valid_values(&schema, "e");
    assert!(
        ["a", "b"].iter().all(|one| listed.contains(&json!(one))) && listed.contains(&Value::Null)
    );
    let cases = coverage(&schema).cases;
    assert_eq!(
        cases[0].arguments,
        json!({}),
        "the minimal case comes first"
    );
    assert!(
        cases
            .iter()
            .any(|case| case.arguments.as_object().is_some_and(|all| all.len() == 3))
    );
}

#[test]
fn a_mistake_is_the_only_one_and_its_place_is_known() {
    let schema = json!({"type": "object", "required": ["a", "b"], "properties": {
        "a": {"type": "string"}, "b": {"type": "object", "required": ["c"], "properties": {"c": {"type": "integer", "maximum": 5}}},
    }});
    let cases = coverage(&schema).cases;
    let found = cases.iter().find(|case| {
        case.intent
            == Intent::Invalid {
                keyword: "maximum".into(),
                pointer: "/b/c".into(),
            }
    });
    let found = found.expect("a nested edge");
    assert_eq!(found.arguments["b"]["c"], json!(6));
    assert!(
        found.arguments["a"].is_string(),
        "everything else is as it should be"
    );
}

#[test]
fn every_label_is_the_engines() {
    let schema = json!({"type": "object", "$defs": {"node": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "pattern": "^[A-Z]{2}\\d{3,}$"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 4}}}},
        "properties": {"tree": {"$ref": "#/$defs/node"}, "either": {"oneOf": [{"type": "integer"}, {"type": "string", "format": "date"}]}},
        "required": ["tree"], "allOf": [{"required": ["either"]}], "if": {"required": ["mode"]}, "then": {"properties": {"mode": {"const": 1}}}});
    with(&schema, |generator, engine| {
        let passes = [
            generator.coverage(200),
            generator.random(7, 50),
            generator.mistakes(7, 50),
        ];
        for (pass, cases) in passes.iter().enumerate() {
            assert!(cases.cases.len() > 10, "pass {pass}: {}", cases.cases.len());
            for case in &cases.cases {
                let expected = label(engine, &case.arguments);
                assert_eq!(Some(&case.intent), expected.as_ref(), "{case:?}");
            }
        }
        assert!(passes[1].cases.iter().all(|case| case.intent.is_valid()));
        assert!(passes[2].cases.iter().all(|case| !case.intent.is_valid()));
    });
}

#[test]
fn the_same_seed_gives_the_same_cases() {
    let schema =
        json!({"type": "object", "properties": {"s": {"type": "string"}, "n": {"type": "number"}}});
    let cases = |seed| with(&schema, |generator, _| generator.random(seed, 20).cases);
    assert_eq!(cases(1), cases(1));
    assert_ne!(cases(1), cases(2));
}

#[test]
fn patterns_are_written_out() {
    for pattern in [
        "^[a-z]+$",
        "^(GET|POST)$",
        "^\\d{4}-\\d{2}$",
        "^\\w+@\\w+\\.com$",
        "^[^@]+$",
        "x{3,5}",
        "^/(?:a|b)*$",
        "^$",
        "\\p{Lu}",
    ] {
        let schema = json!({"type": "object", "required": ["p"], "properties": {"p": {"type": "string", "pattern": pattern}}});
        let minimal = with(&schema, |generator, _| generator.minimal());
        assert!(minimal.is_some(), "{pattern}");
    }
    let long = json!({"type": "object", "required": ["p"], "properties": {"p": {"type": "string", "pattern": "^a*$", "minLength": 20}}});
    assert!(with(&long, |generator, _| generator.minimal()).is_some());
}

#[test]
fn what_cannot_be_made_is_said() {
    let never = json!({"type": "object", "required": ["a"], "properties": {"a": false}});
    let cases = coverage(&never);
    assert!(cases.cases.is_empty());
    assert_eq!(cases.ungeneratable, ["no valid arguments were found"]);
}

#[test]
fn hostile_schemas_cost_little() {
    let recursive =
        json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}});
    assert!(coverage(&recursive).cases.is_empty());
    let wide: serde_json::Map<String, Value> = (0..2000)
        .map(|index| (format!("p{index}"), json!({"type": "array", "minItems": 1_000_000, "items": {"type": "string", "minLength": 1_000_000}})))
        .collect();
    let wide = json!({"type": "object", "properties": wide});
    assert!(coverage(&wide).cases.len() <= 500);
    let bushy = json!({"type": "object", "required": ["a", "b"], "properties": {
        "a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "b": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}});
    assert!(!coverage(&bushy).cases.is_empty());
    assert_eq!(text::matching("^((((a{9}){9}){9}){9})$", 128, 1), None);
}

/// Declared by real servers. The share of tools for which valid arguments are found is printed.
#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn real_schemas_have_valid_cases_on_test_data() {
    use std::io::Write as _;
    let mut out = std::io::stderr();
    let data = std::env::var_os("COUNTERSIGN_TEST_DATA").expect("COUNTERSIGN_TEST_DATA is set");
    let (mut tools, mut served, mut cases, mut wrong) = (0_u32, 0_u32, 0_usize, Vec::new());
    for path in schema_files(&std::path::Path::new(&data).join("tool-schemas")) {
        let bytes = std::fs::read(&path).expect("a readable file");
        let Ok(engine) = compile(&bytes, &SchemaLimits::default()) else {
            continue;
        };
        let schema: Value = serde_json::from_slice(&bytes).expect("what compiles is JSON");
        let generator = Generator::new(&schema, &engine);
        let made = [
            generator.coverage(100),
            generator.random(1, 10),
            generator.mistakes(1, 10),
        ];
        tools += 1;
        cases += made.iter().map(|pass| pass.cases.len()).sum::<usize>();
        if made[0].cases.iter().any(|case| case.intent.is_valid()) {
            served += 1;
        } else {
            wrong.push(path);
        }
    }
    writeln!(
        out,
        "valid arguments for {served} of {tools} real tools, {cases} cases; none for {wrong:?}"
    )
    .expect("stderr");
    assert!(tools > 500, "the data is there");
    assert!(served * 100 >= tools * 99, "{served} of {tools}");
}

fn schema_files(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = |path: &std::path::Path| {
        let entries = std::fs::read_dir(path).expect("a folder").flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut files: Vec<std::path::PathBuf> = entries(root)
        .iter()
        .flat_map(|folder| entries(folder))
        .collect();
    files.retain(|path| path.to_string_lossy().contains(".in."));
    files.sort();
    files
}
