//! The keys of the whole file, of `storage` and of `activity`.

use super::classifiers::CLASSIFIER;
use super::sanitisation::SANITISATION;
use super::server::SERVER;
use super::validation::{INPUT_VALIDATION, OUTPUT_VALIDATION};
use super::{Block, Form, Key, key};
use crate::foreign;
use crate::model::Profile;

const SIZES: Form = Form::Number(1024, 1 << 30);
const MANY: u64 = 1 << 53;

pub(crate) static ROOT: Block = Block {
    name: "file",
    help: "The whole of `mcp_config.json`. Every key may be left out.",
    foreign: foreign::ROOT,
    keys: &[
        key(
            "$schema",
            Form::Text,
            "",
            "For editors: where the schema that `countersign config schema` prints is kept. Not read.",
        ),
        key(
            "listen",
            Form::Text,
            r#""127.0.0.1:8080""#,
            "The address and port to serve on. As in mcpproxy, a port alone (`:8080`) is every interface, here of IPv4: other machines can reach the gateway, there is no TLS, and a warning says so. `COUNTERSIGN_LISTEN` and `--listen` win over it.",
        ),
        key(
            "api_key",
            Form::OptionalText,
            "null",
            "The key clients authenticate with: it opens MCP and everything that only reads. May be a reference such as `${env:NAME}`. `null`: one is generated into the data directory at first start. `COUNTERSIGN_API_KEY` wins over it.",
        ),
        key(
            "admin_key",
            Form::OptionalText,
            "null",
            "The key for requests that change something; it opens everything that `api_key` opens too, and must be another one. Given as `api_key` is. `null`: one is generated into the data directory at first start. `COUNTERSIGN_ADMIN_KEY` wins over it.",
        ),
        key(
            "allow_api_commands",
            Form::Flag,
            "false",
            "Whether a change over the API, with the admin key, may set which programs are started (`command`, `args`, `env`, `working_dir` of a server) and where secrets are sent (`${env:NAME}` references in `headers`, `url` of a server with secret headers, where classifiers are). Like the keys themselves, `listen`, `data_dir` and `storage`, it can be changed in the file only.",
        ),
        key(
            "require_mcp_auth",
            Form::Flag,
            "true",
            "Whether `/mcp` needs the key. `false` is accepted only while `listen` is a loopback address.",
        ),
        key(
            "trusted_hosts",
            Form::Texts,
            "[]",
            "Names, with or without a port, that clients may use in `Host` and `Origin` beside those of a loopback address.",
        ),
        key(
            "data_dir",
            Form::Text,
            r#""~/.countersign""#,
            "Where the activity log, the generated keys and captured schemas are kept. `COUNTERSIGN_DATA_DIR` and `--data-dir` win over it.",
        ),
        key(
            "routing_mode",
            Form::Choice(&["retrieve_tools", "direct"]),
            r#""retrieve_tools""#,
            "What `/mcp` offers: `retrieve_tools`, a few tools that find and call the others, or `direct`, every tool.",
        ),
        key(
            "tool_names",
            Form::Choice(&["prefixed"]),
            r#""prefixed""#,
            "How tools are named where several servers meet: `prefixed` is `server__tool`.",
        ),
        key(
            "call_tool_timeout",
            Form::Duration,
            r#""2m""#,
            "How long a call may take; a server's `timeout` wins over it.",
        ),
        key(
            "max_message_bytes",
            SIZES,
            "16777216",
            "The largest message that is handled at all, in bytes.",
        ),
        key(
            "max_message_depth",
            Form::Number(16, 1_000_000),
            "120",
            "How deep a server's message may nest, its envelope included; deeper ones are refused in every mode. Where it is not set, never less than `output_validation.max_depth` and 2.",
        ),
        key(
            "max_inflight_bytes",
            Form::Number(1024, 1 << 40),
            "268435456",
            "How many bytes all messages in flight may hold together; no less than `max_message_bytes`. Half of it is set aside in equal shares for the servers and the clients.",
        ),
        key(
            "profile",
            Form::Choice(Profile::WORDS),
            r#""standard""#,
            "`hardened` blocks whatever is not known to be good: `output_validation` is strict, missing structured content and schemas that cannot be enforced block, guards hold for every tool, sanitising is `full` and a control token in `structuredContent` blocks. Single keys win over it; `config show` says what holds.",
        ),
        key(
            "storage",
            Form::Block(&STORAGE),
            "",
            "Where records are stored.",
        ),
        key("activity", Form::Block(&ACTIVITY), "", "The activity log."),
        key(
            "output_validation",
            Form::Block(&OUTPUT_VALIDATION),
            "",
            "How results are held to the output schema their tool declared.",
        ),
        key(
            "input_validation",
            Form::Block(&INPUT_VALIDATION),
            "",
            "How arguments are held to the input schema of their tool.",
        ),
        key(
            "output_sanitisation",
            Form::Block(&SANITISATION),
            "",
            "What is done about control tokens and hidden characters in text.",
        ),
        key(
            "classifiers",
            Form::Blocks(&CLASSIFIER),
            "[]",
            "Injection classifiers. Each sees only what `classify` of a server or tool lets it see.",
        ),
        key(
            "classifier_budget",
            Form::Duration,
            r#""1500ms""#,
            "How long all classifiers together may take over one result.",
        ),
        key(
            "schema_refs",
            Form::Object,
            "{}",
            "Fetching of remote `$ref`s. Not implemented in this version: anything in it is a warning.",
        ),
        key(
            "mcpServers",
            Form::Servers(&SERVER),
            "[]",
            "The servers behind the gateway: an array of them, each with a `name`, or, as desktop clients write it, an object with the names as keys.",
        ),
    ],
};

