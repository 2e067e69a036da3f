//! Everything the gateway says to an MCP client, and the only file that writes JSON-RPC to one. A
//! tool's result is accepted as a `Recorded`, text of a server about itself as a `Listing`, and
//! the rest is our own words from closed sets.

mod body;
mod edit;
mod era;
mod event;
mod links;
mod login;
mod problem;
mod request_state;
mod visible;

use bytes::Bytes;
use countersign_audit::Recorded;
use countersign_config::ItemKind;
use countersign_inspect::{ClientEra, Inspected, Listing, Refusal, Segments, asked_tool_name};
use countersign_tape::quote;
use countersign_wire::Method;
use countersign_wire::version::MODERN;
use countersign_wire::{Capabilities, Capability};
use hyper::StatusCode;
use tokio::sync::mpsc;

pub(crate) use body::Body;
use era::fit_to_era;
pub(crate) use event::{Framing, line};
pub(crate) use links::show_links;
pub(crate) use problem::{Problem, problem};
pub(crate) use request_state::{REQUEST_STATE, replace_request_state};
pub(crate) use visible::show_visible;

use crate::path::call::{Call, Conclusion};

/// The versions we speak to clients of the legacy era, newest first.
pub(crate) const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// The first version. Its HTTP transport is another one; on a pipe it reads like the others.
pub(crate) const OLDEST: &str = "2024-11-05";
const IDENTITY: &str = concat!(
    r#"{"name":"countersign","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);

/// An answer on its way out.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Body,
    /// The scopes that the caller's token lacks for what it asked, if that is why it is refused.
    pub(crate) scopes: Vec<String>,
}

impl Reply {
    fn ok(segments: Segments) -> Self {
        Self {
            status: StatusCode::OK,
            body: Body::from(segments),
            scopes: Vec::new(),
        }
    }

    /// A stream of events.
    pub(crate) fn events(events: mpsc::Receiver<Bytes>) -> Self {
        Self {
            status: StatusCode::OK,
            body: Body::Stream(events),
            scopes: Vec::new(),
        }
    }

    fn result(id: &[u8], result: &[u8]) -> Self {
        Self::text(StatusCode::OK, envelope(id, "result", result))
    }

    fn text(status: StatusCode, text: Vec<u8>) -> Self {
        Self {
            status,
            body: Body::from(Bytes::from(text)),
            scopes: Vec::new(),
        }
    }
}

/// The reply to a call, once its records are where they belong.
pub(crate) fn call(recorded: Recorded<Conclusion>, call: &Call) -> Reply {
    let id = &call.id;
    match recorded.into_value() {
        Conclusion::Result(inspected) if inspected.is_rpc_error() => {
            fit_to_era(inspected.message(id), call.method, call.client.era)
        }
        Conclusion::Result(inspected) if call.method == Method::CallTool => {
            Reply::ok(inspected.message(id))
        }
        // Only a tool has results that say what went wrong.
        Conclusion::Result(inspected) if inspected.is_authored() => failed(&inspected, id),
        Conclusion::Result(inspected) => {
            fit_to_era(inspected.message(id), call.method, call.client.era)
        }
        Conclusion::UnknownTool => unknown(call),
        Conclusion::NeedsLogin(login) => login::needs_login(&login, call),
        Conclusion::LacksScopes(scopes) => Reply {
            scopes,
            ..problem(Some(id), &Problem::Scopes, call.client.era)
        },
    }
}

/// The reply to a call of something that does not exist, or not for this caller.
fn unknown(call: &Call) -> Reply {
    let id = Some(&*call.id);
    let first = call.items().first().map(|(kind, _)| *kind);
    match first {
        Some(ItemKind::Prompt) => problem(id, &Problem::Params("unknown prompt"), call.client.era),
        Some(ItemKind::Resource) => problem(id, &Problem::Resource, call.client.era),
        Some(ItemKind::Tool) | None => problem(
            id,
            &Problem::Tool(asked_tool_name(&call.name)),
            ClientEra::Unnegotiated,
        ),
    }
}

/// The reply to a request that has no result: why, in our own words.
fn failed(inspected: &Inspected, id: &[u8]) -> Reply {
    let kind = match inspected.refusal() {
        Some(refusal) => refusal.kind(),
        None => "blocked",
    };
    let message = quote(inspected.answer().unwrap_or("Internal error"));
    error(id, &String::from_utf8_lossy(&message), kind)
}

/// The reply to a call that ended in a bug of the gateway.
pub(crate) fn internal_error(id: &[u8]) -> Reply {
    error(id, "\"Internal error\"", Refusal::Internal.kind())
}

