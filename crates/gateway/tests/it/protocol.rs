//! What the gateway does with each method of the protocol at `/mcp/s/<server>` and where servers are merged, between peers
//! of the same era. The table is the source of `docs/reference/protocol.md`. What it says of the requests of clients is tried
//! here, in both eras; every other row names the tests that show it, one for each era.

mod modern;

use std::fmt::Write as _;
use std::path::Path;

use countersign_fixture::client::{HttpClient, modern_params, request};
use countersign_fixture::{Answer, Body, Eras, Script, Step, Tool};
use countersign_wire::Method;
use serde_json::{Value, json};

use crate::support::{Rig, scripted, text};

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handling {
    /// It goes on to the other side.
    Relayed,
    /// The gateway answers it, or acts on it, itself.
    Answered,
    /// The gateway refuses it, or ignores it if it has no answer.
    Refused,
}

use Handling::{Answered, Refused, Relayed};

/// A method, what becomes of it in the legacy and in the modern era, a remark, and the tests that show it, by era.
type Row = (
    &'static str,
    Handling,
    Handling,
    &'static str,
    [&'static str; 2],
);

const TRIED: [&str; 2] = ["protocol::requests_of_clients_fare_as_the_table_says"; 2];

const REQUESTS_OF_CLIENTS: &[Row] = &[
    ("initialize", Answered, Refused, "", TRIED),
    ("server/discover", Refused, Answered, "", TRIED),
    ("ping", Answered, Refused, "", TRIED),
    (
        "tools/list",
        Answered,
        Answered,
        "from the catalogue; from the client's own connection if it has one",
        TRIED,
    ),
    ("tools/call", Relayed, Relayed, "", TRIED),
    ("prompts/list", Relayed, Relayed, "", TRIED),
    ("prompts/get", Relayed, Relayed, "", TRIED),
    ("resources/list", Relayed, Relayed, "", TRIED),
    ("resources/templates/list", Relayed, Relayed, "", TRIED),
    ("resources/read", Relayed, Relayed, "", TRIED),
    ("resources/subscribe", Relayed, Refused, "", TRIED),
    (
        "resources/unsubscribe",
        Relayed,
        Refused,
        "answered here while another client of a shared server watches the resource",
        TRIED,
    ),
    (
        "subscriptions/listen",
        Refused,
        Answered,
        "tools, prompts, resources, and addresses of resources",
        TRIED,
    ),
    ("completion/complete", Relayed, Relayed, "", TRIED),
    (
        "logging/setLevel",
        Answered,
        Refused,
        "and set at the server: for the client's own connection, or the lowest level of all",
        TRIED,
    ),
    ("tasks/get", Refused, Refused, "", TRIED),
];

const TRIED_MERGED: [&str; 2] = ["protocol::requests_to_merged_servers_fare_as_the_table_says"; 2];
const ALL_LISTS: &str = "the lists of all servers, with names and addresses that lead back";

/// The same at `/mcp/all`, where every server is shown.
const REQUESTS_TO_MERGED_SERVERS: &[Row] = &[
    ("initialize", Answered, Refused, "", TRIED_MERGED),
    ("server/discover", Refused, Answered, "", TRIED_MERGED),
    ("ping", Answered, Refused, "", TRIED_MERGED),
    (
        "tools/list",
        Answered,
        Answered,
        "on `/mcp/call` the five router tools",
        TRIED_MERGED,
    ),
    ("tools/call", Relayed, Relayed, "", TRIED_MERGED),
    ("prompts/list", Answered, Answered, ALL_LISTS, TRIED_MERGED),
    ("prompts/get", Relayed, Relayed, "", TRIED_MERGED),
    (
        "resources/list",
        Answered,
        Answered,
        ALL_LISTS,
        TRIED_MERGED,
    ),
    (
        "resources/templates/list",
        Answered,
        Answered,
        ALL_LISTS,
        TRIED_MERGED,
    ),
    ("resources/read", Relayed, Relayed, "", TRIED_MERGED),
    ("resources/subscribe", Relayed, Refused, "", TRIED_MERGED),
    ("resources/unsubscribe", Relayed, Refused, "", TRIED_MERGED),
    ("subscriptions/listen", Refused, Answered, "", TRIED_MERGED),
    ("completion/complete", Relayed, Relayed, "", TRIED_MERGED),
    (
        "logging/setLevel",
        Answered,
        Refused,
        "and set at the servers that the client is connected to",
        TRIED_MERGED,
    ),
    ("tasks/get", Refused, Refused, "", TRIED_MERGED),
];

const IGNORED_CLIENT: &str =
    "protocol/modern::notifications_of_modern_clients_are_taken_and_go_nowhere";
const REFUSED_SERVER: &str = "protocol/modern::requests_of_modern_servers_are_refused";
const IGNORED_SERVER: &str = "protocol/modern::what_only_legacy_servers_say_goes_nowhere";

const NOTIFICATIONS_OF_CLIENTS: &[Row] = &[
    (
        "notifications/initialized",
        Answered,
        Refused,
        "",
        [
            "sessions::a_session_lives_from_initialize_to_delete",
            IGNORED_CLIENT,
        ],
    ),
    (
        "notifications/cancelled",
        Relayed,
        Refused,
        "with the reason; a modern client closes the stream of its request, which is relayed",
        [
            "sessions::a_call_that_is_cancelled_in_its_session_has_no_answer_and_a_record",
            IGNORED_CLIENT,
        ],
    ),
    (
        "notifications/roots/list_changed",
        Relayed,
        Refused,
        "to connections of the client's own",
        [
            "isolation::what_a_client_says_of_its_own_accord_reaches_its_server",
            IGNORED_CLIENT,
        ],
    ),
    (
        "notifications/progress",
        Relayed,
        Refused,
        "to connections of the client's own",
        [
            "isolation::what_a_client_says_of_its_own_accord_reaches_its_server",
            IGNORED_CLIENT,
        ],
    ),
];

const REQUESTS_OF_SERVERS: &[Row] = &[
    (
        "ping",
        Answered,
        Answered,
        "also of a modern server, though its era does not have it",
        [
            "isolation::a_ping_of_the_server_is_answered",
            REFUSED_SERVER,
        ],
    ),
    (
        "sampling/createMessage",
        Relayed,
        Refused,
        "to the client the connection belongs to; refused on a shared connection",
        [
            "carriers::a_question_of_a_server_is_cleaned_as_a_tool_result_is",
            REFUSED_SERVER,
        ],
    ),
    (
        "elicitation/create",
        Relayed,
        Refused,
        "the same",
        [
            "isolation::a_server_asks_the_client_whose_call_it_is",
            REFUSED_SERVER,
        ],
    ),
    (
        "roots/list",
        Relayed,
        Refused,
        "the same",
        [
            "isolation::a_question_outside_of_a_call_comes_by_the_clients_own_stream",
            REFUSED_SERVER,
        ],
    ),
];

const NOTIFICATIONS_OF_SERVERS: &[Row] = &[
    (
        "notifications/progress",
        Relayed,
        Relayed,
        "of the client's own calls",
        ["streams::progress_of_a_server_over_http_is_passed_on_in_either_era"; 2],
    ),
    (
        "notifications/message",
        Relayed,
        Relayed,
        "outside of calls only on a connection of the client's own",
        [
            "isolation::what_a_server_says_outside_of_calls_is_passed_on_and_can_be_had_again",
            "protocol/modern::log_messages_of_a_modern_server_are_heard_if_the_request_asks_for_them",
        ],
    ),
    (
        "notifications/tools/list_changed",
        Answered,
        Answered,
        "the list is fetched, and clients are told if it differs",
        ["http_upstream::a_changed_list_is_heard"; 2],
    ),
    (
        "notifications/prompts/list_changed",
        Relayed,
        Relayed,
        "",
        NEWS,
    ),
    (
        "notifications/resources/list_changed",
        Relayed,
        Relayed,
        "",
        NEWS,
    ),
    (
        "notifications/resources/updated",
        Relayed,
        Relayed,
        "to the clients that watch the resource",
        NEWS,
    ),
    (
        "notifications/cancelled",
        Relayed,
        Refused,
        "of the server's own requests, with the reason",
        [
            "isolation::a_server_that_does_not_wait_any_more_says_so",
            IGNORED_SERVER,
        ],
    ),
    (
        "notifications/elicitation/complete",
        Relayed,
        Refused,
        "",
        [
            "isolation::a_server_that_does_not_wait_any_more_says_so",
            IGNORED_SERVER,
        ],
    ),
];

const NEWS: [&str; 2] = [
    "news::clients_that_share_a_server_hear_of_the_resources_they_watch",
    "news::a_modern_subscription_is_told_what_it_asks_for",
];

const GROUPS: [(&str, &[Row]); 5] = [
    ("Requests of clients", REQUESTS_OF_CLIENTS),
    (
        "Requests of clients at `/mcp/all` and `/mcp/call`",
        REQUESTS_TO_MERGED_SERVERS,
    ),
    ("Notifications of clients", NOTIFICATIONS_OF_CLIENTS),
    ("Requests of servers", REQUESTS_OF_SERVERS),
    ("Notifications of servers", NOTIFICATIONS_OF_SERVERS),
];

const MARK: &str = "from the server";

fn script(eras: Eras) -> Script {
    let answer = || {
        vec![vec![Step::Answer(Answer::result(Body::new(format!(
            r#"{{"x":"{MARK}"}}"#
        ))))]]
    };
    let mut tool = Tool::named("t");
    tool.replies = answer();
    let mut script = Script::new("x").eras(eras).tool(tool);
    let capabilities = json!({"tools": {}, "prompts": {}, "resources": {"subscribe": true}, "completions": {}, "logging": {}});
    let capabilities = serde_json::value::RawValue::from_string(capabilities.to_string());
    script.capabilities = Some(capabilities.expect("JSON"));
    for (method, ..) in REQUESTS_OF_CLIENTS {
        let is_own =
            method.starts_with("tools/") || ["initialize", "server/discover"].contains(method);
        if !is_own && *method != "subscriptions/listen" {
            script.methods.insert((*method).to_owned(), answer());
        }
    }
    script
}

fn uri(method: &str) -> String {
    method.replacen('/', ":", 1)
}

fn params(method: &str) -> String {
    match method {
        "tools/call" | "prompts/get" => r#"{"name":"t"}"#.to_owned(),
        // Another resource for each: an earlier row subscribes to its own.
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            json!({ "uri": uri(method) }).to_string()
        }
        "logging/setLevel" => r#"{"level":"info"}"#.to_owned(),
        "initialize" => countersign_fixture::client::initialize_params("2025-11-25"),
        _ => "{}".to_owned(),
    }
}

