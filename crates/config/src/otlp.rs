//! Signals for OpenTelemetry: where spans, metrics and decisions are sent, and which of them. Where a key is not set, the
//! variables that OpenTelemetry defines for it are read.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::effective::EffectiveSettings;
use super::environment::Environment;
use super::keys::{Form, Key};
use super::mask::{shown_url, shown_values};
use super::problem::{Problem, Warning};
use super::reader::Reader;
use super::rules::{check_header, check_url};
use super::secret::Secret;
use super::setting::{SameValue, Setting, keep, keys, plain, read_into};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
const RESOURCE_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
const DISABLED: &str = "OTEL_SDK_DISABLED";
/// The port of the protocol that is not spoken.
const GRPC_PORT: &str = ":4317";

keys! {
    /// Traces, metrics and decisions for OpenTelemetry, over OTLP/HTTP with protobuf. Nothing is sent until an endpoint is set.
    /// Neither arguments nor results are sent: see `docs/guides/observability.md`.
    #[block("otlp")]
    pub struct Otlp {
        /// The address of a receiver, such as `http://127.0.0.1:4318`; `/v1/traces`, `/v1/metrics` and `/v1/logs` are added.
        /// May contain `${env:NAME}`. `null`: what `OTEL_EXPORTER_OTLP_ENDPOINT` says, unless `OTEL_SDK_DISABLED` is `true`.
        #[key(Form::OptionalText, Restart, FileOnly)]
        endpoint: Option<Secret> = None, read read_endpoint, show show_endpoint;
        /// Headers of each request to it, whose values may be `${env:NAME}` references. Empty: those of
        /// `OTEL_EXPORTER_OTLP_HEADERS`.
        #[key(Form::TextMap, Restart, FileOnly)]
        headers: BTreeMap<String, Secret> = BTreeMap::new();
        /// Whether a span is sent for each call and for its request to the server, and servers are told which span a
        /// request belongs to.
        #[key(Form::Flag, Restart)]
        traces: bool = true;
        /// Whether metrics are sent. `/metrics` stays as it is.
        #[key(Form::Flag, Restart)]
        metrics: bool = true;
        /// Whether decisions other than `allowed` are sent as log records, once they are recorded.
        #[key(Form::Flag, Restart)]
        logs: bool = true;
        /// How often metrics are sent.
        #[key(Form::Duration, Restart)]
        metrics_interval: Duration = Duration::from_mins(1);
        /// The name of this gateway. `null`: what `OTEL_SERVICE_NAME` says, or `countersign`.
        #[key(Form::OptionalText, Restart)]
        service_name: Option<String> = None;
        /// What else there is to know about this gateway, such as `deployment.environment.name`. Empty: what
        /// `OTEL_RESOURCE_ATTRIBUTES` says.
        #[key(Form::TextMap, Restart)]
        resource_attributes: BTreeMap<String, String> = BTreeMap::new();
    }
}

plain! {
    BTreeMap<String, String>: read_texts, BTreeMap::clone;
}

impl Setting for BTreeMap<String, Secret> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        read_headers(reader, node)
    }

    fn show<'a>(&'a self, _: Form, _: &'a EffectiveSettings) -> Option<impl Serialize + 'a> {
        Some(shown_values(self))
    }

    fn keep(&mut self, running: &Self, key: &Key, waiting: &mut Vec<String>) {
        let mut pairs = self.iter().zip(running);
        let is_same = self.len() == running.len()
            && pairs.all(|((name, new), (used_name, used))| name == used_name && new.is_same(used));
        keep(self, running, is_same, key, waiting);
    }
}

impl Default for Otlp {
    fn default() -> Self {
        Self::with_defaults()
    }
}

fn read_endpoint(reader: &mut Reader<'_, '_>, node: u32, endpoint: &mut Option<Secret>) {
    read_into(reader, node, endpoint);
    let Some(url) = endpoint.as_ref().map(Secret::expose) else {
        return;
    };
    let checked = check_endpoint(url);
    let warning = warn_of_grpc(url);
    reader.usable(node, checked);
    if let Some(warning) = warning {
        reader.warn(node, warning);
    }
}

fn show_endpoint(otlp: &Otlp, _: &EffectiveSettings) -> Option<String> {
    let endpoint = otlp.endpoint.as_ref();
    endpoint.map(|endpoint| shown_url(endpoint.expose()))
}