fn error(id: &[u8], message: &str, kind: &str) -> Reply {
    let error = format!(r#"{{"code":-32603,"message":{message},"data":{{"kind":"{kind}"}}}}"#);
    Reply::text(StatusCode::OK, envelope(id, "error", error.as_bytes()))
}

/// What an endpoint can do, as its clients are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndpointCapabilities {
    /// Its list may change, and clients that listen are told.
    pub(crate) list_changes: bool,
    /// What else the servers behind it can do.
    pub(crate) server: Option<Capabilities>,
}

impl EndpointCapabilities {
    /// Tools always; of the rest what the server has.
    fn json(self) -> String {
        let server = self
            .server
            .unwrap_or_else(|| [Capability::Logging].into_iter().collect());
        let others = server.all().filter(|ability| *ability != Capability::Tools);
        let others = others.map(|ability| {
            let details = match ability {
                Capability::Prompts => flags(&[("listChanged", server.prompt_changes)]),
                Capability::Resources => flags(&[
                    ("subscribe", server.resource_updates),
                    ("listChanged", server.resource_changes),
                ]),
                _ => flags(&[]),
            };
            format!(r#","{}":{details}"#, ability.as_str())
        });
        let tools = if self.list_changes {
            r#"{"listChanged":true}"#
        } else {
            "{}"
        };
        format!(r#"{{"tools":{tools}{}}}"#, others.collect::<String>())
    }
}

/// An object with the names that hold.
fn flags(all: &[(&str, bool)]) -> String {
    let set = all.iter().filter(|(_, is_set)| *is_set);
    let set: Vec<String> = set.map(|(name, _)| format!(r#""{name}":true"#)).collect();
    format!("{{{}}}", set.join(","))
}

/// The answer to `initialize`.
pub(crate) fn initialized(
    id: &[u8],
    version: &str,
    offer: EndpointCapabilities,
    instructions: Option<&Listing>,
) -> Reply {
    let result = format!(
        r#"{{"protocolVersion":"{version}","capabilities":{},"serverInfo":{IDENTITY}"#,
        offer.json()
    );
    Reply::result(id, &with_instructions(result, instructions))
}

/// The answer to `server/discover`.
pub(crate) fn discovered(
    id: &[u8],
    offer: EndpointCapabilities,
    instructions: Option<&Listing>,
) -> Reply {
    let result = format!(
        r#"{{"resultType":"complete","supportedVersions":{},"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{IDENTITY}}}"#,
        versions(),
        offer.json()
    );
    Reply::result(id, &with_instructions(result, instructions))
}

/// The answer to `tools/list` and other lists of the gateway's own: an array under the name `member`. Modern clients are
/// told how long they may keep it, each for itself, because the list depends on our configuration.
pub(crate) fn list(
    id: &[u8],
    member: &str,
    items: &Listing,
    ttl_ms: u64,
    client: ClientEra,
) -> Reply {
    let ttl = format!(r#","ttlMs":{ttl_ms},"cacheScope":"private"}}"#);
    let (kind, after): (&str, &[u8]) = match client {
        ClientEra::Modern => (r#""resultType":"complete","#, ttl.as_bytes()),
        ClientEra::Legacy | ClientEra::Unnegotiated => ("", b"}"),
    };
    let before = format!(r#"{{{kind}"{member}":"#);
    let result = [before.as_bytes(), items.bytes(), after].concat();
    Reply::result(id, &result)
}

/// The first message of a subscription: what it will be told, as JSON.
pub(crate) fn acknowledged(id: &[u8], filter: &str) -> Bytes {
    let params = format!(r#""notifications":{filter},"#);
    subscribed(
        "notifications/subscriptions/acknowledged",
        params.as_bytes(),
        id,
    )
}

/// The news that a list has changed: of `tools`, `prompts` or `resources`.
pub(crate) fn list_changed(list: &str, subscription: Option<&[u8]>) -> Bytes {
    let method = format!("notifications/{list}/list_changed");
    match subscription {
        Some(id) => subscribed(&method, b"", id),
        None => format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#).into(),
    }
}

/// The news that a resource has changed which the client watches.
pub(crate) fn resource_updated(uri: &str, subscription: Option<&[u8]>) -> Bytes {
    const METHOD: &str = "notifications/resources/updated";
    let uri = String::from_utf8_lossy(&quote(uri)).into_owned();
    match subscription {
        Some(id) => subscribed(METHOD, format!(r#""uri":{uri},"#).as_bytes(), id),
        None => {
            format!(r#"{{"jsonrpc":"2.0","method":"{METHOD}","params":{{"uri":{uri}}}}}"#).into()
        }
    }
}

/// Tells a client that a server does not wait any more for the answer to a request, by the id the client knows it by.
pub(crate) fn cancelled(id: &[u8]) -> Bytes {
    let parts: [&[u8]; 3] = [
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#,
        id,
        b"}}",
    ];
    parts.concat().into()
}

/// The answer to a subscription that ends.
pub(crate) fn unsubscribed(id: &[u8]) -> Bytes {
    let parts: [&[u8]; 4] = [
        br#"{"resultType":"complete","_meta":{"#,
        SUBSCRIPTION,
        id,
        b"}}",
    ];
    envelope(id, "result", &parts.concat()).into()
}

const SUBSCRIPTION: &[u8] = br#""io.modelcontextprotocol/subscriptionId":"#;

/// A notification on a subscription, which its id marks.
fn subscribed(method: &str, params: &[u8], id: &[u8]) -> Bytes {
    let parts: [&[u8]; 8] = [
        br#"{"jsonrpc":"2.0","method":""#,
        method.as_bytes(),
        br#"","params":{"#,
        params,
        br#""_meta":{"#,
        SUBSCRIPTION,
        id,
        b"}}}",
    ];
    parts.concat().into()
}

/// The answer to what has been done: `ping`, `logging/setLevel`.
pub(crate) fn empty_result(id: &[u8]) -> Reply {
    Reply::result(id, b"{}")
}

/// The replies to several messages at once.
pub(crate) fn batch(replies: &[Bytes]) -> Reply {
    Reply::text(
        StatusCode::OK,
        [&b"["[..], &replies.join(&b","[..]), b"]"].concat(),
    )
}

/// Taken note of; there is nothing to say.
pub(crate) fn accepted() -> Reply {
    Reply {
        status: StatusCode::ACCEPTED,
        body: Body::default(),
        scopes: Vec::new(),
    }
}

/// The reply to a request that its client has cancelled: no answer. Of the responses without a message, clients take this
/// one without complaint, whatever they accept.
pub(crate) fn unanswered() -> Reply {
    accepted()
}

fn with_instructions(mut object: String, instructions: Option<&Listing>) -> Vec<u8> {
    let text = instructions.map(|text| String::from_utf8_lossy(text.bytes()));
    if let Some(text) = text {
        object.push_str(r#","instructions":"#);
        object.push_str(&text);
    }
    object.push('}');
    object.into_bytes()
}

fn versions() -> String {
    let all: Vec<String> = std::iter::once(MODERN)
        .chain(LEGACY)
        .map(|version| format!("\"{version}\""))
        .collect();
    format!("[{}]", all.join(","))
}

fn envelope(id: &[u8], kind: &str, body: &[u8]) -> Vec<u8> {
    let parts: [&[u8]; 7] = [
        br#"{"jsonrpc":"2.0","id":"#,
        id,
        b",\"",
        kind.as_bytes(),
        b"\":",
        body,
        b"}",
    ];
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reply's status and body.
    pub(super) fn text(reply: Reply) -> (u16, String) {
        let bytes = reply.body.into_bytes();
        (
            reply.status.as_u16(),
            String::from_utf8(bytes.to_vec()).expect("UTF-8"),
        )
    }

    #[test]
    fn our_own_results_are_json() {
        let instructions = Listing::admit(&br#""Be \"kind\".""#[..]);
        let tools_list = Listing::admit(&b"[]"[..]);
        let [changing, fixed] = [true, false].map(|list_changes| EndpointCapabilities {
            list_changes,
            server: Some(Capabilities::default()),
        });
        for reply in [
            initialized(b"1", LEGACY[0], changing, Some(&instructions)),
            initialized(b"1", LEGACY[0], fixed, None),
            discovered(b"1", changing, Some(&instructions)),
            list(b"1", "tools", &tools_list, 5, ClientEra::Modern),
            list(b"1", "tools", &tools_list, 5, ClientEra::Legacy),
            empty_result(b"1"),
            internal_error(b"1"),
        ] {
            let (status, body) = text(reply);
            let value: serde_json::Value = serde_json::from_str(&body).expect(&body);
            assert_eq!((status, &value["id"]), (200, &serde_json::json!(1)));
        }
    }

    #[test]
    fn subscriptions_are_marked_by_their_id() {
        let lines = [
            acknowledged(b"\"s\"", r#"{"toolsListChanged":true}"#),
            acknowledged(b"1", "{}"),
            list_changed("tools", Some(b"\"s\"")),
            list_changed("tools", None),
            resource_updated("a:\"b", Some(b"1")),
            resource_updated("a:b", None),
            unsubscribed(b"1"),
        ];
        let lines = lines.map(|line| String::from_utf8(line.to_vec()).expect("UTF-8"));
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}
        {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
        {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}
        {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
        {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:\"b","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
        {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}
        {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
        "#);
    }
}
