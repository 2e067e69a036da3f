//! The keys of one classifier. `read` knows which of them a kind has.

use countersign_classify::{BedrockSource, Kind, NemoRail, OnError, OnInjection};

use crate::keys::Form;
use crate::setting::keys;

const CHECKS: &[&str] = &["guardrail", "prompt_attack"];

keys! {
    /// One injection classifier. It sees nothing until a server or a tool has its name in `classify`: text leaves this
    /// process, except for `local`. See [classifiers](../guides/classifiers.md).
    #[block("classifier")]
    pub static CLASSIFIER {
        /// What it is: Azure Prompt Shields, Amazon Bedrock Guardrails, a NeMo Guardrails server, anything that speaks
        /// the webhook's JSON, or a model in this process. Required.
        #[key(Form::Choice(Kind::WORDS), Reload, Commands)]
        "kind";
        /// What it is called in `classify`, in records and in metrics: 1 to 32 of `a`-`z`, `0`-`9`, `_` and `-`. Its
        /// kind if not given.
        #[key(Form::Text, Reload)]
        "name";
        /// An injection: recorded, or the result blocked.
        #[key(Form::Choice(OnInjection::WORDS), Reload)]
        "action" = r#""report""#;
        /// Text that could not be screened, because the classifier failed or there was too much of it: forwarded and
        /// only counted, forwarded and recorded, or the result blocked. `flag` with `report`, `closed` with `block`.
        #[key(Form::Choice(OnError::WORDS), Reload)]
        "on_error";
        /// How long one question may take; `classifier_budget` holds for all of them together.
        #[key(Form::Duration, Reload)]
        "timeout" = r#""800ms""#;
        /// How many questions are under way at a time, of all calls together. A `local` model is asked one at a time.
        #[key(Form::Number(1, 1024), Reload)]
        "max_concurrent" = "8";
        /// How many chunks of one result are screened; what is left over counts as an error.
        #[key(Form::Number(1, 4096), Reload)]
        "max_chunks" = "32";
        /// The longest chunk, in UTF-16 code units, as far as the kind takes it: `prompt_shields` 2000, `bedrock`
        /// 10000, `nemo` 4000, `webhook` 8000, `local` 1000 if not given.
        #[key(Form::Number(100, 100_000), Reload)]
        "chunk_chars";
        /// How many verdicts are remembered, in memory and without the text; 0 remembers none.
        #[key(Form::Number(0, 1_000_000), Reload)]
        "cache_entries" = "10000";
        /// For how long.
        #[key(Form::Duration, Reload)]
        "cache_ttl" = r#""10m""#;
        /// How long it is left alone after five failures in a row.
        #[key(Form::Duration, Reload)]
        "breaker_pause" = r#""10s""#;
        /// Where it is, for all kinds but `local`. For `bedrock` the region's own if not given. Prompt Shields and
        /// Bedrock need `https`, except on this machine.
        #[key(Form::Text, Reload, Commands)]
        "endpoint";
        /// `prompt_shields`: the resource's key. `bedrock`: an API key of Bedrock, sent as a bearer;
        /// `AWS_BEARER_TOKEN_BEDROCK` if not given. Best `${env:NAME}`.
        #[key(Form::Text, Reload, Commands)]
        "api_key";
        /// `prompt_shields`: a token of Entra, instead of `api_key`. Best `${env:NAME}`.
        #[key(Form::Text, Reload, Commands)]
        "bearer_token";
        /// `webhook`, `nemo`: headers of every request. Values may contain `${env:NAME}`.
        #[key(Form::TextMap, Reload, Commands)]
        "headers";
        /// `bedrock`: the region; `AWS_REGION` if not given.
        #[key(Form::Text, Reload, Commands)]
        "region";
        /// `bedrock`: requests are signed with this key, if there is no `api_key`; `AWS_ACCESS_KEY_ID` if not given.
        #[key(Form::Text, Reload, Commands)]
        "access_key_id";
        /// `bedrock`: the key itself; `AWS_SECRET_ACCESS_KEY` if not given. Best `${env:NAME}`.
        #[key(Form::Text, Reload, Commands)]
        "secret_access_key";
        /// `bedrock`: what temporary keys come with; `AWS_SESSION_TOKEN` if the keys are from there.
        #[key(Form::Text, Reload, Commands)]
        "session_token";
        /// `bedrock`: a guardrail of the account decides (`guardrail`, the default), or the prompt-attack check that
        /// needs none (`prompt_attack`).
        #[key(Form::Choice(CHECKS), Reload)]
        "check";
        /// `bedrock`: the guardrail's id or ARN.
        #[key(Form::Text, Reload)]
        "guardrail_id";
        /// `bedrock`: its version, a number or `DRAFT`, which it is if not given.
        #[key(Form::Text, Reload)]
        "guardrail_version";
        /// `bedrock`: as what a guardrail is shown the text. `OUTPUT` if not given; its prompt-attack filter is
        /// documented for `INPUT` only; `BOTH` asks twice.
        #[key(Form::Choice(BedrockSource::WORDS), Reload)]
        "source";
        /// `nemo`: which of the server's configurations; its default one if not given.
        #[key(Form::Text, Reload)]
        "config_id";
        /// `nemo`: the model's name in the request; a configuration without models ignores it.
        #[key(Form::Text, Reload)]
        "model";
        /// `nemo`: the rails that see the text, `input` if not given. There are none for tool results over HTTP.
        #[key(Form::Choice(NemoRail::WORDS), Reload)]
        "rail";
        /// `local`: the folder with `model_quantized.onnx` or `model.onnx`, and `tokenizer.json`. `~` is the home
        /// directory. Nothing is downloaded.
        #[key(Form::Text, Reload, Commands)]
        "path";
        /// `local`: the score, up to 1, from which a text is an injection; the model's own if not given. `bedrock` with
        /// `prompt_attack`: 0.6 if not given.
        #[key(Form::Factor, Reload)]
        "threshold";
        /// `local`: what the model's output is divided by before it becomes a score; the model's own if not given.
        #[key(Form::Factor, Reload)]
        "temperature";
    }
}
