//! Classifiers in the file: what holds, what is shown of it, and what is refused with which hint.

use countersign_classify::{AwsAuth, Kind, OnError, OnInjection, ShieldsAuth};
use insta::assert_snapshot;

use super::{accepted, refused, warnings};
use crate::{Environment, parse};

/// A file with these classifiers, each of which a server may use.
fn file(classifiers: &str, names: &str) -> String {
    format!(
        r#"{{"classifiers": [{classifiers}], "mcpServers": {{"a": {{"command": "c", "classify": [{names}]}}}}}}"#
    )
}

#[test]
fn what_is_not_said_is_safe() {
    let config = accepted(&file(
        r#"{"kind": "webhook", "endpoint": "https://guard.example/screen"},
           {"kind": "webhook", "name": "strict", "action": "block", "endpoint": "http://127.0.0.1:9/"}"#,
        r#""webhook", "strict""#,
    ));
    let [report, block] = &config.classifiers[..] else {
        panic!("two")
    };
    assert_eq!(report.settings.name, "webhook");
    assert_eq!(report.settings.options.action, OnInjection::Report);
    assert_eq!(report.settings.options.on_error, OnError::Flag);
    assert_eq!(block.settings.options.on_error, OnError::Closed);
    assert_eq!(config.classifier_budget.as_millis(), 1500);
    assert!(config.panel().is_ok());
}

#[test]
fn the_list_of_a_tool_wins_over_that_of_its_server() {
    let config = accepted(
        r#"{"classifiers": [{"kind": "webhook", "endpoint": "https://a.example"}],
            "mcpServers": {
              "a": {"command": "c", "classify": ["webhook"], "tools": {"none": {"classify": []}, "same": {}}},
              "b": {"command": "c", "tools": {"one": {"classify": ["webhook"], "free_text": true}}}}}"#,
    );
    let lists = [
        ("a", "any"),
        ("a", "same"),
        ("a", "none"),
        ("b", "any"),
        ("b", "one"),
        ("c", "one"),
    ];
    let lists = lists.map(|(server, tool)| config.classify(server, tool).len());
    assert_eq!(lists, [1, 1, 0, 0, 1, 0]);
    assert_eq!(config.policy("b", "one").free_text, Some(true));
    assert_eq!(config.policy("b", "any").free_text, None);
}

#[test]
fn keys_are_not_shown() {
    let text = file(
        r#"{"kind": "prompt_shields", "endpoint": "https://x.example/", "api_key": "${env:CRM_TOKEN}"},
           {"kind": "webhook", "endpoint": "https://y.example", "headers": {"Authorization": "Bearer ${env:CRM_TOKEN}"}},
           {"kind": "bedrock", "region": "eu-west-1", "guardrail_id": "g", "source": "INPUT",
            "access_key_id": "AKIA", "secret_access_key": "s3cr3t-key-in-the-file"}"#,
        r#""prompt_shields", "webhook", "bedrock""#,
    );
    let config = accepted(&text);
    let shown = config.show();
    assert!(!shown.contains("s3cr3t"), "{shown}");
    assert!(!format!("{config:?}").contains("s3cr3t"));
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_snapshot!(serde_json::to_string_pretty(&shown["classifiers"][0]).expect("JSON"), @r#"
    {
      "action": "report",
      "api_key": "[redacted, from ${env:CRM_TOKEN}]",
      "breaker_pause": "10s",
      "cache_entries": 10000,
      "cache_ttl": "10m",
      "endpoint": "https://x.example/",
      "kind": "prompt_shields",
      "max_chunks": 32,
      "max_concurrent": 8,
      "name": "prompt_shields",
      "on_error": "flag",
      "timeout": "800ms"
    }
    "#);
    assert_eq!(
        shown["classifiers"][1]["headers"]["Authorization"],
        "[redacted, from ${env:CRM_TOKEN}]"
    );
    assert_eq!(shown["classifiers"][2]["secret_access_key"], "[redacted]");
    let redacted = config
        .redactor()
        .redact("has s3cr3t-crm-token in it")
        .into_owned();
    assert!(!redacted.contains("s3cr3t-crm-token"), "{redacted}");
}

#[test]
fn bedrock_takes_its_keys_from_the_environment() {
    let text = file(
        r#"{"kind": "bedrock", "guardrail_id": "g", "source": "INPUT"}"#,
        r#""bedrock""#,
    );
    let read = |variables: &'static [(&str, &str)]| {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let (config, _) = parse(&text, &Environment::new(lookup, None)).expect("accepted");
        match &config.classifiers[0].settings.kind {
            Kind::Bedrock(bedrock) => bedrock.clone(),
            other => panic!("{other:?}"),
        }
    };
    let keys = read(&[
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "k"),
    ]);
    assert_eq!(
        keys.endpoint,
        "https://bedrock-runtime.eu-west-1.amazonaws.com"
    );
    assert!(matches!(keys.auth, AwsAuth::Keys { .. }));
    let bearer = read(&[
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_BEARER_TOKEN_BEDROCK", "b"),
    ]);
    assert!(matches!(bearer.auth, AwsAuth::Bearer(_)));
    assert_eq!(bearer.region, "us-east-1");
}

#[test]
fn a_token_of_entra_is_taken() {
    let config = accepted(&file(
        r#"{"kind": "prompt_shields", "endpoint": "https://x.example", "bearer_token": "t"}"#,
        r#""prompt_shields""#,
    ));
    let Kind::PromptShields(shields) = &config.classifiers[0].settings.kind else {
        panic!("shields")
    };
    assert!(matches!(shields.auth, ShieldsAuth::Bearer(_)));
}

