//! What each rule is about, in one phrase of ours. An agent reads it when a result is blocked, and reports explain their
//! rules with it. A closed vocabulary: nothing in it depends on what a server wrote.

/// What a finding of this rule is about, as a phrase without a full stop: `token.chatml` is "the text holds control
/// tokens of a language model". A rule that this version does not know has a phrase too.
pub fn describe_rule(rule: &str) -> &'static str {
    let rule = rule.strip_prefix("input.").map_or(rule, |_| "input");
    let whole = match rule {
        "transport.too_large" => "the answer is larger than max_message_bytes",
        "transport.too_deep" => "the answer is nested deeper than max_message_depth",
        "transport.not_utf8" => "the answer is not UTF-8 text",
        "transport.not_json" => "the answer is not one valid JSON-RPC response",
        "transport.bad_id" => "the answer does not carry the id of its request",
        "transport.foreign_member" => "the answer has members that JSON-RPC does not know",
        "shape.content" => "the content is not what MCP allows in a result",
        "shape.block" => "a content block is not what MCP allows",
        "shape.base64" => "the data of a content block is not valid base64",
        "shape.surrogate" => "a text is not valid Unicode",
        "shape.is_error" => "isError is not a boolean",
        "guard.max_bytes" => "the structured content has more bytes than max_bytes",
        "guard.max_depth" => "the structured content is nested deeper than max_depth",
        "guard.max_blocks" => "the result has more content blocks than max_blocks",
        "contract.missing" => "an output schema is declared and structured content is missing",
        "contract.uncompilable" => "a declared schema cannot be enforced",
        "contract.external_ref" => "a declared schema refers to another document",
        "contract.exhausted" => "checking against the output schema costs more than it may",
        "access.denied" => "the caller may not use it",
        "access.scope" => "the caller's token lacks a scope",
        "contract.duplicate_key" => "an object of the structured content has a repeated key",
        "ansi" => "the text holds terminal sequences",
        "encoded_token" => "the text holds encoded control tokens of a language model",
        "boundary_forgery" => "the text imitates the boundary around untrusted text",
        "truncated" => "the text is longer than it may be",
        _ => "",
    };
    if whole.is_empty() {
        describe_group(rule)
    } else {
        whole
    }
}

/// The phrase of a group of rules: the first part of the name says which.
fn describe_group(rule: &str) -> &'static str {
    match rule.split('.').next().unwrap_or_default() {
        "transport" => "the answer cannot be read as a JSON-RPC response",
        "shape" => "the result is not one that MCP allows",
        "guard" => "the result is larger than it may be",
        "contract" => "the result cannot be held against its output schema",
        "schema" => "structured content does not fit the output schema",
        "input" => "arguments do not fit the input schema",
        "token" => "the text holds control tokens of a language model",
        "invisible" => "the text holds hidden characters",
        "classifier" if is_classifier_error(rule) => "a classifier did not answer",
        "classifier" => "a classifier takes the text for an attack",
        _ => "the policy does not allow it",
    }
}

/// Whether the rule stands for a classifier that gave no verdict.
pub(crate) fn is_classifier_error(rule: &str) -> bool {
    let name = rule.strip_prefix("classifier.");
    let parts = name.and_then(|name| name.rsplit_once('.'));
    parts.is_some_and(|(_, last)| last == "error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_described_by_itself_or_by_its_group() {
        for (rule, phrase) in [
            (
                "transport.bad_id",
                "the answer does not carry the id of its request",
            ),
            (
                "token.chatml",
                "the text holds control tokens of a language model",
            ),
            (
                "schema.type",
                "structured content does not fit the output schema",
            ),
            ("input.schema.type", "arguments do not fit the input schema"),
            (
                "classifier.hook",
                "a classifier takes the text for an attack",
            ),
            ("classifier.hook.error", "a classifier did not answer"),
            (
                "classifier.error",
                "a classifier takes the text for an attack",
            ),
            ("shape.later", "the result is not one that MCP allows"),
            ("<|im_start|>", "the policy does not allow it"),
        ] {
            assert_eq!(describe_rule(rule), phrase, "{rule}");
        }
    }
}
