//! The edits themselves, and their inverse. A server without `args` gets the name as one word, `--name=x`, so that taking
//! the wrapping back knows that there were none.

use std::path::Path;

use countersign_tape::{Edits, Kind, Span, quote};

use super::super::definition::ParsedDefinition;
use super::{Document, Entry};

const SPACED: &str = ", \"args\": [";

/// How a client's file starts a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum StartCommand {
    /// Directly; with its `args`, if it has any.
    Bare {
        command: u32,
        args: Option<u32>,
    },
    /// Through `countersign wrap`; the real command is among the arguments.
    Wrapped {
        command: u32,
        args: u32,
        real: u32,
        had_args: bool,
    },
    /// Through `countersign wrap` with options that the user chose.
    ByHand,
    /// Not at all: it is connected to.
    Remote,
    Odd(&'static str),
}

/// How a server of a client's file is started.
pub(super) fn state(document: &Document<'_>, server: u32) -> StartCommand {
    let tape = &document.tape;
    let kind = |index: u32| tape.node(index).kind();
    if kind(server) != Kind::Object {
        return StartCommand::Odd("it is not an object");
    }
    let Some(command) = tape
        .get(server, "command")
        .filter(|command| kind(*command) == Kind::String)
    else {
        let url = ["url", "serverUrl"]
            .iter()
            .find_map(|name| tape.get(server, name));
        return if url.is_some() {
            StartCommand::Remote
        } else {
            StartCommand::Odd("it has no command")
        };
    };
    let args = tape.get(server, "args");
    if args.is_some_and(|args| kind(args) != Kind::Array) {
        return StartCommand::Odd("its args are not a list");
    }
    let words: Vec<u32> = args
        .map(|args| tape.children(args).collect())
        .unwrap_or_default();
    let word = |at: usize| {
        words
            .get(at)
            .filter(|word| kind(**word) == Kind::String)
            .map(|word| tape.string(*word))
    };
    if !is_ours(&tape.string(command)) || word(0).as_deref() != Some("wrap") {
        return StartCommand::Bare { command, args };
    }
    let two = word(1).as_deref() == Some("--name") && word(3).as_deref() == Some("--");
    let one =
        word(1).is_some_and(|word| word.starts_with("--name=")) && word(2).as_deref() == Some("--");
    let real = if two {
        words.get(4)
    } else if one && words.len() == 4 {
        words.get(3)
    } else {
        None
    };
    match (args, real) {
        (Some(args), Some(&real)) if kind(real) == Kind::String => StartCommand::Wrapped {
            command,
            args,
            real,
            had_args: two,
        },
        _ => StartCommand::ByHand,
    }
}