#[test]
fn what_is_missing_or_means_nothing_is_refused() {
    assert_snapshot!(refused(r#"{"classifiers": [
  {"name": "x"},
  {"kind": "webhok"}
]}"#), @r#"
    3:12: /classifiers/1/kind: unknown value "webhok"
    hint: did you mean "webhook"? allowed: prompt_shields, bedrock, nemo, webhook, local
    "#);
    assert_snapshot!(refused(r#"{"classifiers": [
  {"name": "x"},
  {"kind": "webhook", "name": "No Name", "endpoint": "guard.example"},
  {"kind": "prompt_shields", "endpoint": "http://x.example", "region": "eu-west-1"},
  {"kind": "bedrock", "region": "eu-west-1", "access_key_id": "AKIA", "guardrail_version": "latest"},
  {"kind": "bedrock", "name": "b2", "check": "prompt_attack", "region": "eu west", "threshold": 3},
  {"kind": "nemo", "name": "bedrock", "endpoint": "https://x.example/?key=1", "headers": {"Host": "x"}},
  {"kind": "prompt_shields", "name": "both", "endpoint": "https://x.example", "api_key": "${env:BROKEN_TOKEN}", "bearer_token": "b"}
], "mcpServers": {"a": {"command": "c", "classify": ["bedrok", "other"]}}}"#), @r#"
    2:3: /classifiers/0: a classifier needs a "kind"
    hint: one of prompt_shields, bedrock, nemo, webhook, local
    3:31: /classifiers/1/name: "No Name" cannot be a classifier's name
    hint: a name is 1 to 32 characters of a-z, 0-9, _ and -
    3:54: /classifiers/1/endpoint: not an http:// or https:// address
    hint: write "https://host/path"
    4:3: /classifiers/2: a classifier of kind "prompt_shields" needs "api_key"
    hint: give "${env:AZURE_CONTENT_SAFETY_KEY}"
    4:42: /classifiers/2/endpoint: what tools return would be sent in the clear
    hint: write an https:// address
    4:72: /classifiers/2/region: "region" means nothing to a classifier of kind "prompt_shields"
    hint: remove it; such a classifier has: endpoint, api_key, bearer_token
    5:3: /classifiers/3: a classifier of kind "bedrock" needs "secret_access_key"
    hint: give "${env:AWS_SECRET_ACCESS_KEY}"
    5:3: /classifiers/3: a classifier of kind "bedrock" needs "guardrail_id"
    hint: give the guardrail's id or ARN
    6:73: /classifiers/4/region: not a region
    hint: write one like "eu-west-1"
    7:28: /classifiers/5/name: there is another classifier "bedrock"
    hint: give each a "name" of its own
    7:51: /classifiers/5/endpoint: an address with a query
    hint: leave it out; what is secret goes into "api_key" or "headers"
    7:99: /classifiers/5/headers/Host: the gateway sets this header itself
    hint: remove it
    8:129: /classifiers/6/bearer_token: "api_key" and "bearer_token" are both given
    hint: keep one
    9:54: /mcpServers/a/classify/0: there is no classifier "bedrok"
    hint: did you mean "bedrock"? there are: No Name, prompt_shields, bedrock, b2, bedrock, both
    9:64: /mcpServers/a/classify/1: there is no classifier "other"
    hint: there are: No Name, prompt_shields, bedrock, b2, bedrock, both
    "#);
    assert_snapshot!(refused(r#"{"mcpServers": {"a": {"command": "c", "classify": ["local"]}}}"#), @r#"
    1:52: /mcpServers/a/classify/0: there is no classifier "local"
    hint: describe it in "classifiers"
    "#);
}

#[test]
#[cfg(not(feature = "local-model"))]
fn a_build_without_the_model_says_so() {
    assert_snapshot!(refused(r#"{"classifiers": [{"kind": "local", "path": "/models/x"}]}"#), @r#"
    1:27: /classifiers/0/kind: this build has no local model
    hint: build with `--features local-model`
    "#);
}

#[test]
#[cfg(feature = "local-model")]
fn a_folder_without_a_model_is_refused() {
    assert_snapshot!(refused(r#"{"classifiers": [{"kind": "local", "path": "/models/x"}, {"kind": "local", "name": "b"}]}"#), @r#"
    1:44: /classifiers/0/path: no model in this folder
    hint: it needs model_quantized.onnx or model.onnx, and tokenizer.json
    1:58: /classifiers/1: a classifier of kind "local" needs "path"
    hint: give the folder with the model's files
    "#);
}

#[test]
fn what_is_doubtful_is_said() {
    assert_snapshot!(warnings(r#"{"classifiers": [
  {"kind": "bedrock", "region": "eu-west-1", "api_key": "k", "guardrail_id": "g"},
  {"kind": "bedrock", "name": "twice", "region": "eu-west-1", "api_key": "k", "guardrail_id": "g", "source": "BOTH"},
  {"kind": "nemo", "endpoint": "http://rails.internal:8000"},
  {"kind": "webhook", "endpoint": "http://[::1]:8000"}
], "mcpServers": {"a": {"command": "c", "classify": ["bedrock", "twice", "nemo"]}}}"#), @r#"
    2:3: /classifiers/0: the prompt-attack filter of Bedrock is documented for input only; as OUTPUT it may not look at all
    hint: set "source" to "INPUT" or "BOTH" if the guardrail has that filter
    3:110: /classifiers/1/source: every text is sent to Bedrock twice, as OUTPUT and as INPUT
    hint: the prompt-attack filter is documented for input only; "INPUT" alone is enough for it
    4:32: /classifiers/2/endpoint: what tools return would be sent in the clear
    hint: use https:// unless the network is your own
    5:3: /classifiers/3: no server and no tool lets this classifier see anything
    hint: put its name into "classify" of a server or tool
    "#);
}
