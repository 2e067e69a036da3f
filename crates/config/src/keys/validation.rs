//! The keys of the blocks that may stand in the file, under a server and under a tool. What they
//! mean is the inspector's; a test holds this list to its types.

use countersign_inspect::Mode;
use countersign_inspect::config::{Advertise, Egress, GuardScope, Posture, Tolerance};

use super::{Block, Form, key};

pub(crate) static OUTPUT_VALIDATION: Block = Block {
    name: "output_validation",
    help: "How results are held to the output schema their tool declared. The block may stand in the file, under a server and under a tool; the innermost wins, key by key.",
    foreign: &[],
    keys: &[
        key(
            "mode",
            Form::Choice(Mode::ALL),
            r#""warn""#,
            "`off` checks nothing, `warn` forwards violations unchanged and records them, `strict` blocks them.",
        ),
        key(
            "max_bytes",
            Form::Number(1, 1 << 40),
            "5242880",
            "Longest `structuredContent`, in bytes as received; equal passes.",
        ),
        key(
            "max_depth",
            Form::Number(1, u32::MAX as u64),
            "64",
            "Deepest `structuredContent`; a scalar is 1, equal passes.",
        ),
        key(
            "max_blocks",
            Form::Number(1, u32::MAX as u64),
            "10000",
            "Most blocks in `content`, of every tool; equal passes. Each block costs work of its own.",
        ),
        key(
            "missing_structured_content",
            Form::Choice(Posture::ALL),
            r#""allow""#,
            "In strict mode: a schema is declared and the result has no `structuredContent`.",
        ),
        key(
            "uncompilable_schema",
            Form::Choice(Posture::ALL),
            r#""allow""#,
            "In strict mode: the declared schema cannot be enforced.",
        ),
        key(
            "external_ref",
            Form::Choice(Tolerance::ALL),
            r#""reject""#,
            "The schema refers to another document: `reject` is a finding on every call, `allow` treats it as one that cannot be enforced.",
        ),
        key(
            "duplicate_keys",
            Form::Choice(Tolerance::ALL),
            r#""reject""#,
            "A repeated key inside `structuredContent` of a tool with a schema; `allow` validates every occurrence.",
        ),
        key(
            "guards",
            Form::Choice(GuardScope::ALL),
            r#""declared""#,
            "Whether the limits on size and depth hold only for tools that declare a schema, or for all.",
        ),
        key(
            "assert_formats",
            Form::Flag,
            "false",
            "Whether `format` rejects values or only annotates.",
        ),
        key(
            "fuel_factor",
            Form::Factor,
            "1.0",
            "Scales the work a validation may cost before it counts as a violation.",
        ),
        key(
            "advertise_output_schema",
            Form::Choice(Advertise::ALL),
            r#""always""#,
            "Which output schemas clients see: every enforceable one, those whose tool has not yet violated them, or none.",
        ),
        key(
            "legacy_egress",
            Form::Choice(Egress::ALL),
            r#""convert""#,
            "Toward clients that negotiated 2025-11-25 or earlier: structured content they would reject becomes a text block, or is sent as it is.",
        ),
    ],
};

pub(crate) static INPUT_VALIDATION: Block = Block {
    name: "input_validation",
    help: "How arguments are held to the input schema of their tool. The block may stand in the file, under a server and under a tool; the innermost wins.",
    foreign: &[],
    keys: &[key(
        "mode",
        Form::Choice(Mode::ALL),
        r#""warn""#,
        "`off` checks nothing, `warn` never changes a call and records violations, `strict` answers them with an error.",
    )],
};
