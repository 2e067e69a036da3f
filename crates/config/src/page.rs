//! The reference page, made from the table of keys. Kept in `docs/` and held to the table by a test.

use std::fmt::Write;

use super::duration;
use super::foreign_keys::ForeignKeys;
use super::keys::{Block, Form};
use super::model::ROOT;
use super::name;

const INTRODUCTION: &str = "\
<!-- Made from the declarations of keys in crates/config/src. To change it, change the declaration and run
     UPDATE=1 cargo test -p countersign-config reference_page -->

# Configuration

One file, `mcp_config.json`. It is the first of these that is given or exists:

1. `--config FILE`
2. `COUNTERSIGN_CONFIG`
3. `~/.countersign/mcp_config.json`
4. `~/.mcpproxy/mcp_config.json`, and Countersign says that it uses this one
5. none: the defaults hold, and there are no servers

The environment wins over the file, flags win over the environment:

| setting | variable | flag |
|---|---|---|
| `listen` | `COUNTERSIGN_LISTEN`, with commas between several | `--listen`, which may be repeated |
| `data_dir` | `COUNTERSIGN_DATA_DIR` | `--data-dir` |
| `api_key` | `COUNTERSIGN_API_KEY` | |
| `admin_key` | `COUNTERSIGN_ADMIN_KEY` | |
| `storage.url` | `COUNTERSIGN_STORAGE_URL` | |
| the env file | `COUNTERSIGN_ENV_FILE` | `--env-file` |

The standard variables of OpenTelemetry are read where a key under `otlp` is not set.

`countersign config init` writes a file with every key and its default, `config check` says what is wrong with one,
`config show` prints what holds, without secrets, and `config schema` prints the JSON Schema for editors.

The file is JSON: no comments, no trailing commas, no key twice. An unknown key or word is an error that names the
allowed ones.

";

pub(crate) fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let duration = duration::HINT.replace('"', "`");
    let name = name::ALLOWED;
    page.push_str("## How values are written\n\n");
    page.extend(["- **Durations**: ", &duration, ".\n"]);
    page.push_str(
        "- **References**: `${env:NAME}` in `api_key`, `admin_key`, `session_key`, `seal_key`, `activity.signing_key`,\n  \
         `activity.previous_signing_key`, `activity.anchors`, `storage.url`, `otlp.endpoint`, `client_secret` of an issuer or of a\n  \
         server's `oauth`, its `private_key`, a classifier's keys, and the values of\n  \
         `env` and `headers` is replaced by that variable when the file is read. Without a variable that a\n  \
         server's `env` or `headers` refer to, that server is not started, and `servers list` says why; elsewhere a variable that\n  \
         is not set is an error.\n\
         - **The env file**: `env` in the data directory, or the one that `--env-file` names, has variables for such\n  \
         references, so that secrets stand neither in the configuration nor in a shell's profile. Lines are `NAME=value` as a\n  \
         shell reads them, with nothing expanded; `NAME='two words'` needs the quotes. A variable of the process wins over\n  \
         it. No setting and no server gets anything from it but by a reference. `countersign import` writes it.\n",
    );
    page.extend([
        "- **Server names**: ",
        name,
        ". A server with another name, as mcpproxy and desktop clients allow, is\n  \
         loaded under one that fits, and a warning says which: `My_Files` becomes `my-files`. Names that would become the same get\n  \
         a hash at their end, such as `my-files-3c01`. Tools, endpoints, metrics and records have the new name, a change over the API\n  \
         the name of the file; `config show` has both.\n",
    ]);
    for block in blocks() {
        section(block, &mut page);
    }
    page.push_str(
        "\n## Keys that are known and ignored\n\nOne warning lists them, and one of its own tells what it means that such a key is ignored. At the top of the file:\n\n",
    );
    ignored(ROOT.foreign, &mut page);
    for block in blocks()
        .iter()
        .skip(1)
        .filter(|block| block.foreign.iter().next().is_some())
    {
        page.extend(["\nIn a ", block.name, ":\n\n"]);
        ignored(block.foreign, &mut page);
    }
    page
}

/// Each block once, outermost first.
fn blocks() -> Vec<&'static Block> {
    let mut blocks = vec![ROOT];
    let mut next = 0;
    while let Some(block) = blocks.get(next).copied() {
        for key in block.keys {
            if let Form::Block(inner)
            | Form::Blocks(inner)
            | Form::Named(inner)
            | Form::Servers(inner) = key.form
                && !blocks.iter().any(|known| known.name == inner.name)
            {
                blocks.push(inner);
            }
        }
        next += 1;
    }
    blocks
}

fn section(block: &Block, page: &mut String) {
    page.extend(["\n## ", &title(block), "\n\n", block.help, "\n\n"]);
    page.push_str("| key | value | default | |\n|---|---|---|---|\n");
    for key in block.keys {
        let default = match (key.form, &*key.default()) {
            (Form::Block(_), _) | (_, "") => String::new(),
            (_, default) => format!("`{default}`"),
        };
        row(key.name, &value(key.form), &default, key.help, page);
    }
}

fn title(block: &Block) -> String {
    match block.name {
        "file" => "The file".to_owned(),
        "server" => "A server".to_owned(),
        "tool" => "A tool".to_owned(),
        "classifier" => "A classifier".to_owned(),
        "issuer" => "An issuer".to_owned(),
        "access_rule" => "An access rule".to_owned(),
        "limit" => "A limit".to_owned(),
        name => format!("`{name}`"),
    }
}

/// What a link to the section of a block ends with.
fn anchor(block: &Block) -> String {
    let title = title(block).to_lowercase().replace(' ', "-");
    title.replace('`', "")
}

fn row(name: &str, value: &str, default: &str, help: &str, page: &mut String) {
    writeln!(page, "| `{name}` | {value} | {default} | {help} |").expect("a string takes all");
}

fn value(form: Form) -> String {
    match form {
        Form::Choice(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Form::Number(min, max) => format!("whole number, {min} to {max}"),
        Form::Block(block) => format!("object, see [`{0}`](#{0})", block.name),
        Form::Blocks(block) => {
            let name = title(block).to_lowercase();
            format!("array, see [{name}](#{})", anchor(block))
        }
        Form::Named(_) => "object, see [a tool](#a-tool)".to_owned(),
        Form::Servers(_) => "array or object, see [a server](#a-server)".to_owned(),
        other => {
            let expected = other.expected();
            let article = ["a ", "an "]
                .iter()
                .find_map(|article| expected.strip_prefix(article));
            article.unwrap_or(&expected).to_owned()
        }
    }
}

fn ignored(foreign: &ForeignKeys, page: &mut String) {
    let (silent, telling): (Vec<_>, Vec<_>) =
        foreign.iter().partition(|(_, meaning)| meaning.is_empty());
    for (key, meaning) in telling {
        writeln!(page, "- `{key}`: {meaning}").expect("a string takes all");
    }
    let silent: Vec<_> = silent.iter().map(|(key, _)| format!("`{key}`")).collect();
    writeln!(page, "- {}", silent.join(", ")).expect("a string takes all");
}