fn read_headers(reader: &mut Reader<'_, '_>, node: u32) -> Option<BTreeMap<String, Secret>> {
    let mut headers = BTreeMap::new();
    for (name, node) in reader.members(node) {
        let value = reader.secret(node)?;
        reader.usable(node, check_header(&name, &value, &headers))?;
        headers.insert(name, value);
    }
    Some(headers)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature that `plain!` asks for"
)]
fn read_texts(reader: &Reader<'_, '_>, node: u32) -> Option<BTreeMap<String, String>> {
    let members = reader.members(node).into_iter();
    let texts = members.map(|(name, node)| (name, reader.text(node)));
    Some(texts.collect())
}

fn check_endpoint(url: &str) -> Result<(), Problem> {
    check_url(url)?;
    if url.contains('?') {
        let hint = "write \"http://host:4318\", and put keys into \"headers\"";
        return Err(Problem::new("an endpoint has no query", hint));
    }
    Ok(())
}

fn warn_of_grpc(url: &str) -> Option<Warning> {
    let is_grpc = url.trim_end_matches('/').ends_with(GRPC_PORT);
    let message = "4317 is usually the port for gRPC, which is not spoken here";
    is_grpc.then(|| Problem::new(message, "use the port for HTTP, usually 4318"))
}

impl Otlp {
    /// The variables of OpenTelemetry that set what the file does not.
    pub const VARIABLES: [&str; 5] = [
        ENDPOINT,
        HEADERS,
        SERVICE_NAME,
        RESOURCE_ATTRIBUTES,
        DISABLED,
    ];

    /// Sets what is not set to what the variables of OpenTelemetry say. What cannot be used is left out with a warning: the
    /// variables may be meant for other programs.
    pub(crate) fn fill_from(&mut self, environment: &Environment<'_>) -> Vec<Warning> {
        let is_disabled = environment.get(DISABLED);
        if is_disabled.is_some_and(|word| word.eq_ignore_ascii_case("true")) {
            self.endpoint = None;
            return Vec::new();
        }
        let mut warnings = Vec::new();
        if self.endpoint.is_none()
            && let Some(url) = environment.get(ENDPOINT)
        {
            match check_endpoint(&url) {
                Ok(()) => {
                    warnings.extend(warn_of_grpc(&url));
                    self.endpoint = Some(Secret::from_variables(url, vec![ENDPOINT.to_owned()]));
                }
                Err(problem) => warnings.push(ignored(ENDPOINT, &problem.message)),
            }
        }
        if self.endpoint.is_none() {
            return warnings;
        }
        if self.headers.is_empty() {
            self.fill_headers(environment, &mut warnings);
        }
        self.service_name = self.service_name.take().or(environment.get(SERVICE_NAME));
        if self.resource_attributes.is_empty()
            && let Some(list) = environment.get(RESOURCE_ATTRIBUTES)
        {
            match parse_list(&list) {
                Some(pairs) => self.resource_attributes.extend(pairs),
                None => warnings.push(ignored(RESOURCE_ATTRIBUTES, NOT_A_LIST)),
            }
        }
        warnings
    }

    fn fill_headers(&mut self, environment: &Environment<'_>, warnings: &mut Vec<Warning>) {
        let Some(list) = environment.get(HEADERS) else {
            return;
        };
        let Some(pairs) = parse_list(&list) else {
            return warnings.push(ignored(HEADERS, NOT_A_LIST));
        };
        let mut headers = BTreeMap::new();
        for (name, value) in pairs {
            let value = Secret::from_variables(value, vec![HEADERS.to_owned()]);
            if let Err(problem) = check_header(&name, &value, &headers) {
                return warnings.push(ignored(HEADERS, &problem.message));
            }
            headers.insert(name, value);
        }
        self.headers = headers;
    }
}

const NOT_A_LIST: &str = "not a list of key=value pairs with commas between them";

fn ignored(variable: &str, why: &str) -> Warning {
    let hint = "correct the variable, or set the key under \"otlp\" in the file";
    Problem::new(format!("{variable}: {why}, so it is ignored"), hint)
}

/// `key=value,key=value`, with values in percent-encoding, as the variables of OpenTelemetry have it.
fn parse_list(list: &str) -> Option<Vec<(String, String)>> {
    let pairs = list.split(',').map(str::trim);
    let pairs = pairs.filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let value = percent_encoding::percent_decode_str(value.trim());
            let value = value.decode_utf8().ok()?.into_owned();
            let key = key.trim().to_owned();
            (!key.is_empty()).then_some((key, value))
        })
        .collect()
}
