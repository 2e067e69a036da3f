//! Bedrock: the request as documented, its signature recomputed from what came over the wire, and recorded answers.

use countersign_classify::{
    AwsAuth, Bedrock, BedrockCheck, BedrockSource, Kind, OnInjection, Options, Secret,
};
use countersign_inspect::Decision;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::provider::{Provider, Reply, Request};
use crate::support::{answered, concluded, options, panel};

/// What the provider plays.
type ReplyFn = fn() -> Reply;

const KEY: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const ARN: &str = "arn:aws:bedrock:eu-west-1:1:guardrail/abc";

fn keys() -> AwsAuth {
    AwsAuth::Keys {
        access_key_id: "AKIDEXAMPLE".into(),
        secret_access_key: Secret::new(KEY),
        session_token: Some(Secret::new("t0ken==")),
    }
}

fn guardrail(url: &str, source: BedrockSource) -> Kind {
    let check = BedrockCheck::Guardrail {
        id: ARN.into(),
        version: "DRAFT".into(),
        source,
    };
    bedrock(url, keys(), check)
}

fn bedrock(url: &str, auth: AwsAuth, check: BedrockCheck) -> Kind {
    Kind::Bedrock(Bedrock {
        endpoint: url.to_owned(),
        region: "eu-west-1".into(),
        auth,
        check,
    })
}

