//! The blocks whose types belong to the inspector: it reads them, and the settings in force are shown. They may stand in
//! the file, under a server and under a tool. A test holds these keys and their defaults to the inspector's types.
//!
//! The mode of `output_sanitisation` chooses the defaults of its other keys, so most of those have none here.

use countersign_inspect::Mode;
use countersign_inspect::config::{
    Advertise, Egress, GuardScope, Invisibles, MirrorText, NonceSource, Normalisation, OnToken,
    Posture, RawInputValidation, RawOutputSanitisation, RawOutputValidation, SanitiseMode,
    Structured, Tolerance, Wrap,
};
use serde::Serialize;

use super::effective::EffectiveSettings;
use super::keys::Form;
use super::reader::Reader;
use super::setting::{Setting, keys};

keys! {
    /// How results are held to the output schema their tool declared. The block may stand in the file, under a server
    /// and under a tool; the innermost wins, key by key.
    #[block("output_validation")]
    pub static OUTPUT_VALIDATION {
        /// `off` checks nothing, `warn` forwards violations unchanged and records them, `strict` blocks them.
        #[key(Form::Choice(Mode::WORDS), Reload)]
        "mode" = r#""warn""#;
        /// Longest `structuredContent`, in bytes as received; equal passes.
        #[key(Form::Number(1, 1 << 40), Reload)]
        "max_bytes" = "5242880";
        /// Deepest `structuredContent`; a scalar is 1, equal passes.
        #[key(Form::Number(1, u32::MAX as u64), Reload)]
        "max_depth" = "64";
        /// Most blocks in `content`, of every tool; equal passes. Each block costs work of its own.
        #[key(Form::Number(1, u32::MAX as u64), Reload)]
        "max_blocks" = "10000";
        /// In strict mode: a schema is declared and the result has no `structuredContent`.
        #[key(Form::Choice(Posture::WORDS), Reload)]
        "missing_structured_content" = r#""allow""#;
        /// In strict mode: the declared schema cannot be enforced.
        #[key(Form::Choice(Posture::WORDS), Reload)]
        "uncompilable_schema" = r#""allow""#;
        /// The schema refers to another document: `reject` is a finding on every call, `allow` treats it as one that
        /// cannot be enforced.
        #[key(Form::Choice(Tolerance::WORDS), Reload)]
        "external_ref" = r#""reject""#;
        /// A repeated key inside `structuredContent` of a tool with a schema; `allow` validates every occurrence.
        #[key(Form::Choice(Tolerance::WORDS), Reload)]
        "duplicate_keys" = r#""reject""#;
        /// Whether the limits on size and depth hold only for tools that declare a schema, or for all.
        #[key(Form::Choice(GuardScope::WORDS), Reload)]
        "guards" = r#""declared""#;
        /// Whether `format` rejects values or only annotates.
        #[key(Form::Flag, Reload)]
        "assert_formats" = "false";
        /// Scales the work a validation may cost before it counts as a violation.
        #[key(Form::Factor, Reload)]
        "fuel_factor" = "1.0";
        /// Which output schemas clients see: every enforceable one, those whose tool has not yet violated them, or
        /// none.
        #[key(Form::Choice(Advertise::WORDS), Reload)]
        "advertise_output_schema" = r#""always""#;
        /// Toward clients that negotiated 2025-11-25 or earlier: structured content they would reject becomes a text
        /// block, or is sent as it is.
        #[key(Form::Choice(Egress::WORDS), Reload)]
        "legacy_egress" = r#""convert""#;
    }
}

keys! {
    /// How arguments are held to the input schema of their tool. The block may stand in the file, under a server and
    /// under a tool; the innermost wins.
    #[block("input_validation")]
    pub static INPUT_VALIDATION {
        /// `off` checks nothing, `warn` never changes a call and records violations, `strict` answers them with an
        /// error.
        #[key(Form::Choice(Mode::WORDS), Reload)]
        "mode" = r#""warn""#;
    }
}