/// The parameters where servers are merged: names have the server's before them.
fn merged_params(method: &str, server: &str) -> String {
    let name = format!("{server}__t");
    match method {
        "tools/call" | "prompts/get" => json!({ "name": name }).to_string(),
        "completion/complete" => {
            let prompt = json!({"type": "ref/prompt", "name": name});
            json!({"ref": prompt, "argument": {"name": "a", "value": ""}}).to_string()
        }
        _ => params(method),
    }
}

/// How a request fares, by the first message that answers it.
async fn tried(client: &HttpClient, method: &str, params: &str) -> Handling {
    let message = request("\"r\"", method, params);
    let mut answer = client.open("POST", &message).await.expect("an answer");
    let mut body = Vec::new();
    let is_stream = answer
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("text/event-stream"));
    if is_stream {
        body = answer
            .event()
            .await
            .expect("a stream")
            .expect("an event")
            .data;
    } else {
        while let Some(bytes) = answer.bytes().await.expect("a body") {
            body.extend(bytes);
        }
    }
    let value: Value = serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{}", text(&body)));
    match &value["error"]["code"] {
        code if *code == -32601 => Refused,
        Value::Null if text(&body).contains(MARK) => Relayed,
        Value::Null => Answered,
        other => panic!("{method}: {other}: {}", text(&body)),
    }
}

