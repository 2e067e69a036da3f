//! `/metrics`, `/healthz` and `/readyz`: what monitoring sees is what the log says.

use std::collections::BTreeSet;
use std::path::Path;

use countersign_config::{Environment, parse};
use serde_json::Value;

use crate::support::{Rig, preset, strict, text};

const STATUSES: [&str; 6] = [
    "success",
    "error",
    "rejected",
    "flagged",
    "rewritten",
    "blocked",
];

/// The value of one series.
fn value(page: &str, series: &str) -> usize {
    let found = page
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let found = found.unwrap_or_else(|| panic!("no {series} in {page}"));
    found.parse().expect("a number")
}

fn records(server: &str, status: &str) -> String {
    format!(r#"countersign_records_total{{server="{server}",status="{status}"}}"#)
}

async fn page(rig: &Rig) -> String {
    let answer = rig.client("/metrics").send("GET", b"").await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.status, 200);
    text(&answer.body)
}

/// Two servers, one strict, and the same calls to each.
async fn called() -> Rig {
    let rig = Rig::over(vec![strict(preset("stub", "demo")), preset("warn", "demo")]).await;
    let before = page(&rig).await;
    for status in STATUSES {
        assert_eq!(value(&before, &records("stub", status)), 0);
    }
    for tool in ["conforming", "bad_output", "too_deep", "text_only", "error"] {
        for server in ["stub", "warn"] {
            let client = rig.client(&format!("/mcp/s/{server}"));
            client.call(tool, "{}").await.expect("an answer");
        }
    }
    let unknown = rig.client("/mcp/all").call("nothing", "{}").await;
    unknown.expect("an answer");
    rig
}

#[tokio::test]
async fn counters_and_records_tell_the_same_story() {
    let rig = called().await;
    let page = page(&rig).await;
    for server in ["stub", "warn"] {
        for status in STATUSES {
            let found = rig
                .activities(&format!("server={server}&status={status}"))
                .await;
            let series = records(server, status);
            assert_eq!(value(&page, &series), found.len(), "{series}");
        }
        for decision in ["flagged", "rewritten", "blocked"] {
            let found = rig
                .activities(&format!("server={server}&decision={decision}"))
                .await;
            let series = format!(
                r#"countersign_decisions_total{{server="{server}",decision="{decision}"}}"#
            );
            assert_eq!(value(&page, &series), found.len(), "{series}");
        }
    }
    let everything = rig.activities("limit=1000").await;
    // The first record of a chain is the store's own.
    let committed = value(&page, "countersign_activity_committed_total");
    assert_eq!(committed, everything.len() - 1);
}