keys! {
    /// What is done about control tokens, hidden characters and terminal sequences in text. `mode` chooses what every
    /// other key is when it is not set. The block may stand in the file, under a server and under a tool; the innermost
    /// wins, key by key. See [sanitising](../concepts/sanitising.md).
    #[block("output_sanitisation")]
    pub static SANITISATION {
        /// `off` looks at nothing, `detect` reports and changes nothing, `clean` changes hits and nothing else, `full`
        /// also normalises, removes every invisible character, cuts and wraps.
        #[key(Form::Choice(SanitiseMode::ALLOWED), Reload)]
        "mode" = r#""clean""#;
        /// The form in which text leaves; matching is always done on a folded view. `nfkc` in `full`, else `preserve`.
        #[key(Form::Choice(Normalisation::ALLOWED), Reload)]
        "normalisation";
        /// Invisible and format characters: reported, removed except where a script or an emoji needs them, or removed
        /// without exception. `locale-safe` in `clean`, `strict` in `full`, else `report`.
        #[key(Form::Choice(Invisibles::ALLOWED), Reload)]
        "invisibles";
        /// A control token: reported, replaced by a visible placeholder, or the whole result refused. `replace` in
        /// `clean` and `full`, else `report`.
        #[key(Form::Choice(OnToken::ALLOWED), Reload)]
        "on_token";
        /// `delimit` puts each text between two tags that a server cannot guess and that name server and tool. In `full`;
        /// else `none`.
        #[key(Form::Choice(Wrap::ALLOWED), Reload)]
        "wrap";
        /// A hit in `structuredContent`: reported with the bytes unchanged, the result refused, or strings with an
        /// attack cleaned and the value held to its schema again (a member name with an attack is reported, and blocks
        /// in strict mode). `rewrite` in `clean`, `block` in `full`, else `report`.
        #[key(Form::Choice(Structured::ALLOWED), Reload)]
        "structured";
        /// A text block that only repeats `structuredContent` and has no hit: left as it is, or wrapped like any other
        /// text. `wrap` in `full`, else `keep`.
        #[key(Form::Choice(MirrorText::ALLOWED), Reload)]
        "mirror_text";
        /// What makes a boundary hard to guess: fresh randomness for each text, or a keyed hash of it, so that prompt
        /// caches still hit.
        #[key(Form::Choice(NonceSource::ALLOWED), Reload)]
        "nonce" = r#""random""#;
        /// The longest text, in characters; longer ones are cut and say so. 0 sets no limit. 200000 in `full`, else 0.
        #[key(Form::Number(0, 1 << 30), Reload)]
        "max_text_chars";
        /// Model families in use. Unmistakable tokens of all families count in any case; naming a family adds its
        /// ambiguous ones and, in `full`, its ordinary-looking tags and role markers.
        #[key(Form::Texts, Reload)]
        "families" = "[]";
        /// Markers of your own deployment, replaced wherever they stand.
        #[key(Form::Texts, Reload)]
        "extra_tokens" = "[]";
        /// Whether clients are given, in `instructions`, the text that tells a model what a boundary means. `true` in
        /// `full`, else `false`.
        #[key(Form::Flag, Reload)]
        "host_instruction";
    }
}

macro_rules! inspected {
    ($($type:ty: $setting:ident $(, $check:path)?;)+) => {$(
        impl Setting for $type {
            fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
                let block: Self = reader.deserialize(node)?;
                $($check(reader, node, &block);)?
                Some(block)
            }

            fn show<'a>(&'a self, _: Form, effective: &'a EffectiveSettings) -> Option<impl Serialize + 'a> {
                Some(&effective.$setting)
            }
        }
    )+};
}

inspected! {
    RawOutputValidation: output;
    RawInputValidation: input;
    RawOutputSanitisation: sanitisation, check_sanitisation;
}

/// Families and markers that cannot be used.
fn check_sanitisation(reader: &mut Reader<'_, '_>, node: u32, block: &RawOutputSanitisation) {
    if let Some((key, why)) = block.problem() {
        let hint = match key {
            "families" => "name some of them, or \"all\", which is the default",
            _ => "a marker has 2 to 256 visible characters, and there may be 256 of them",
        };
        let place = reader.member(node, key).unwrap_or(node);
        reader.refuse(place, why, hint);
    }
}
