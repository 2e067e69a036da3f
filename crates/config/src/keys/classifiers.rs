//! The keys of one classifier. Which of them a kind has is for `resolve` to say; what they mean is the classifiers'.

use countersign_classify::{BedrockSource, Kind, NemoRail, OnError, OnInjection};

use super::{Block, Form, Key, key};

const CHECKS: &[&str] = &["guardrail", "prompt_attack"];

pub(crate) static CLASSIFIER: Block = Block {
    name: "classifier",
    help: "One injection classifier. It sees nothing until a server or a tool has its name in `classify`: text leaves this process, except for `local`. See [classifiers](../guides/classifiers.md).",
    foreign: &[],
    keys: KEYS,
};

const KEYS: &[Key] = &[
    key(
        "kind",
        Form::Choice(Kind::WORDS),
        "",
        "What it is: Azure Prompt Shields, Amazon Bedrock Guardrails, a NeMo Guardrails server, anything that speaks the webhook's JSON, or a model in this process. Required.",
    )
    .needing_commands(),
    key(
        "name",
        Form::Text,
        "",
        "What it is called in `classify`, in records and in metrics: 1 to 32 of `a`-`z`, `0`-`9`, `_` and `-`. Its kind if not given.",
    ),
    key(
        "action",
        Form::Choice(OnInjection::WORDS),
        r#""report""#,
        "An injection: recorded, or the result blocked.",
    ),
    key(
        "on_error",
        Form::Choice(OnError::WORDS),
        "",
        "Text that could not be screened, because the classifier failed or there was too much of it: forwarded and only counted, forwarded and recorded, or the result blocked. `flag` with `report`, `closed` with `block`.",
    ),
    key(
        "timeout",
        Form::Duration,
        r#""800ms""#,
        "How long one question may take; `classifier_budget` holds for all of them together.",
    ),
    key(
        "max_concurrent",
        Form::Number(1, 1024),
        "8",
        "How many questions are under way at a time, of all calls together. A `local` model is asked one at a time.",
    ),
    key(
        "max_chunks",
        Form::Number(1, 4096),
        "32",
        "How many chunks of one result are screened; what is left over counts as an error.",
    ),
    key(
        "chunk_chars",
        Form::Number(100, 100_000),
        "",
        "The longest chunk, in UTF-16 code units, as far as the kind takes it: `prompt_shields` 2000, `bedrock` 10000, `nemo` 4000, `webhook` 8000, `local` 1000 if not given.",
    ),
    key(
        "cache_entries",
        Form::Number(0, 1_000_000),
        "10000",
        "How many verdicts are remembered, in memory and without the text; 0 remembers none.",
    ),
    key("cache_ttl", Form::Duration, r#""10m""#, "For how long."),
    key(
        "breaker_pause",
        Form::Duration,
        r#""10s""#,
        "How long it is left alone after five failures in a row.",
    ),
    key(
        "endpoint",
        Form::Text,
        "",
        "Where it is, for all kinds but `local`. For `bedrock` the region's own if not given. Prompt Shields and Bedrock need `https`, except on this machine.",
    )
    .needing_commands(),
    key(
        "api_key",
        Form::Text,
        "",
        "`prompt_shields`: the resource's key. `bedrock`: an API key of Bedrock, sent as a bearer; `AWS_BEARER_TOKEN_BEDROCK` if not given. Best `${env:NAME}`.",
    )
    .needing_commands(),
    key(
        "bearer_token",
        Form::Text,
        "",
        "`prompt_shields`: a token of Entra, instead of `api_key`. Best `${env:NAME}`.",
    )
    .needing_commands(),
    key(
        "headers",
        Form::TextMap,
        "",
        "`webhook`, `nemo`: headers of every request. Values may contain `${env:NAME}`.",
    )
    .needing_commands(),
    key(
        "region",
        Form::Text,
        "",
        "`bedrock`: the region; `AWS_REGION` if not given.",
    )
    .needing_commands(),
    key(
        "access_key_id",
        Form::Text,
        "",
        "`bedrock`: requests are signed with this key, if there is no `api_key`; `AWS_ACCESS_KEY_ID` if not given.",
    )
    .needing_commands(),
    key(
        "secret_access_key",
        Form::Text,
        "",
        "`bedrock`: the key itself; `AWS_SECRET_ACCESS_KEY` if not given. Best `${env:NAME}`.",
    )
    .needing_commands(),
    key(
        "session_token",
        Form::Text,
        "",
        "`bedrock`: what temporary keys come with; `AWS_SESSION_TOKEN` if the keys are from there.",
    )
    .needing_commands(),
    key(
        "check",
        Form::Choice(CHECKS),
        "",
        "`bedrock`: a guardrail of the account decides (`guardrail`, the default), or the prompt-attack check that needs none (`prompt_attack`).",
    ),
    key(
        "guardrail_id",
        Form::Text,
        "",
        "`bedrock`: the guardrail's id or ARN.",
    ),
    key(
        "guardrail_version",
        Form::Text,
        "",
        "`bedrock`: its version, a number or `DRAFT`, which it is if not given.",
    ),
    key(
        "source",
        Form::Choice(BedrockSource::WORDS),
        "",
        "`bedrock`: as what a guardrail is shown the text. `OUTPUT` if not given; its prompt-attack filter is documented for `INPUT` only; `BOTH` asks twice.",
    ),
    key(
        "config_id",
        Form::Text,
        "",
        "`nemo`: which of the server's configurations; its default one if not given.",
    ),
    key(
        "model",
        Form::Text,
        "",
        "`nemo`: the model's name in the request; a configuration without models ignores it.",
    ),
    key(
        "rail",
        Form::Choice(NemoRail::WORDS),
        "",
        "`nemo`: the rails that see the text, `input` if not given. There are none for tool results over HTTP.",
    ),
    key(
        "path",
        Form::Text,
        "",
        "`local`: the folder with `model_quantized.onnx` or `model.onnx`, and `tokenizer.json`. `~` is the home directory. Nothing is downloaded.",
    )
    .needing_commands(),
    key(
        "threshold",
        Form::Factor,
        "",
        "`local`: the score, up to 1, from which a text is an injection; the model's own if not given. `bedrock` with `prompt_attack`: 0.6 if not given.",
    ),
    key(
        "temperature",
        Form::Factor,
        "",
        "`local`: what the model's output is divided by before it becomes a score; the model's own if not given.",
    ),
];
