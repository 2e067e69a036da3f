//! The keys of one server and of one of its tools.

use super::sanitisation::SANITISATION;
use super::validation::{INPUT_VALIDATION, OUTPUT_VALIDATION};
use super::{Block, Form, Key, key};
use crate::foreign;
use crate::model::Profile;

pub(crate) const PROTOCOLS: &[&str] = &["auto", "stdio", "streamable-http", "http", "sse"];

/// `auto`, or an era by its word.
pub(crate) const ERAS: &[&str] = &["auto", "legacy", "modern"];

pub(crate) static SERVER: Block = Block {
    name: "server",
    help: "One server: a `command` to start and speak to over stdio, or a `url`.",
    foreign: foreign::SERVER,
    keys: SERVER_KEYS,
};

const SERVER_KEYS: &[Key] = &[
    key(
        "name",
        Form::Name,
        "",
        "Its name: 1 to 20 of `a`-`z`, `0`-`9` and `-`; another is replaced by one that fits, with a warning. Required in an array; in an object the key is the name.",
    ),
    key(
        "command",
        Form::Text,
        "",
        "The program to start. Not a shell line: arguments go into `args`.",
    ),
    key("args", Form::Texts, "[]", "Its arguments."),
    key(
        "env",
        Form::TextMap,
        "{}",
        "Variables for it, beside the few every child gets. Values may contain `${env:NAME}`.",
    ),
    key(
        "working_dir",
        Form::OptionalText,
        "null",
        "The directory it runs in; `null` is the gateway's own. `~` is the home directory.",
    ),
    key(
        "cwd",
        Form::OptionalText,
        "",
        "The same, as desktop clients write it.",
    ),
    key(
        "url",
        Form::Text,
        "",
        "Where it is served: `http://` or `https://`.",
    ),
    key(
        "headers",
        Form::TextMap,
        "{}",
        "Headers of every request to it. Values may contain `${env:NAME}`.",
    ),
    key(
        "protocol",
        Form::Choice(PROTOCOLS),
        r#""auto""#,
        "`auto` is stdio for a `command` and Streamable HTTP for a `url`; `sse` is the transport before it. `http` means `streamable-http`.",
    ),
    key(
        "type",
        Form::Choice(PROTOCOLS),
        "",
        "The same, as desktop clients write it.",
    ),
    key(
        "era",
        Form::Choice(ERAS),
        r#""auto""#,
        "The era of MCP that is spoken with it: `legacy` is `initialize`, up to 2025-11-25; `modern` is 2026-07-28. `auto` finds out, and behind `countersign wrap` begins in the client's own. See [eras](../concepts/eras.md).",
    ),
    key(
        "enabled",
        Form::Flag,
        "true",
        "Whether the gateway uses it at all.",
    ),
    key(
        "disabled",
        Form::Flag,
        "",
        "The opposite, as desktop clients write it.",
    ),
    key(
        "quarantined",
        Form::Flag,
        "",
        "Set by mcpproxy on a server nobody has approved yet. `true`: it is not used.",
    ),
    key(
        "timeout",
        Form::Duration,
        "",
        "How long a call to it may take; `call_tool_timeout` if not given.",
    ),
    key(
        "max_concurrent_requests",
        Form::Number(1, 65_536),
        "16",
        "How many requests it is sent at a time.",
    ),
    key(
        "queue_size",
        Form::Number(0, 65_536),
        "64",
        "How many more may wait; beyond that they are refused at once.",
    ),
    key(
        "profile",
        Form::Choice(Profile::WORDS),
        "",
        "For this server's tools, in place of the file's; it wins over the file's blocks, and its own blocks win over it.",
    ),
    key(
        "output_validation",
        Form::Block(&OUTPUT_VALIDATION),
        "",
        "For this server's tools.",
    ),
    key(
        "input_validation",
        Form::Block(&INPUT_VALIDATION),
        "",
        "For this server's tools.",
    ),
    key(
        "output_sanitisation",
        Form::Block(&SANITISATION),
        "",
        "For this server's tools, its descriptions of them, and its instructions.",
    ),
    key(
        "classify",
        Form::Texts,
        "[]",
        "The classifiers that may see this server's results. Nothing is sent to any other.",
    ),
    key(
        "tools",
        Form::Named(&TOOL),
        "{}",
        "Settings for single tools, by the name the server gives them.",
    ),
];

pub(crate) static TOOL: Block = Block {
    name: "tool",
    help: "Settings for one tool of one server.",
    foreign: &[],
    keys: &[
        key(
            "output_validation",
            Form::Block(&OUTPUT_VALIDATION),
            "",
            "For this tool.",
        ),
        key(
            "input_validation",
            Form::Block(&INPUT_VALIDATION),
            "",
            "For this tool.",
        ),
        key(
            "output_sanitisation",
            Form::Block(&SANITISATION),
            "",
            "For this tool.",
        ),
        key(
            "classify",
            Form::Texts,
            "",
            "The classifiers that may see this tool's results; those of its server if not given, none if empty.",
        ),
        key(
            "free_text",
            Form::Flag,
            "",
            "Whether results that conform to the output schema may carry free text, and so are shown to classifiers. Derived from the schema if not given.",
        ),
    ],
};