/// A text in which these servers are started through `program`. `None` only if spans overlap.
pub(super) fn wrapped(
    text: &str,
    document: &Document<'_>,
    servers: &[(u32, String)],
    program: &str,
) -> Option<String> {
    let mut edits = Edits::new(text.as_bytes());
    for (server, name) in servers {
        let StartCommand::Bare { command, args } = state(document, *server) else {
            continue;
        };
        let real = document.tape.raw(command);
        edits.replace(document.span(command), quote(program));
        if let Some(args) = args {
            let open = document.span(args).start + 1;
            let more = if document.tape.children(args).next().is_some() {
                ", "
            } else {
                ""
            };
            let words = format!(r#""wrap", "--name", "{name}", "--", {real}{more}"#);
            edits.replace(Span::new(open, open), words);
        } else {
            let end = document.span(command).end;
            let words = format!(r#"{SPACED}"wrap", "--name={name}", "--", {real}]"#);
            edits.replace(Span::new(end, end), words);
        }
    }
    finish(edits)
}

/// The same text with the wrapping taken back.
pub(super) fn unwrapped(text: &str, document: &Document<'_>) -> Option<String> {
    let mut edits = Edits::new(text.as_bytes());
    for Entry { node: server, .. } in &document.servers {
        let StartCommand::Wrapped {
            command,
            args,
            real,
            had_args,
        } = state(document, *server)
        else {
            continue;
        };
        let list = document.span(args);
        edits.replace(document.span(command), document.tape.raw(real));
        if had_args {
            let end = end_with_comma(document.tape.text(), document.span(real).end);
            edits.replace(Span::new(list.start + 1, end), "");
            continue;
        }
        let end = document.span(command).end;
        let between = text.get(end as usize..list.start as usize + 1);
        if between == Some(SPACED) {
            edits.replace(Span::new(end, list.end), "");
        } else {
            edits.replace(list, "[]");
        }
    }
    finish(edits)
}

/// The definition that a wrapped server starts; any other definition as it is.
pub(in crate::commands::import) fn unwrap_definition(
    mut read: ParsedDefinition,
) -> ParsedDefinition {
    let definition = &mut read.definition;
    let is_wrapped = definition.command.as_deref().is_some_and(is_ours)
        && definition.args.first().is_some_and(|word| word == "wrap");
    if let Some(at) = definition
        .args
        .iter()
        .position(|word| word == "--")
        .filter(|_| is_wrapped)
    {
        let mut real = definition.args.split_off(at + 1).into_iter();
        definition.command = real.next();
        definition.args = real.collect();
    }
    read
}

/// The offset behind the comma after an element, and behind the space that wrapping wrote there.
fn end_with_comma(json: &str, end: u32) -> u32 {
    let rest = json.get(end as usize..).unwrap_or_default();
    let blank = rest.len() - rest.trim_start().len();
    let Some(next) = rest.trim_start().strip_prefix(',') else {
        return end;
    };
    let space = usize::from(next.starts_with(' '));
    u32::try_from(blank + 1 + space).map_or(end, |length| end + length)
}

fn is_ours(command: &str) -> bool {
    // A path of another system has other separators.
    let file = command.rsplit(['/', '\\']).next().unwrap_or(command);
    Path::new(file)
        .file_stem()
        .is_some_and(|stem| stem == "countersign")
}

fn finish(edits: Edits<'_>) -> Option<String> {
    String::from_utf8(edits.apply().ok()?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::super::document::FileText;
    use super::{StartCommand, state, unwrapped, wrapped};

    const PROGRAM: &str = "/opt/countersign";

    fn wrap_all(original: &str) -> String {
        let text = FileText::new("x.json".as_ref(), original.to_owned());
        let document = text.document().expect("servers");
        let bare = document
            .servers
            .iter()
            .filter(|entry| matches!(state(&document, entry.node), StartCommand::Bare { .. }));
        let bare: Vec<_> = bare.map(|entry| (entry.node, entry.name.clone())).collect();
        wrapped(original, &document, &bare, PROGRAM).expect("no overlap")
    }

    fn unwrap_all(text: &str) -> String {
        let text = FileText::new("x.json".as_ref(), text.to_owned());
        unwrapped(&text.original, &text.document().expect("servers")).expect("no overlap")
    }

    #[test]
    fn wrapping_changes_command_and_args_and_nothing_else() {
        let original = "{ // mine\n  \"servers\": {\n    \"a\": {\"command\": \"np\\u0078\", \"args\": [ /* why */ \"-y\",\n \"x\", ], },\n    \"b\": { \"env\": {\"K\": \"v\"}, \"command\": \"b\" },\n    \"c\": {\"args\":[],\"command\":\"c\"},\n    \"d\": {\"url\": \"https://d.example\"} }\n}\n";
        let wrapped = wrap_all(original);
        insta::assert_snapshot!(wrapped, @r#"
        { // mine
          "servers": {
            "a": {"command": "/opt/countersign", "args": ["wrap", "--name", "a", "--", "np\u0078",  /* why */ "-y",
         "x", ], },
            "b": { "env": {"K": "v"}, "command": "/opt/countersign", "args": ["wrap", "--name=b", "--", "b"] },
            "c": {"args":["wrap", "--name", "c", "--", "c"],"command":"/opt/countersign"},
            "d": {"url": "https://d.example"} }
        }
        "#);
        assert_eq!(wrap_all(&wrapped), wrapped, "once is enough");
        assert_eq!(unwrap_all(&wrapped), original);
    }

    #[test]
    fn what_another_program_formatted_can_be_taken_back() {
        let original = r#"{"mcpServers":{"a":{"command":"x","args":["y"]},"b":{"command":"z"}}}"#;
        let value: serde_json::Value = serde_json::from_str(&wrap_all(original)).expect("JSON");
        let pretty = serde_json::to_string_pretty(&value).expect("JSON");
        let back: serde_json::Value = serde_json::from_str(&unwrap_all(&pretty)).expect("JSON");
        let expected = serde_json::json!({"mcpServers": {"a": {"command": "x", "args": ["y"]}, "b": {"command": "z", "args": []}}});
        assert_eq!(back, expected);
    }

    #[test]
    fn what_somebody_chose_is_left_alone() {
        let text = r#"{"mcpServers":{"a":{"command":"countersign","args":["wrap","--mode","strict","--","x"]}}}"#;
        assert_eq!(wrap_all(text), text);
        assert_eq!(unwrap_all(text), text);
    }
}
