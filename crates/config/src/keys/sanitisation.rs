//! The keys of `output_sanitisation`. The mode chooses what the other keys are when nobody sets them, so most have no
//! default of their own; a test holds this list to the inspector's types.

use countersign_inspect::config::{
    Invisibles, MirrorText, NonceSource, Normalisation, OnToken, SanitiseMode, Structured, Wrap,
};

use super::{Block, Form, Key, key};

pub(crate) static SANITISATION: Block = Block {
    name: "output_sanitisation",
    help: "What is done about control tokens, hidden characters and terminal sequences in text. `mode` chooses what every other key is when it is not set. The block may stand in the file, under a server and under a tool; the innermost wins, key by key. See [sanitising](../concepts/sanitising.md).",
    foreign: &[],
    keys: KEYS,
};

const KEYS: &[Key] = &[
    key(
        "mode",
        Form::Choice(SanitiseMode::ALLOWED),
        r#""clean""#,
        "`off` looks at nothing, `detect` reports and changes nothing, `clean` changes hits and nothing else, `full` also normalises, removes every invisible character, cuts and wraps.",
    ),
    key(
        "normalisation",
        Form::Choice(Normalisation::ALLOWED),
        "",
        "The form in which text leaves; matching is always done on a folded view. `nfkc` in `full`, else `preserve`.",
    ),
    key(
        "invisibles",
        Form::Choice(Invisibles::ALLOWED),
        "",
        "Invisible and format characters: reported, removed except where a script or an emoji needs them, or removed without exception. `locale-safe` in `clean`, `strict` in `full`, else `report`.",
    ),
    key(
        "on_token",
        Form::Choice(OnToken::ALLOWED),
        "",
        "A control token: reported, replaced by a visible placeholder, or the whole result refused. `replace` in `clean` and `full`, else `report`.",
    ),
    key(
        "wrap",
        Form::Choice(Wrap::ALLOWED),
        "",
        "`delimit` puts each text between two tags that nobody can guess and that name server and tool. In `full`; else `none`.",
    ),
    key(
        "structured",
        Form::Choice(Structured::ALLOWED),
        "",
        "A hit in `structuredContent`: reported with the bytes unchanged, the result refused, or strings with an attack cleaned and the value held to its schema again (a member name with an attack is reported, and blocks in strict mode). `rewrite` in `clean`, `block` in `full`, else `report`.",
    ),
    key(
        "mirror_text",
        Form::Choice(MirrorText::ALLOWED),
        "",
        "A text block that only repeats `structuredContent` and has no hit: left as it is, or wrapped like any other text. `wrap` in `full`, else `keep`.",
    ),
    key(
        "nonce",
        Form::Choice(NonceSource::ALLOWED),
        r#""random""#,
        "What makes a boundary hard to guess: fresh randomness for each text, or a keyed hash of it, so that prompt caches still hit.",
    ),
    key(
        "max_text_chars",
        Form::Number(0, 1 << 30),
        "",
        "The longest text, in characters; longer ones are cut and say so. 0 sets no limit. 200000 in `full`, else 0.",
    ),
    key(
        "families",
        Form::Texts,
        "[]",
        "Model families in use. Unmistakable tokens of all families count in any case; naming a family adds its ambiguous ones and, in `full`, its ordinary-looking tags and role markers.",
    ),
    key(
        "extra_tokens",
        Form::Texts,
        "[]",
        "Markers of your own deployment, replaced wherever they stand.",
    ),
    key(
        "host_instruction",
        Form::Flag,
        "",
        "Whether clients are given, in `instructions`, the text that tells a model what a boundary means. `true` in `full`, else `false`.",
    ),
];