#[tokio::test]
async fn requests_of_clients_fare_as_the_table_says() {
    let (legacy, _one) = scripted("legacy", &script(Eras::Legacy));
    let (modern, _other) = scripted("modern", &script(Eras::Modern));
    let rig = Rig::over(vec![legacy, modern]).await;
    for (method, in_legacy, in_modern, ..) in REQUESTS_OF_CLIENTS {
        let session = rig.client("/mcp/s/legacy").handshake("2025-11-25").await;
        let params = params(method);
        let seen = tried(&session.expect("a session"), method, &params).await;
        assert_eq!(seen, *in_legacy, "{method} in the legacy era");
        let client = rig.client("/mcp/s/modern").modern_headers(method, &params);
        let client = if params.contains(r#""uri""#) {
            client.with_header("Mcp-Name", &uri(method))
        } else {
            client
        };
        let seen = tried(&client, method, &modern_params(&params)).await;
        assert_eq!(seen, *in_modern, "{method} in the modern era");
    }
}

#[tokio::test]
async fn requests_to_merged_servers_fare_as_the_table_says() {
    let (legacy, _one) = scripted("legacy", &script(Eras::Legacy));
    let (modern, _other) = scripted("modern", &script(Eras::Modern));
    let rigs = (Rig::over(vec![legacy]).await, Rig::over(vec![modern]).await);
    for (method, in_legacy, in_modern, ..) in REQUESTS_TO_MERGED_SERVERS {
        let session = rigs.0.client("/mcp/all").handshake("2025-11-25").await;
        let params = merged_params(method, "legacy");
        let seen = tried(&session.expect("a session"), method, &params).await;
        assert_eq!(seen, *in_legacy, "{method} in the legacy era");
        let params = merged_params(method, "modern");
        let client = rigs.1.client("/mcp/all").modern_headers(method, &params);
        let client = if params.contains(r#""uri""#) {
            client.with_header("Mcp-Name", &uri(method))
        } else {
            client
        };
        let seen = tried(&client, method, &modern_params(&params)).await;
        assert_eq!(seen, *in_modern, "{method} in the modern era");
    }
}

