//! `countersign tools call`: one tool, called by hand through the running gateway, with the checks that an agent's call
//! gets. Prints the result for people, or the gateway's answer as it came.

use anyhow::anyhow;
use clap::Args;
use serde_json::Value;

use super::split_name;
use crate::commands::activity::url_encoded;
use crate::commands::gateway_option::GatewayOption;
use crate::format::{Format, FormatOption};
use crate::json::{list, text};
use crate::remote::Response;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign tools call stub:conforming
  countersign tools call files:read --args '{\"path\": \"notes.txt\"}'
  countersign tools call files:read --args '{\"path\": \"notes.txt\"}' -o json

-o json prints the gateway's answer, a JSON-RPC message, byte for byte.

Exit codes: 0 a result, 1 an error result, a refusal or a block.";

/// Call a tool and print its result
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Call {
    /// The tool
    #[arg(value_name = "SERVER:TOOL")]
    tool: String,
    /// Its arguments, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Call, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let (server, tool) = split_name(&arguments.tool)?;
    let given: Value = serde_json::from_str(&arguments.args)
        .map_err(|error| Failure::usage(anyhow!(error).context("--args is not JSON")))?;
    if !given.is_object() {
        return Err(Failure::usage(anyhow!("--args is not a JSON object")));
    }
    let gateway = arguments.gateway.remote(console)?;
    // The arguments go as they were typed: a number keeps its digits.
    let name = serde_json::to_string(tool).map_err(anyhow::Error::from)?;
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name},"arguments":{}}}}}"#,
        arguments.args
    );
    let answer = gateway.post(
        &format!("/mcp/s/{}", url_encoded(server)),
        message.as_bytes(),
    )?;
    if answer.status == 404 {
        let error = anyhow!("the gateway has no server '{server}'");
        return Err(Failure::usage(error).hint("see `countersign servers list`"));
    }
    print(&answer, arguments.format.output, console)
}

fn print(answer: &Response, format: Format, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let value = answer.json()?;
    let is_error = value["result"]["isError"] == true;
    match (format, value.get("result")) {
        (Format::Json, _) => console.data([&answer.body[..], b"\n"].concat())?,
        (Format::Text, Some(result)) => {
            console.data(rendered(result))?;
            if is_error {
                console.message("this is an error result\n");
            }
        }
        (Format::Text, None) => {
            let error = &value["error"];
            let said = printable(error["message"].as_str().unwrap_or("no reason given"));
            console.message(format!("error: {said} ({})\n", error["code"]));
        }
    }
    let failed = value.get("result").is_none() || is_error;
    Ok(Exit::answer(!failed))
}

/// The blocks of a result, one after the other, and its structured content. A text block that only repeats the
/// structured content is left out.
fn rendered(result: &Value) -> String {
    let structured = result.get("structuredContent");
    let repeats = |block: &&Value| {
        let text = block["text"].as_str().unwrap_or_default();
        structured.is_some() && serde_json::from_str::<Value>(text).ok().as_ref() == structured
    };
    let blocks = list(&result["content"]).iter();
    let blocks = blocks.filter(|block| !repeats(block));
    let mut parts: Vec<String> = blocks.map(rendered_block).collect();
    parts.extend(structured.map(|value| format!("{value:#}")));
    let lines = parts.iter().flat_map(|part| part.split('\n'));
    lines
        .flat_map(|line| [printable(line), "\n".to_owned()])
        .collect()
}

fn rendered_block(block: &Value) -> String {
    let resource = &block["resource"];
    match block["type"].as_str() {
        Some("text") => text(&block["text"]),
        Some("resource") if resource["text"].is_string() => {
            format!(
                "[resource {}]\n{}",
                text(&resource["uri"]),
                text(&resource["text"])
            )
        }
        Some("resource") => format!("[resource {}]", text(&resource["uri"])),
        Some("resource_link") => format!("[link to {}]", text(&block["uri"])),
        Some(kind) => {
            let size = block["data"].as_str().map_or(0, str::len);
            format!(
                "[{kind} {}, {size} characters in base64]",
                text(&block["mimeType"])
            )
        }
        None => block.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rendered;

    #[test]
    fn a_result_reads_as_text_and_its_structured_content_once() {
        let result = json!({"content": [
            {"type": "text", "text": "two\nlines\u{1b}[2J"},
            {"type": "text", "text": "{\"id\": 1}"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "file:///n.txt", "text": "note"}},
            {"type": "resource_link", "uri": "file:///m.txt"},
        ], "structuredContent": {"id": 1}});
        insta::assert_snapshot!(rendered(&result), @r#"
        two
        lines\u{1b}[2J
        [image image/png, 4 characters in base64]
        [resource file:///n.txt]
        note
        [link to file:///m.txt]
        {
          "id": 1
        }
        "#);
    }
}
