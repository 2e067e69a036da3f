//! The boundary as a client sees it, driven with any bytes: a body of a client, lines, events or bodies of a server. The
//! gateway is the real one, kept alive from run to run; `law.rs` says what it must never send, and each way in says how
//! the law was broken, if it was. A test feeds them seeds and what it generates, the fuzzer what it finds.
//!
//! The first byte of an input chooses who asks for what and how the rest is read: as it is, or as choices that grow
//! messages.

use std::sync::LazyLock;

mod craft;
mod echo;
#[path = "../../../schema/tests/support/entropy.rs"]
mod entropy;
mod http1;
mod json;
mod law;
#[expect(dead_code, reason = "the sanitiser's own tests ask it more")]
#[path = "../../../sanitise/tests/it/oracle.rs"]
mod oracle;
mod pipe;
mod rigs;
pub(crate) mod seeds;
mod server;
#[expect(
    dead_code,
    reason = "the sanitiser's own tests put tokens into more places"
)]
#[path = "../../../sanitise/tests/it/transforms.rs"]
mod transforms;
mod web;

use craft::Craft;
pub(crate) use entropy::Entropy;
use law::{Echo, Law};
use pipe::Pipe;
use rigs::{new_runtime, with_rigs};
use server::Greeting;
use web::{Script, Web};

static LAW: LazyLock<Law> = LazyLock::new(Law::new);

/// How an input is to be read.
#[derive(Clone, Copy, Debug)]
struct Choice(u8, u8);

impl Choice {
    fn split(data: &[u8]) -> Option<(Self, &[u8])> {
        let ([first, second], rest) = data.split_first_chunk()?;
        Some((Self(*first, *second), rest))
    }

    /// Whether the rest is choices instead of bytes to send.
    fn grows(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether the client speaks the modern way.
    fn client_is_modern(self) -> bool {
        self.0 & 2 == 2
    }

    fn server_is_modern(self) -> bool {
        self.0 & 4 == 4
    }
}

/// Any bytes as what a server writes to its standard output while it is called.
pub(crate) fn upstream_line(data: &[u8]) -> Result<(), String> {
    let Some((choice, rest)) = Choice::split(data) else {
        return Ok(());
    };
    let lines = if choice.grows() {
        grow(rest, "\n")
    } else {
        rest.to_vec()
    };
    let sent = with_rigs(|rigs, runtime| {
        let pipe = rigs.pipes[usize::from(choice.server_is_modern())]
            .get_or_insert_with(|| runtime.block_on(Pipe::start(choice.server_is_modern())));
        runtime.block_on(pipe.ask(
            server::question(choice.1),
            choice.client_is_modern(),
            &lines,
        ))
    });
    judge(&sent, Echo::None, &lines)
}

/// Any bytes as an event stream that answers a call.
pub(crate) fn upstream_sse(data: &[u8]) -> Result<(), String> {
    let Some((choice, rest)) = Choice::split(data) else {
        return Ok(());
    };
    let body = if choice.grows() {
        let events = Craft::new(Entropy::Bytes(rest), LAW.oracle()).server();
        let events = events
            .iter()
            .map(|event| format!("event: message\ndata: {event}\n\n"));
        events.collect::<String>().into_bytes()
    } else {
        rest.to_vec()
    };
    let script = Script {
        status: 200,
        events: true,
        body,
        ends: choice.0 & 8 == 0,
    };
    answered_over_http(choice, script)
}

/// Any bytes as the JSON that answers a call over HTTP.
pub(crate) fn upstream_http(data: &[u8]) -> Result<(), String> {
    let Some((choice, rest)) = Choice::split(data) else {
        return Ok(());
    };
    let body = if choice.grows() {
        let mut craft = Craft::new(Entropy::Bytes(rest), LAW.oracle());
        if choice.0 & 8 == 0 {
            craft.reply()
        } else {
            format!("[{}]", craft.server().join(","))
        }
        .into_bytes()
    } else {
        rest.to_vec()
    };
    // A modern server that refuses like this is taken for another one and greeted anew.
    let status = match choice.0 >> 4 & 7 {
        0 => 500,
        1 if !choice.server_is_modern() => 400,
        2 if !choice.server_is_modern() => 404,
        _ => 200,
    };
    let script = Script {
        status,
        events: false,
        body,
        ends: false,
    };
    answered_over_http(choice, script)
}

/// Any bytes as what servers say about themselves and their tools. Each run has a gateway of its own.
pub(crate) fn upstream_tools(data: &[u8]) -> Result<(), String> {
    let Some((choice, rest)) = Choice::split(data) else {
        return Ok(());
    };
    let greeting = if choice.grows() {
        Craft::new(Entropy::Bytes(rest), LAW.oracle()).greeting()
    } else {
        let text = String::from_utf8_lossy(rest);
        let (members, tools) = text.split_once("\n---\n").unwrap_or((r#""x":1"#, &text));
        Greeting {
            members: members.to_owned(),
            tools: tools.to_owned(),
        }
    };
    let input = format!("{greeting:?}");
    let told = new_runtime().block_on(async { Web::start(greeting).await.told().await });
    judge(&told, Echo::None, input.as_bytes())
}

fn answered_over_http(choice: Choice, script: Script) -> Result<(), String> {
    let body = script.body.clone();
    let sent = with_rigs(|rigs, runtime| {
        let web = rigs
            .web
            .get_or_insert_with(|| runtime.block_on(Web::start(Greeting::default())));
        web.answer_with(script);
        runtime.block_on(web.ask(
            choice.1,
            choice.client_is_modern(),
            choice.server_is_modern(),
        ))
    });
    judge(&sent, Echo::None, &body)
}

/// Any bytes as the body of a client's POST; the servers answer with what they are sent.
pub(crate) fn client_body(data: &[u8]) -> Result<(), String> {
    let Some((choice, rest)) = Choice::split(data) else {
        return Ok(());
    };
    let body = if choice.grows() {
        Craft::new(Entropy::Bytes(rest), LAW.oracle())
            .client()
            .into_bytes()
    } else {
        rest.to_vec()
    };
    let path = ["/mcp", "/mcp/all", "/mcp/s/legacy", "/mcp/s/modern"][usize::from(choice.1 & 3)];
    let received = with_rigs(|rigs, runtime| {
        let web = rigs
            .web
            .get_or_insert_with(|| runtime.block_on(Web::start(Greeting::default())));
        web.answer_with(echo::echoed(&body));
        let headers = match choice.1 >> 2 & 3 {
            0 => String::new(),
            1 => web.session().to_owned(),
            2 => "MCP-Protocol-Version: 2025-03-26\r\n".to_owned(),
            _ => echo::repeated(&body),
        };
        runtime.block_on(web.post(path, &headers, &body))
    });
    let sent = web::messages(&received);
    if sent.is_empty() {
        LAW.check_text(&String::from_utf8_lossy(&received.body))?;
    }
    judge(&sent, Echo::Client, &body)
}

fn grow(choices: &[u8], between: &str) -> Vec<u8> {
    Craft::new(Entropy::Bytes(choices), LAW.oracle())
        .server()
        .join(between)
        .into_bytes()
}

fn judge(sent: &[Vec<u8>], echo: Echo, input: &[u8]) -> Result<(), String> {
    sent.iter().try_for_each(|message| {
        LAW.check(message, echo).map_err(|broken| {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            format!(
                "{broken}\nsent to the client: {}\nfor the input: {}",
                text(message),
                text(input)
            )
        })
    })
}
