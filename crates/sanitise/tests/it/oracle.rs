//! What is a live token? Raw literals as tokenizers have them, looked for exactly, in the text as it is and as two kinds
//! of downstream code would leave it. Written from the model families' own templates, not from the crate's table.

use unicode_normalization::UnicodeNormalization;

/// How a family's literals are spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Between bars, or of a shape no ordinary text has.
    Bars,
    /// One bar only.
    OneSided,
    /// In ordinary brackets, but unmistakable.
    Brackets,
}

/// A literal with its family.
#[derive(Clone, Debug)]
pub(crate) struct KnownToken {
    pub(crate) family: &'static str,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// Names between `<|` and `|>`.
const BARS: &[(&str, &str)] = &[
    ("chatml", "im_start im_end"),
    (
        "qwen",
        "vision_start vision_end image_pad video_pad endoftext fim_prefix fim_middle fim_suffix fim_pad repo_name file_sep",
    ),
    (
        "llama3",
        "begin_of_text end_of_text start_header_id end_header_id eot_id eom_id python_tag step_id finetune_right_pad_id",
    ),
    (
        "llama4",
        "header_start header_end eot eom python_start python_end image",
    ),
    ("muse", "start message patch video"),
    ("gemma4", "think audio \""),
    (
        "phi",
        "system user assistant end im_sep tool /tool tool_call tool_response",
    ),
    (
        "command-r",
        "START_OF_TURN_TOKEN END_OF_TURN_TOKEN SYSTEM_TOKEN USER_TOKEN CHATBOT_TOKEN START_THINKING END_THINKING \
         START_RESPONSE END_RESPONSE START_TEXT END_TEXT START_ACTION END_ACTION START_TOOL_RESULT END_TOOL_RESULT IMG_PATCH",
    ),
    (
        "granite",
        "start_of_role end_of_role start_of_cite end_of_cite function_call_library",
    ),
    (
        "harmony",
        "return call channel constrain refusal untrusted end_untrusted meta_end startoftext endofprompt reserved_200013",
    ),
    ("glm", "observation"),
    (
        "kimi",
        "im_system im_user im_assistant im_middle tool_calls_section_begin tool_calls_section_end tool_call_begin \
         tool_call_argument_begin tool_call_end media_start media_content media_pad media_end",
    ),
    (
        "kimi-k3",
        "open sep close end_of_msg kimi_image_placeholder",
    ),
    (
        "solar",
        "begin content calls tool_calls tool_call:begin tool_call:name tool_call:args tool_call:end tool_response:begin \
         tool_response:id tool_response:name tool_response:result tool_response:end tools:begin tools:end tool:begin tool:end",
    ),
    ("hunyuan", "extra_0 extra_4 eos"),
    (
        "lfm2",
        "tool_list_start tool_list_end tool_response_start tool_response_end tool_call_start",
    ),
    (
        "apertus",
        "system_start system_end user_start user_end assistant_start assistant_end developer_start developer_end \
         inner_prefix inner_suffix tools_prefix tools_suffix",
    ),
    (
        "apriel",
        "begin_system begin_user begin_assistant begin_tool_result begin_content",
    ),
    ("gigachat", "message_sep role_sep function_call"),
    ("internlm", "action_start action_end plugin"),
    ("ling", "role_end"),
    (
        "inkling",
        "message_model content_text content_thinking content_invoke_tool_json content_tool_error end_message",
    ),
    ("jamba", "bom"),
    ("grok", "separator"),
];

/// Names between `<` U+FF5C and U+FF5C `>`; a dot stands for U+2581.
const WIDE_BARS: &[(&str, &str)] = &[
    (
        "deepseek",
        "User Assistant begin.of.sentence end.of.sentence tool.calls.begin tool.calls.end tool.call.begin tool.call.end \
         tool.sep tool.outputs.begin tool.outputs.end tool.output.begin tool.output.end fim.begin fim.hole fim.end",
    ),
    (
        "step3",
        "tool_calls_begin tool_calls_end tool_call_begin tool_call_end tool_sep",
    ),
    (
        "hunyuan",
        "hy_User hy_Assistant hy_begin.of.sentence hy_User:v2 hy_Assistant-7b",
    ),
];

/// Literals written out.
const OTHER: &[(&str, Kind, &str)] = &[
    (
        "deepseek-dsml",
        Kind::Bars,
        "｜DSML｜ <｜DSML｜function_calls> </｜DSML｜function_calls> <｜DSML｜invoke <｜DSML｜parameter",
    ),
    (
        "exaone",
        Kind::Bars,
        "[|system|] [|user|] [|assistant|] [|tool|] [|endofturn|]",
    ),
    (
        "minimax",
        Kind::Bars,
        "]~!b[ ]~b] [e~[ ]<]minimax[>[ ]<]image[>[ ]<]video[>[",
    ),
    (
        "gemma4",
        Kind::OneSided,
        "<|turn> <turn|> <|channel> <channel|> <|tool> <tool|> <|tool_call> <tool_call|> <|tool_response> <tool_response|>",
    ),
    ("llama2", Kind::Brackets, "[INST] [/INST] <<SYS>> <</SYS>>"),
    (
        "mistral",
        Kind::Brackets,
        "[AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] \
         [TOOL_CONTENT] [IMG_BREAK] [IMG_END] [BEGIN_AUDIO] [STREAMING_PAD] [STREAMING_WORD] [NEXT_AUDIO_TEXT] \
         [REPEAT_AUDIO_TEXT] [MODEL_SETTINGS] [/MODEL_SETTINGS]",
    ),
    (
        "gemma",
        Kind::Brackets,
        "<start_of_turn> <end_of_turn> <start_of_image> <end_of_image>",
    ),
    (
        "functiongemma",
        Kind::Brackets,
        "<start_function_call> <end_function_call>",
    ),
    (
        "nemotron",
        Kind::Brackets,
        "<SPECIAL_10> <SPECIAL_11> <SPECIAL_12> <AVAILABLE_TOOLS> <TOOLCALL> <TOOL_RESPONSE>",
    ),
    ("glm", Kind::Brackets, "[gMASK]"),
    (
        "minimax",
        Kind::Brackets,
        "<beginning_of_sentence> <end_of_sentence> <begin_of_document> <minimax:tool_call> <mm:think>",
    ),
    (
        "seed",
        Kind::Brackets,
        "<seed:bos> <seed:eos> <seed:pad> <seed:think> <seed:tool_call> <seed:cot_budget_reflect>",
    ),
    (
        "muse",
        Kind::Brackets,
        "<atem:function_calls> <atem:invoke <atem:parameter",
    ),
    (
        "step3",
        Kind::Brackets,
        "<steptml:invoke <steptml:parameter",
    ),
    ("ling", Kind::Brackets, "<role>HUMAN</role>"),
    ("longcat", Kind::Brackets, "<longcat_tool_call>"),
    ("dots", Kind::Brackets, "<dots_function_call>"),
];

/// Every literal that must not be alive in a text that was cleaned.
pub(crate) fn tokens() -> Vec<KnownToken> {
    let live = |family, kind, text| KnownToken { family, kind, text };
    let mut tokens = Vec::new();
    for (family, names) in BARS {
        for name in names.split_whitespace() {
            tokens.push(live(*family, Kind::Bars, format!("<|{name}|>")));
        }
    }
    for (family, names) in WIDE_BARS {
        for name in names.split_whitespace() {
            let name = name.replace('.', "\u{2581}");
            tokens.push(live(
                *family,
                Kind::Bars,
                format!("<\u{FF5C}{name}\u{FF5C}>"),
            ));
        }
    }
    for (family, kind, literals) in OTHER {
        for literal in literals.split_whitespace() {
            tokens.push(live(*family, *kind, literal.to_owned()));
        }
    }
    tokens
}

/// The oracle: knows all literals.
pub(crate) struct Oracle {
    tokens: Vec<KnownToken>,
}

impl Oracle {
    pub(crate) fn new() -> Self {
        Self { tokens: tokens() }
    }