#[test]
fn every_row_has_a_test() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    for (_, rows) in GROUPS {
        for (method, test) in rows
            .iter()
            .flat_map(|(method, .., tests)| tests.map(|test| (method, test)))
        {
            let (file, function) = test.split_once("::").expect("file::function");
            let source = std::fs::read_to_string(sources.join(file).with_extension("rs"));
            let source = source.unwrap_or_else(|_| panic!("{method}: no file {file}"));
            assert!(
                source.contains(&format!("fn {function}()")),
                "{method}: {test}"
            );
        }
    }
}

#[test]
fn every_method_that_is_forwarded_is_in_the_table() {
    for rows in [REQUESTS_OF_CLIENTS, REQUESTS_TO_MERGED_SERVERS] {
        for method in Method::ALL {
            let row = rows.iter().find(|(name, ..)| *name == method.as_str());
            let row = row.unwrap_or_else(|| panic!("{} has no row", method.as_str()));
            assert_ne!(row.1, Refused, "{}", method.as_str());
        }
    }
}

fn page() -> String {
    let word = |handling: Handling| match handling {
        Relayed => "relayed",
        Answered => "answered here",
        Refused => "–",
    };
    let mut page = String::from(
        "# What is relayed\n\nWhat the gateway does with each method at `/mcp/s/<server>` and behind `countersign wrap`, between a client and a server\nof the same era: legacy is up to 2025-11-25, modern is 2026-07-28. A dash means that the era does not have the method, or\nthat the gateway refuses it. Everything that is relayed from a server is inspected first. At `/mcp/all` and `/mcp/call` notifications\nand requests of servers fare as at `/mcp/s/<server>`, with names and addresses that lead back to their server.\n\nThis page is written by `UPDATE=1 cargo test -p countersign-gateway --test it protocol`, from the table that the tests try.\n",
    );
    for (title, rows) in GROUPS {
        write!(
            page,
            "\n## {title}\n\n| method | legacy | modern | |\n|---|---|---|---|\n"
        )
        .expect("memory");
        for (method, legacy, modern, remark, _) in rows {
            writeln!(
                page,
                "| `{method}` | {} | {} | {remark} |",
                word(*legacy),
                word(*modern)
            )
            .expect("memory");
        }
    }
    page
}

#[test]
fn the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/protocol.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, page()).expect("the page can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("the page is there");
    assert!(
        kept == page(),
        "the table has changed; run: UPDATE=1 cargo test -p countersign-gateway --test it protocol"
    );
}
