//! `output_validation`: how results are held to the `outputSchema` their tool declared. The
//! defaults never break a working agent: warn, and every posture that could block set to allow.

use countersign_tape::Limits;

use super::block::{block, positive, positive_factor};
use crate::verdict::Mode;
use crate::word_enum;

word_enum! {
    /// What strict mode does about something that is not a violation.
    pub enum Posture {
        /// Forward it.
        Allow = "allow",
        /// Block it.
        Block = "block",
    }
}

word_enum! {
    /// Whether something suspicious is a finding of its own.
    pub enum Tolerance {
        /// It is.
        Reject = "reject",
        /// It is not.
        Allow = "allow",
    }
}

word_enum! {
    /// Which tools the size and depth guards apply to.
    pub enum GuardScope {
        /// Only tools that declare an `outputSchema`.
        Declared = "declared",
        /// Every tool.
        Always = "always",
    }
}

word_enum! {
    /// Which output schemas are shown to clients.
    pub enum Advertise {
        /// Every enforceable one.
        Always = "always",
        /// Those whose tool has not yet violated them.
        Conforming = "conforming",
        /// None.
        Never = "never",
    }
}

word_enum! {
    /// What a client of the legacy era gets for structured content it would reject.
    pub enum Egress {
        /// The same bytes as a text block.
        Convert = "convert",
        /// What the upstream sent.
        Verbatim = "verbatim",
    }
}

block! {
    /// `output_validation` as one file says it.
    raw RawOutputValidation;
    /// `output_validation` as it holds for one tool.
    resolved OutputValidation {
        /// `off`, `warn` or `strict`.
        mode: Mode = Mode::Warn;
        /// Longest `structuredContent`, in bytes as received; equal passes.
        max_bytes: u64 = 5 * 1024 * 1024, where positive;
        /// Deepest `structuredContent`; a scalar is 1, equal passes.
        max_depth: u32 = 64, where positive;
        /// Most blocks in `content`; equal passes. Each costs work of its own, and no honest result has so many.
        max_blocks: u32 = 10_000, where positive;
        /// Strict mode, schema declared, no `structuredContent`.
        missing_structured_content: Posture = Posture::Allow;
        /// Strict mode, and the schema does not compile.
        uncompilable_schema: Posture = Posture::Allow;
        /// The schema refers to another document; `allow` treats it as one that does not compile.
        external_ref: Tolerance = Tolerance::Reject;
        /// A repeated key inside `structuredContent` of a tool with a schema; `allow` validates
        /// every occurrence.
        duplicate_keys: Tolerance = Tolerance::Reject;
        /// Which tools the guards apply to.
        guards: GuardScope = GuardScope::Declared;
        /// Whether `format` is asserted or an annotation.
        assert_formats: bool = false;
        /// Scales the work a validation may cost before it counts as a violation.
        fuel_factor: f64 = 1.0, where positive_factor;
        /// Which output schemas clients see.
        advertise_output_schema: Advertise = Advertise::Always;
        /// Toward clients that negotiated 2025-11-25 or earlier.
        legacy_egress: Egress = Egress::Convert;
    }
}

impl OutputValidation {
    /// The limits for parsing a value that is within the guards.
    pub(crate) fn value_limits(&self) -> Limits {
        Limits {
            max_bytes: usize::try_from(self.max_bytes).unwrap_or(usize::MAX),
            max_depth: self.max_depth,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<RawOutputValidation, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn absent_means_the_documented_defaults() {
        let resolved = OutputValidation::resolve([&parse("{}").unwrap()]);
        assert_eq!(resolved, OutputValidation::default());
        insta::assert_snapshot!(serde_json::to_string(&resolved).unwrap(), @r#"{"mode":"warn","max_bytes":5242880,"max_depth":64,"max_blocks":10000,"missing_structured_content":"allow","uncompilable_schema":"allow","external_ref":"reject","duplicate_keys":"reject","guards":"declared","assert_formats":false,"fuel_factor":1.0,"advertise_output_schema":"always","legacy_egress":"convert"}"#);
    }

    #[test]
    fn every_key_is_read_and_written_back() {
        let json = r#"{"mode":"strict","max_bytes":1,"max_depth":2,"max_blocks":3,"missing_structured_content":"block","uncompilable_schema":"block","external_ref":"allow","duplicate_keys":"allow","guards":"always","assert_formats":true,"fuel_factor":0.5,"advertise_output_schema":"never","legacy_egress":"verbatim"}"#;
        let raw = parse(json).unwrap();
        assert_eq!(serde_json::to_string(&raw).unwrap(), json);
        let resolved = OutputValidation::resolve([&raw]);
        assert_eq!(serde_json::to_string(&resolved).unwrap(), json);
    }

    #[test]
    fn the_innermost_block_wins_key_by_key() {
        let global = parse(r#"{"mode":"off","max_bytes":10,"max_depth":3}"#).unwrap();
        let server = parse(r#"{"mode":"strict","max_depth":4}"#).unwrap();
        let tool = parse(r#"{"max_depth":5}"#).unwrap();
        let resolved = OutputValidation::resolve([&global, &server, &tool]);
        assert_eq!(resolved.mode, Mode::Strict);
        assert_eq!((resolved.max_bytes, resolved.max_depth), (10, 5));
    }

    #[test]
    fn mistakes_name_the_key_the_allowed_words_and_the_nearest() {
        let message = |json| parse(json).unwrap_err();
        insta::assert_snapshot!(message(r#"{"mode":"stirct"}"#), @r#"mode: unknown value "stirct"; allowed: off, warn, strict; did you mean "strict"? at line 1 column 16"#);
        insta::assert_snapshot!(message(r#"{"guards":"all"}"#), @r#"guards: unknown value "all"; allowed: declared, always at line 1 column 15"#);
        insta::assert_snapshot!(message(r#"{"max_byte":1}"#), @r#"unknown key "max_byte"; allowed: mode, max_bytes, max_depth, max_blocks, missing_structured_content, uncompilable_schema, external_ref, duplicate_keys, guards, assert_formats, fuel_factor, advertise_output_schema, legacy_egress; did you mean "max_bytes"? at line 1 column 11"#);
        insta::assert_snapshot!(message(r#"{"mode":null}"#), @"mode: invalid type: null, expected a string at line 1 column 12");
        insta::assert_snapshot!(message(r#"{"max_bytes":0}"#), @"max_bytes: must be at least 1 at line 1 column 15");
        insta::assert_snapshot!(message(r#"{"max_bytes":"5MB"}"#), @r#"max_bytes: invalid type: string "5MB", expected u64 at line 1 column 18"#);
        insta::assert_snapshot!(message(r#"{"fuel_factor":-1}"#), @"fuel_factor: must be a number greater than 0 at line 1 column 18");
        insta::assert_snapshot!(message(r#"{"mode":"off","mode":"strict"}"#), @"duplicate field `mode` at line 1 column 20");
        insta::assert_snapshot!(message("[]"), @"invalid type: sequence, expected an object at line 1 column 0");
    }
}