    pub(crate) fn tokens(&self) -> &[KnownToken] {
        &self.tokens
    }

    /// A literal that a tokenizer would take for itself in this very text.
    pub(crate) fn live(&self, text: &str) -> Option<&KnownToken> {
        if !text.contains(['<', '[', ']', '\u{FF5C}']) {
            return None;
        }
        self.tokens.iter().find(|token| text.contains(&token.text))
    }

    /// The same, after something behind us normalises or strips the text once more.
    pub(crate) fn live_downstream(&self, text: &str) -> Option<(&'static str, &KnownToken)> {
        let folded: String = text.nfkc().collect();
        let stripped = strip(text);
        let stripped_folded: String = stripped.nfkc().collect();
        let folded_stripped = strip(&folded);
        [
            ("NFKC", folded),
            ("strip", stripped),
            ("strip, NFKC", stripped_folded),
            ("NFKC, strip", folded_stripped),
        ]
        .into_iter()
        .find_map(|(how, text)| Some((how, self.live(&text)?)))
    }
}

/// Invisible characters as a downstream cleaner would list them: default ignorables, controls, format characters.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0..=8 | 0x0B..=0x0C | 0x0E..=0x1F | 0x7F..=0x9F
        | 0xAD | 0x34F | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x8E2 | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F
        | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
        | 0x1_BCA0..=0x1_BCA3 | 0x1_D173..=0x1_D17A | 0xE_0000..=0xE_0FFF)
}

/// The text without them.
pub(crate) fn strip(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

#[test]
fn the_oracle_sees_tokens() {
    let oracle = Oracle::new();
    assert!(oracle.tokens().len() > 200);
    assert!(oracle.live("a<|im_start|>b").is_some());
    assert!(oracle.live("a<|im_\u{200B}start|>b").is_none());
    assert!(oracle.live_downstream("a<|im_\u{200B}start|>b").is_some());
    assert!(
        oracle
            .live_downstream("\u{FF1C}\u{FF5C}im_start\u{FF5C}\u{FF1E}")
            .is_some()
    );
    assert!(oracle.live("Human: if a < b [1]").is_none());
}
