//! Signals for OpenTelemetry: the file wins over the variables that OpenTelemetry defines.

use std::collections::BTreeMap;

use crate::{Config, ConfigLocation, Environment, LocationSource, Overrides, Warning, open};

fn opened(text: &str, variables: &[(&str, &str)]) -> (Config, Vec<Warning>) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("mcp_config.json");
    std::fs::write(&path, text).expect("a file");
    let variables: BTreeMap<String, String> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let environment = Environment::new(
        move |name| variables.get(name).cloned(),
        Some(dir.path().to_owned()),
    );
    let located = ConfigLocation {
        path: Some(path),
        source: LocationSource::Flag,
    };
    open(&located, &environment, &Overrides::default()).expect("a configuration")
}

fn shown(config: &Config) -> serde_json::Value {
    let shown: serde_json::Value = serde_json::from_str(&config.show()).expect("JSON");
    shown["otlp"].clone()
}

#[test]
fn nothing_is_sent_until_an_endpoint_is_set() {
    let (config, warnings) = opened("{}", &[("OTEL_EXPORTER_OTLP_HEADERS", "a=b")]);
    assert!(config.otlp.endpoint.is_none());
    assert!(config.otlp.headers.is_empty());
    assert!(warnings.is_empty());
}

#[test]
fn the_variables_of_opentelemetry_hold_where_no_key_is_set() {
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/"),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Bearer%20hidden, x-scope=a",
        ),
        ("OTEL_SERVICE_NAME", "from-variable"),
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        ),
    ];
    let (config, warnings) = opened("{}", &variables);
    let otlp = &config.otlp;
    let endpoint = otlp.endpoint.as_ref().map(crate::Secret::expose);
    assert_eq!(endpoint, Some("http://collector:4318/"));
    assert_eq!(otlp.headers["authorization"].expose(), "Bearer hidden");
    assert_eq!(otlp.service_name.as_deref(), Some("from-variable"));
    let environment = &otlp.resource_attributes["deployment.environment.name"];
    assert_eq!(environment, "test");
    assert!(warnings.is_empty());
    assert!(!config.show().contains("hidden"));

    let file = r#"{"otlp": {"endpoint": "http://own:4318", "headers": {"X-Own": "${env:KEY}"},
        "service_name": "own", "resource_attributes": {"a": "b"}, "traces": false}}"#;
    let (config, _) = opened(file, &[&variables[..], &[("KEY", "hidden")]].concat());
    let otlp = &config.otlp;
    let endpoint = otlp.endpoint.as_ref().map(crate::Secret::expose);
    assert_eq!(endpoint, Some("http://own:4318"));
    assert_eq!(otlp.headers["X-Own"].expose(), "hidden");
    assert_eq!(otlp.headers.len(), 1);
    assert!(!otlp.traces && otlp.metrics && otlp.logs);
    let expected = serde_json::json!({
        "endpoint": "http://own:4318",
        "headers": {"X-Own": "[redacted, from ${env:KEY}]"},
        "traces": false,
        "metrics": true,
        "logs": true,
        "metrics_interval": "1m",
        "service_name": "own",
        "resource_attributes": {"a": "b"},
    });
    assert_eq!(shown(&config), expected);
}

#[test]
fn a_variable_that_cannot_be_used_is_a_warning() {
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "no pair"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "bad name=x"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=x%0d%0ay"),
        ("OTEL_RESOURCE_ATTRIBUTES", "=x"),
    ] {
        let file = if name.ends_with("ENDPOINT") {
            "{}"
        } else {
            r#"{"otlp": {"endpoint": "http://own:4318"}}"#
        };
        let (config, warnings) = opened(file, &[(name, value)]);
        let [warning] = &warnings[..] else {
            panic!("one warning for {name}={value}: {warnings:?}");
        };
        assert!(warning.to_string().contains(name), "{warning}");
        assert!(config.otlp.headers.is_empty());
    }
    let grpc = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")];
    assert_eq!(opened("{}", &grpc).1.len(), 1);
}

#[test]
fn opentelemetry_can_be_switched_off_for_every_program() {
    let file = r#"{"otlp": {"endpoint": "http://own:4318"}}"#;
    let (config, _) = opened(file, &[("OTEL_SDK_DISABLED", "true")]);
    assert!(config.otlp.endpoint.is_none());
}

#[test]
fn an_endpoint_has_to_be_an_address_without_secrets() {
    for endpoint in [
        "collector",
        "ftp://a",
        "http://user:password@a",
        "http://a?key=b",
    ] {
        let text = format!(r#"{{"otlp": {{"endpoint": "{endpoint}"}}}}"#);
        let refused = crate::parse(&text, &Environment::empty());
        assert!(refused.is_err(), "{endpoint}");
    }
    let header = r#"{"otlp": {"endpoint": "http://a", "headers": {"Host": "b"}}}"#;
    assert!(crate::parse(header, &Environment::empty()).is_err());
}