static STORAGE: Block = Block {
    name: "storage",
    help: "Where records are stored.",
    foreign: &[],
    keys: &[key(
        "url",
        Form::Text,
        r#""sqlite:""#,
        "`sqlite:` is a file in the data directory, `sqlite:PATH` another file. May contain `${env:NAME}`. `COUNTERSIGN_STORAGE_URL` wins over it.",
    )],
};

static ACTIVITY: Block = Block {
    name: "activity",
    help: "The activity log: what is kept, for how long, and how surely.",
    foreign: &[],
    keys: ACTIVITY_KEYS,
};

const ACTIVITY_KEYS: &[Key] = &[
    key(
        "retention_days",
        Form::Number(0, 36_500),
        "90",
        "Records older than this go; 0 keeps them whatever their age.",
    ),
    key(
        "retention_floor_days",
        Form::Number(0, 36_500),
        "1",
        "Nothing younger than this goes, whatever the other limits say. If the store then exceeds `max_size_mb`, no more records are written and `on_store_error` decides.",
    ),
    key(
        "max_records",
        Form::Number(0, MANY),
        "1000000",
        "More records than this go, oldest first; 0 sets no limit.",
    ),
    key(
        "max_size_mb",
        Form::Number(0, 1 << 32),
        "8192",
        "Records go, oldest first, until the store is no larger than this many MiB; 0 sets no limit. Tool declarations are not counted: each server has 16 MiB for them.",
    ),
    key(
        "payloads",
        Form::Choice(&["none", "redacted", "full"]),
        r#""none""#,
        "Whether arguments and results are stored: not at all, without what looks like a secret and only if they passed, or as they were.",
    ),
    key(
        "payload_max_bytes",
        Form::Number(0, 1 << 30),
        "65536",
        "How much of a payload is stored at most, in bytes.",
    ),
    key(
        "durability",
        Form::Choice(&["commit", "sync", "async"]),
        r#""commit""#,
        "When a reply may leave: after its records are committed (they survive the process), after they are flushed to disk (they survive a power loss), or at once (they may be lost, and losses are counted).",
    ),
    key(
        "on_store_error",
        Form::Choice(&["auto", "refuse", "continue"]),
        r#""auto""#,
        "What a call does when its record cannot be written: `auto` refuses in strict mode and goes on otherwise.",
    ),
    key(
        "signing_key",
        Form::OptionalText,
        "null",
        "The key that signs checkpoints, 64 hexadecimal digits; best a reference such as `${env:NAME}`. `null`: one is generated into the data directory at first start.",
    ),
];