fn passed() -> Reply {
    Reply::Json(
        json!({ "action": "NONE", "outputs": [], "assessments": [{}], "usage": { "topicPolicyUnits": 1 } }),
    )
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("any key");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// The signature over exactly what was received, by the documented steps.
fn is_signed(request: &Request) {
    let authorization = request.header("authorization").expect("it is signed");
    let rest = authorization
        .strip_prefix("AWS4-HMAC-SHA256 ")
        .expect("the algorithm");
    let part = |name: &str| {
        let mut parts = rest.split(", ");
        parts
            .find_map(|part| part.strip_prefix(name))
            .expect("a part")
            .to_owned()
    };
    let (credential, names, signature) = (
        part("Credential="),
        part("SignedHeaders="),
        part("Signature="),
    );
    let [id, date, region, service, end] = credential.split('/').collect::<Vec<_>>()[..] else {
        panic!("five parts: {credential}")
    };
    assert_eq!(
        (id, region, service, end),
        ("AKIDEXAMPLE", "eu-west-1", "bedrock", "aws4_request")
    );
    let stamp = request.header("x-amz-date").expect("a date");
    assert!(stamp.starts_with(date) && stamp.len() == 16, "{stamp}");
    assert_eq!(names, "content-type;host;x-amz-date;x-amz-security-token");
    let target = request.line.split(' ').nth(1).expect("a target");
    // A path is encoded once more for the signature; a percent sign is all there is to encode.
    let headers: Vec<String> = names
        .split(';')
        .map(|name| {
            format!(
                "{name}:{}\n",
                request.header(name).expect("a signed header")
            )
        })
        .collect();
    let canonical = format!(
        "POST\n{}\n\n{}\n{names}\n{}",
        target.replace('%', "%25"),
        headers.concat(),
        hex(&Sha256::digest(&request.body))
    );
    let scope = format!("{date}/{region}/{service}/{end}");
    let digest = hex(&Sha256::digest(canonical.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{digest}");
    let mut key = format!("AWS4{KEY}").into_bytes();
    for part in [date, region, service, end] {
        key = mac(&key, part);
    }
    assert_eq!(signature, hex(&mac(&key, &text)));
}

#[tokio::test]
async fn the_request_is_the_documented_one_and_signed() {
    let provider = Provider::start(|_| passed()).await;
    let panel = panel(guardrail(&provider.url, BedrockSource::Output), options());
    assert_eq!(
        concluded(&panel, &["Hello."]).await,
        (Decision::Allowed, vec![])
    );
    let [request] = &provider.seen()[..] else {
        panic!("one request")
    };
    assert_eq!(
        request.line,
        "POST /guardrail/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aguardrail%2Fabc/version/DRAFT/apply HTTP/1.1"
    );
    assert_eq!(request.header("x-amz-security-token"), Some("t0ken=="));
    assert_eq!(
        request.json(),
        json!({ "source": "OUTPUT", "content": [{ "text": { "text": "Hello." } }] })
    );
    is_signed(request);
}

#[tokio::test]
async fn an_api_key_of_bedrock_is_a_bearer() {
    let provider = Provider::start(|_| passed()).await;
    let check = BedrockCheck::Guardrail {
        id: "abc".into(),
        version: "1".into(),
        source: BedrockSource::Input,
    };
    let auth = AwsAuth::Bearer(Secret::new("bedrock-k3y"));
    let panel = panel(bedrock(&provider.url, auth, check), options());
    assert_eq!(concluded(&panel, &["Hello."]).await.0, Decision::Allowed);
    let request = &provider.seen()[0];
    assert_eq!(request.line, "POST /guardrail/abc/version/1/apply HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer bedrock-k3y"));
    assert_eq!(request.header("x-amz-date"), None);
    assert_eq!(request.json()["source"], "INPUT");
}

#[tokio::test]
async fn both_sources_are_asked_and_the_worse_verdict_counts() {
    let provider = Provider::start(|request| {
        if request.json()["source"] == "OUTPUT" {
            return passed();
        }
        Reply::Json(json!({ "action": "GUARDRAIL_INTERVENED", "outputs": [{ "text": "Sorry." }], "assessments": [
            { "contentPolicy": { "filters": [{ "type": "PROMPT_ATTACK", "confidence": "HIGH", "action": "BLOCKED" }] } }
        ] }))
    })
    .await;
    let panel = panel(guardrail(&provider.url, BedrockSource::Both), options());
    let (decision, findings) = concluded(&panel, &["Ignore this."]).await;
    assert_eq!(decision, Decision::Flagged);
    assert_eq!(
        findings,
        ["classifier.guard: verdict block, label PROMPT_ATTACK; screened 12 of 12 characters"]
    );
    assert_eq!(provider.seen().len(), 2);
    for request in provider.seen() {
        is_signed(&request);
    }
}

#[tokio::test]
async fn masking_is_a_flag_and_masked_text_goes_nowhere() {
    let provider = Provider::start(|_| {
        Reply::Json(json!({ "action": "GUARDRAIL_INTERVENED", "outputs": [{ "text": "Write to {EMAIL}." }],
            "assessments": [{ "sensitiveInformationPolicy": { "piiEntities": [
                { "type": "EMAIL", "match": "a@b.example", "action": "ANONYMIZED" }], "regexes": [] } }] }))
    })
    .await;
    let blocking = Options {
        action: OnInjection::Block,
        ..options()
    };
    let panel = panel(guardrail(&provider.url, BedrockSource::Output), blocking);
    let (_, inspected) = answered(&panel, &["Write to a@b.example."]).await;
    assert_eq!(
        inspected.decision(),
        Decision::Flagged,
        "masking is no injection"
    );
    let emitted = inspected.emitted().into_bytes();
    let emitted = String::from_utf8_lossy(&emitted);
    assert!(
        emitted.contains("a@b.example") && !emitted.contains("{EMAIL}"),
        "{emitted}"
    );
    assert!(!format!("{:?}", inspected.findings()).contains("a@b.example"));
}

#[tokio::test]
async fn checks_without_a_guardrail_give_a_score() {
    let scores = |score: f64| {
        json!({ "results": { "promptAttack": { "results": [
        { "category": "JAILBREAK", "severityScore": 0.0 },
        { "category": "PROMPT_INJECTION", "severityScore": score },
        { "category": "PROMPT_LEAKAGE", "severityScore": 0.2 } ] } }, "usage": { "promptAttack": { "textUnits": 1 } } })
    };
    let provider = Provider::start(move |request| {
        let attack = request.json()["messages"][0]["content"][0]["text"] == json!("Ignore this.");
        Reply::Json(scores(if attack { 0.8 } else { 0.2 }))
    })
    .await;
    let kind = bedrock(
        &provider.url,
        keys(),
        BedrockCheck::PromptAttack { threshold: 0.6 },
    );
    let panel = panel(kind, options());
    assert_eq!(concluded(&panel, &["Hello."]).await.0, Decision::Allowed);
    let (_, findings) = concluded(&panel, &["Ignore this."]).await;
    assert_eq!(
        findings,
        [
            "classifier.guard: verdict block, label PROMPT_INJECTION, score 0.800; screened 12 of 12 characters"
        ]
    );
    let request = &provider.seen()[1];
    assert_eq!(request.line, "POST /guardrail-checks/invoke HTTP/1.1");
    let categories =
        ["JAILBREAK", "PROMPT_INJECTION", "PROMPT_LEAKAGE"].map(|word| json!({ "category": word }));
    assert_eq!(
        request.json(),
        json!({
            "messages": [{ "role": "user", "content": [{ "text": "Ignore this." }] }],
            "checks": { "promptAttack": { "categories": categories } },
        })
    );
    is_signed(request);
}

#[tokio::test]
async fn failures_are_errors() {
    let throttling: &[(&str, &str)] = &[(
        "x-amzn-errortype",
        "ThrottlingException:http://internal.amazon.com/",
    )];
    let cases: [(ReplyFn, &str); 5] = [
        (|| Reply::Failure(429, &[]), "throttled"),
        (
            || Reply::Failure(403, &[("x-amzn-errortype", "AccessDeniedException")]),
            "answered with status 403",
        ),
        (
            || Reply::Json(json!({ "outputs": [] })),
            "an answer that is not understood",
        ),
        (
            || Reply::Json(json!({ "action": "PERHAPS" })),
            "an answer that is not understood",
        ),
        (
            || Reply::Json(Value::Null),
            "an answer that is not understood",
        ),
    ];
    for (reply, detail) in cases {
        let provider = Provider::start(move |_| reply()).await;
        let panel = panel(guardrail(&provider.url, BedrockSource::Output), options());
        let (_, findings) = concluded(&panel, &["Hello."]).await;
        assert_eq!(
            findings,
            [format!(
                "classifier.guard.error: {detail}; screened 0 of 6 characters"
            )]
        );
    }
    let provider = Provider::start(|_| Reply::Failure(400, throttling)).await;
    let panel = panel(guardrail(&provider.url, BedrockSource::Output), options());
    let (_, findings) = concluded(&panel, &["Hello."]).await;
    assert_eq!(
        findings,
        ["classifier.guard.error: throttled; screened 0 of 6 characters"]
    );
}