#[tokio::test]
async fn each_thing_is_counted_where_it_belongs() {
    let page = page(&called().await).await;
    for (series, expected) in [
        (r#"calls_total{server="stub",status="success"}"#, 2),
        (r#"calls_total{server="stub",status="error"}"#, 3),
        (r#"calls_total{server="warn",status="success"}"#, 4),
        (r#"calls_total{server="",status="rejected"}"#, 1),
        (r#"results_validated_total{server="stub"}"#, 3),
        (r#"contract_rejections_total{server="stub"}"#, 2),
        (r#"findings_total{server="warn",stage="contract"}"#, 1),
        (r#"findings_total{server="warn",stage="guard"}"#, 1),
        (
            r#"call_duration_seconds_bucket{server="stub",le="+Inf"}"#,
            5,
        ),
        (r#"call_duration_seconds_count{server="stub"}"#, 5),
        (r#"server_up{server="stub"}"#, 1),
        (r#"server_output_schemas{server="stub"}"#, 9),
        ("activity_store_up", 1),
        ("activity_dropped_total", 0),
        ("activity_failed_total", 0),
        (r#"events_total{event="calls"}"#, 11),
    ] {
        let series = format!("countersign_{series}");
        assert_eq!(value(&page, &series), expected, "{series}");
    }
}

#[tokio::test]
async fn the_text_is_what_prometheus_parses() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    rig.client("/mcp/s/x")
        .call("conforming", "{}")
        .await
        .expect("an answer");
    let page = page(&rig).await;
    let mut families = Vec::new();
    for line in page.lines() {
        if let Some(named) = line.strip_prefix("# TYPE ") {
            let (name, kind) = named.split_once(' ').expect("a type");
            assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{line}");
            assert!(!families.contains(&name), "{name} twice");
            families.push(name);
        } else if !line.starts_with('#') {
            let family = families.last().expect("a family before its samples");
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            let base = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| name.strip_suffix(end));
            assert!(
                name == *family || base == Some(family),
                "{line} under {family}"
            );
            let (_, number) = line.rsplit_once(' ').expect("a value");
            assert!(number.parse::<f64>().is_ok(), "{line}");
        }
    }
    let mut buckets = page
        .lines()
        .filter(|line| line.contains(r#"_bucket{server="x""#));
    let counts: Vec<&str> = buckets
        .by_ref()
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(_, n)| n)
        .collect();
    assert!(
        counts.is_sorted() && counts.last() == Some(&"1"),
        "{counts:?}"
    );
}

#[tokio::test]
async fn health_needs_no_key_and_says_nothing_else() {
    let rig = Rig::over(Vec::new()).await;
    for (path, said) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let answer = rig
            .stranger(path)
            .send("GET", b"")
            .await
            .expect("an answer");
        assert_eq!((answer.status, text(&answer.body).as_str()), (200, said));
    }
    for path in ["/metrics", "/events", "/api/v1/openapi.json"] {
        let answer = rig
            .stranger(path)
            .send("GET", b"")
            .await
            .expect("an answer");
        assert_eq!(answer.status, 401, "{path}");
        assert!(serde_json::from_slice::<Value>(&answer.body).is_err());
    }
}

/// The names of our metrics in a text, without the suffixes of a histogram, and the words of one label.
fn names(text: &str, label: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    let starts = text
        .match_indices("countersign_")
        .map(|(at, _)| &text[at..]);
    let families = starts.map(|rest| {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        let suffixes = ["_bucket", "_sum", "_count"];
        let family = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
        family.unwrap_or(name).to_owned()
    });
    let key = format!("{label}=\"");
    let words = text.split(&key).skip(1);
    let words = words.filter_map(|rest| rest.split('"').next());
    (families.collect(), words.map(str::to_owned).collect())
}

/// The digest of the configuration that a gateway uses.
fn config_digest(page: &str) -> String {
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix(r#"countersign_config_info{digest=""#));
    let digest = line.and_then(|line| line.strip_suffix(r#""} 1"#));
    digest.unwrap_or_else(|| panic!("{page}")).to_owned()
}

#[tokio::test]
async fn gateways_with_the_same_settings_have_the_same_digest() {
    let servers = || vec![preset("stub", "demo")];
    let rigs = [
        Rig::over(servers()).await,
        Rig::over(servers()).await,
        Rig::with(servers(), |config| config.max_message_bytes = 4096 << 10).await,
        Rig::over(vec![strict(preset("stub", "demo"))]).await,
    ];
    let mut digests = Vec::new();
    for rig in &rigs {
        digests.push(config_digest(&page(rig).await));
    }
    // Where they listen and what is in their data directories does not count.
    assert_eq!(digests[0], digests[1]);
    let different: BTreeSet<&String> = digests.iter().collect();
    assert_eq!(different.len(), 3, "{digests:?}");
    assert!(digests.iter().all(|digest| digest.len() == 16));
}

#[tokio::test]
async fn the_dashboard_and_the_alert_rules_name_metrics_that_are_there() {
    let settings = r#"{"otlp": {"endpoint": "http://127.0.0.1:9"},
        "classifiers": [{"kind": "webhook", "name": "hook", "endpoint": "http://127.0.0.1:9/"}]}"#;
    let settings = parse(settings, &Environment::empty()).expect("settings").0;
    let rig = Rig::with(vec![preset("stub", "demo")], |config| {
        config.classifiers = settings.classifiers;
        config.otlp = settings.otlp;
    })
    .await;
    let page = page(&rig).await;
    let heads = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let there: BTreeSet<&str> = heads.filter_map(|head| head.split(' ').next()).collect();
    let events = names(&page, "event").1;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/observability");
    for file in ["alerts.yml", "alerts.test.yml", "dashboard.json"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the file is there");
        let text = text.replace("\\\"", "\"");
        let (named, words) = names(&text, "event");
        assert!(named.len() > 5, "{file}: {named:?}");
        for name in named {
            // The name of the file with the key.
            let is_metric = name != "countersign_api_key";
            assert!(!is_metric || there.contains(&*name), "{file}: {name}");
        }
        for word in words {
            assert!(events.contains(&word), "{file}: event {word}");
        }
    }
}
