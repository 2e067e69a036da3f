//! Which callers see and use what, by the rules of the configuration: what is listed is what can be called, found and
//! described, and what is denied cannot be told from what does not exist.

use std::collections::BTreeSet;

use countersign_config::{self as config, Access, Environment, Limit, Server};
use countersign_fixture::client::{HttpClient, Response};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Body, Entry, Eras, Script, Step, Tool, http};
use countersign_gateway::{AccessDecision, AccessRules, Hints, Item, Subject};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::{Rig, logged_http, over_http, received, refusal, result, scripted, text};

/// Names of tools, of which the second part is a word that a search finds.
const VERBS: [&str; 4] = ["get", "list", "update", "delete"];
const NOUNS: [&str; 3] = ["contact", "page", "secret"];
const SERVERS: [&str; 3] = ["crm", "wiki", "ops"];

/// The rules of a file that has these servers.
fn access(rules: &Value) -> Access {
    parsed(&json!({"access": rules})).access
}

fn limits(limits: &Value) -> Vec<Limit> {
    parsed(&json!({"limits": limits})).limits
}

fn parsed(part: &Value) -> config::Config {
    let mut file = part.clone();
    let servers = SERVERS.map(|name| json!({"name": name, "command": "x"}));
    file["mcpServers"] = json!(servers);
    let parsed = config::parse(&file.to_string(), &Environment::empty());
    parsed.unwrap_or_else(|error| panic!("{error}: {file}")).0
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("fits") % most
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn patterns(&mut self) -> Vec<String> {
        let count = self.below(3);
        let pattern = |numbers: &mut Self| {
            let server = numbers.pick(&["crm", "wiki", "ops", "*", "c*"]);
            let verb = numbers.pick(&["get", "list", "update", "delete", "*"]);
            let noun = numbers.pick(&["contact", "page", "secret", "*"]);
            match numbers.below(5) {
                0 => format!("{server}:*"),
                1 => format!("{server}:tool/{verb}_{noun}"),
                2 => format!("{server}:prompt/*"),
                _ => format!("{server}:{verb}_{noun}"),
            }
        };
        (0..count).map(|_| pattern(self)).collect()
    }

    fn rule(&mut self, allows: bool) -> Option<Value> {
        let callers = self.pick(&["*", "key:client", "key:operator", "key:*", "group:none"]);
        let (allow, deny) = (self.patterns(), self.patterns());
        let mut rule = json!({"callers": [callers]});
        let allow: Vec<String> = allow.into_iter().filter(|_| allows).collect();
        if allow.is_empty() && deny.is_empty() {
            return None;
        }
        if allow.is_empty() {
            rule["deny"] = json!(deny);
            return Some(rule);
        }
        rule["allow"] = json!(allow);
        if self.below(4) == 0 {
            rule["where"] = json!({"read_only": self.below(2) == 0});
        }
        if self.below(6) == 0 {
            rule["scopes"] = json!(["some:scope"]);
        }
        Some(rule)
    }

    fn rules(&mut self) -> Value {
        let default = self.pick(&["deny", "deny", "allow"]);
        let rules: Vec<Value> = (0..5)
            .filter_map(|_| self.rule(default == "deny"))
            .collect();
        json!({"default": default, "rules": rules})
    }

    /// Tools whose annotations say different things.
    fn script(&mut self, name: &str) -> (Script, Vec<(String, Hints)>) {
        // A legacy server has a session, and a list, for each client.
        let eras = if name == "ops" {
            Eras::Legacy
        } else {
            Eras::Modern
        };
        let (mut script, mut tools) = (Script::new(name).eras(eras), Vec::new());
        for (verb, noun) in VERBS.iter().flat_map(|verb| NOUNS.map(|noun| (verb, noun))) {
            if self.below(3) == 0 {
                continue;
            }
            let tool = format!("{verb}_{noun}");
            let read_only = self.below(2) == 0;
            script = script.tool(Tool::new(format!(
                r#"{{"name":"{tool}","description":"anything","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":{read_only}}}}}"#
            )));
            let hints = Hints {
                read_only,
                destructive: !read_only,
                idempotent: false,
                open_world: true,
            };
            tools.push((tool, hints));
        }
        (script, tools)
    }
}

/// A gateway over servers with random tools under random rules, and all tools as `server:tool`.
struct World {
    rig: Rig,
    rules: Option<AccessRules>,
    tools: Vec<(&'static str, String, Hints)>,
    _servers: Vec<http::Server>,
}

impl World {
    async fn random(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let (mut servers, mut running, mut tools) = (Vec::new(), Vec::new(), Vec::new());
        for name in SERVERS {
            let (script, own) = numbers.script(name);
            let (mut server, fixture) = over_http(name, script, Format::Json).await;
            server.trust_annotations = numbers.below(2) == 0;
            tools.extend(own.into_iter().map(|(tool, hints)| (name, tool, hints)));
            servers.push(server);
            running.push(fixture);
        }
        let access = access(&numbers.rules());
        let mut rules = None;
        let rig = Rig::with(servers, |config| {
            config.access = access;
            rules = AccessRules::new(config);
        })
        .await;
        Self {
            rig,
            rules,
            tools,
            _servers: running,
        }
    }

    /// The tools that the rules let a caller see, as `server:tool`.
    fn expected(&self, caller: &str) -> BTreeSet<String> {
        let groups = BTreeSet::new();
        let subject = Subject {
            name: caller,
            groups: &groups,
            scopes: None,
        };
        let seen = self.tools.iter().filter(|(server, tool, hints)| {
            let item = Item {
                hints: Some(*hints),
                ..Item::parse(&format!("{server}:tool/{tool}")).map_or_else(
                    || panic!("{server}:{tool}"),
                    |item| Item {
                        server,
                        name: tool,
                        ..item
                    },
                )
            };
            let decided = self.rules.as_ref().map(|rules| rules.decide(subject, item));
            !matches!(decided, Some(AccessDecision::Denied(_)))
        });
        seen.map(|(server, tool, _)| format!("{server}:{tool}"))
            .collect()
    }
}

fn value(answer: &Response) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("{}", text(&answer.body)))
}

fn names(answer: &Response) -> Vec<String> {
    let value = value(answer);
    let tools = value["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("{value}")).iter();
    tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// Two answers that differ in the name that was asked for and in nothing else.
fn assert_same(one: (&Response, &str), other: (&Response, &str)) {
    let [one, other] = [one, other].map(|(answer, name)| {
        let headers: Vec<_> = ["content-type", "content-length", "www-authenticate"]
            .map(|header| answer.header(header).map(str::to_owned))
            .into();
        (
            answer.status,
            headers,
            text(&answer.body).replace(name, "NAME"),
        )
    });
    assert_eq!(one.0, other.0);
    assert_eq!(one.1[0], other.1[0]);
    assert_eq!(one.1[2], other.1[2]);
    assert_eq!(one.2, other.2);
}

async fn call(client: &HttpClient, tool: &str) -> Response {
    client.call(tool, "{}").await.expect("an answer")
}

async fn routed(client: &HttpClient, router: &str, tool: &str) -> Response {
    let arguments = json!({"name": tool}).to_string();
    client.call(router, &arguments).await.expect("an answer")
}

/// Everything that a caller can ask about each tool agrees with what it is listed.
async fn check_caller(world: &World, caller: &str, client: impl Fn(&str) -> HttpClient) {
    let expected = world.expected(caller);
    let (all, router) = (client("/mcp/all"), client("/mcp"));
    let list = all.request("tools/list", "{}").await.expect("an answer");
    let merged: BTreeSet<String> = names(&list)
        .iter()
        .map(|name| name.replacen("__", ":", 1))
        .collect();
    assert_eq!(merged, expected, "{caller}");
    let arguments = json!({"query": "anything", "limit": 50}).to_string();
    let found = router.call("retrieve_tools", &arguments).await;
    let found: Value = serde_json::from_str(&result(&found.expect("an answer"))).expect("JSON");
    let found: Value =
        serde_json::from_str(found["content"][0]["text"].as_str().expect("a text")).expect("JSON");
    let hits = found["tools"].as_array().expect("a list").iter();
    let hits: BTreeSet<String> = hits
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(hits, expected, "{caller}");
    assert_eq!(found["found"], expected.len());
    for server in SERVERS {
        let own = client(&format!("/mcp/s/{server}"));
        let listed = own.request("tools/list", "{}").await.expect("an answer");
        let expected = expected
            .iter()
            .filter(|name| name.starts_with(&format!("{server}:")));
        let expected: Vec<&str> = expected
            .filter_map(|name| Some(name.split_once(':')?.1))
            .collect();
        let mut listed = if listed.status == 404 {
            Vec::new()
        } else {
            names(&listed)
        };
        listed.sort_unstable();
        assert_eq!(listed, expected, "{caller} {server}");
    }
    for (server, tool, _) in &world.tools {
        let human = format!("{server}:{tool}");
        check_tool(&client, (server, tool), expected.contains(&human)).await;
    }
}

/// A tool that is listed can be called and described everywhere; one that is not is as if it did not exist.
async fn check_tool(
    client: &impl Fn(&str) -> HttpClient,
    (server, tool): (&str, &str),
    is_listed: bool,
) {
    let (own, all) = (client(&format!("/mcp/s/{server}")), client("/mcp/all"));
    // Without a session where the server is not there for the caller.
    let own = own.handshake("2025-11-25").await.unwrap_or(own);
    let router = client("/mcp");
    let (human, wire) = (format!("{server}:{tool}"), format!("{server}__{tool}"));
    let answers = [
        (
            call(&own, tool).await,
            call(&own, "no_such").await,
            tool,
            "no_such",
        ),
        (
            call(&all, &wire).await,
            call(&all, "x__no_such").await,
            &wire,
            "x__no_such",
        ),
        (
            routed(&router, "call_tool_destructive", &human).await,
            routed(&router, "call_tool_destructive", "crm:no_such").await,
            &human,
            "crm:no_such",
        ),
        (
            routed(&router, "describe_tool", &human).await,
            routed(&router, "describe_tool", "crm:no_such").await,
            &human,
            "crm:no_such",
        ),
    ];
    for (answer, unknown, asked, missing) in &answers {
        if is_listed {
            let value = value(answer);
            assert!(
                value["error"].is_null() && value["result"]["isError"] != true,
                "{value}"
            );
        } else {
            assert_same((answer, asked), (unknown, missing));
        }
    }
}

#[tokio::test]
async fn what_is_listed_is_what_a_call_knows_whatever_the_rules() {
    let mut denied = 0;
    for seed in 1..=12 {
        let world = World::random(seed).await;
        check_caller(&world, "key:client", |path| world.rig.client(path)).await;
        check_caller(&world, "key:operator", |path| world.rig.admin(path)).await;
        denied += world.tools.len() - world.expected("key:client").len();
    }
    assert!(denied > 20, "the rules deny something: {denied}");
}

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("JSON")
}

fn answers(script: &mut Script, key: &str, result: &Value) {
    let answer = Answer::result(Body::new(result.to_string()));
    let steps = vec![vec![Step::Answer(answer)]];
    script.methods.insert(key.to_owned(), steps);
}

/// A server with two prompts and two resources.
fn library() -> Script {
    let mut script = Script::new("crm")
        .tool(Tool::named("get"))
        .tool(Tool::named("put"));
    script.capabilities = Some(raw(&json!({
        "tools": {}, "prompts": {}, "completions": {}, "resources": {"subscribe": true},
    })));
    let prompts = json!({"prompts": [{"name": "open"}, {"name": "closed", "x": 1.5}], "cacheScope": "public", "ttlMs": 5});
    answers(&mut script, "prompts/list", &prompts);
    let resources = json!({"resources": [{"uri": "doc:open", "name": "o"}, {"uri": "doc:closed", "name": "c"}]});
    answers(&mut script, "resources/list", &resources);
    let templates = json!({"resourceTemplates": [{"uriTemplate": "doc:{x}", "name": "o"}, {"uriTemplate": "log:{x}", "name": "c"}]});
    answers(&mut script, "resources/templates/list", &templates);
    answers(&mut script, "prompts/get", &json!({"messages": []}));
    answers(&mut script, "resources/read", &json!({"contents": []}));
    answers(&mut script, "resources/subscribe", &json!({}));
    answers(
        &mut script,
        "completion/complete",
        &json!({"completion": {"values": []}}),
    );
    script
}

async fn library_rig() -> (Rig, tempfile::TempDir) {
    let (server, folder) = scripted("crm", &library());
    let rules = json!({"default": "deny", "rules": [
        {"callers": ["key:client"], "allow": ["crm:get", "crm:prompt/open", "crm:resource/doc:*"], "deny": ["crm:resource/doc:closed"]},
        {"callers": ["key:operator"], "allow": ["*:*"]}]});
    let rig = Rig::with(vec![server], |config| config.access = access(&rules)).await;
    (rig, folder)
}

#[tokio::test]
async fn prompts_and_resources_follow_the_rules_on_every_endpoint() {
    let (rig, _folder) = library_rig().await;
    for (path, prompt) in [("/mcp/s/crm", ""), ("/mcp/all", "crm__"), ("/mcp", "crm__")] {
        let client = rig
            .client(path)
            .handshake("2025-11-25")
            .await
            .expect("a session");
        let listed = async |method: &str| {
            let answer = client.request(method, "{}").await.expect("an answer");
            value(&answer)["result"].to_string()
        };
        let prompts = listed("prompts/list").await;
        assert!(
            prompts.contains("open") && !prompts.contains("closed"),
            "{prompts}"
        );
        assert!(!prompts.contains("public"), "{prompts}");
        let resources = listed("resources/list").await;
        assert!(
            resources.contains("doc:open") && !resources.contains("doc:closed"),
            "{resources}"
        );
        let templates = listed("resources/templates/list").await;
        assert!(
            templates.contains("doc:{x}") && !templates.contains("log:"),
            "{templates}"
        );
        for (method, used, denied, missing) in [
            (
                "prompts/get",
                json!({"name": format!("{prompt}open")}),
                json!({"name": format!("{prompt}closed")}),
                json!({"name": format!("{prompt}nothing")}),
            ),
            (
                "resources/read",
                json!({"uri": "doc:open"}),
                json!({"uri": "doc:closed"}),
                json!({"uri": "log:nothing"}),
            ),
            (
                "resources/subscribe",
                json!({"uri": "doc:open"}),
                json!({"uri": "doc:closed"}),
                json!({"uri": "log:nothing"}),
            ),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": format!("{prompt}open")}, "argument": {"name": "a", "value": ""}}),
                json!({"ref": {"type": "ref/prompt", "name": format!("{prompt}closed")}, "argument": {"name": "a", "value": ""}}),
                json!({"ref": {"type": "ref/prompt", "name": format!("{prompt}nothing")}, "argument": {"name": "a", "value": ""}}),
            ),
        ] {
            let ask = async |params: &Value| {
                let answer = client.request(method, &params.to_string()).await;
                answer.expect("an answer")
            };
            let used = value(&ask(&used).await);
            assert!(used["error"].is_null(), "{path} {method} {used}");
            let (denied, missing) = (ask(&denied).await, ask(&missing).await);
            assert!(!value(&denied)["error"].is_null(), "{path} {method}");
            assert_same((&denied, "-"), (&missing, "-"));
        }
        let operator = rig.admin(path).request("prompts/list", "{}").await;
        assert!(text(&operator.expect("an answer").body).contains("closed"));
    }
}

#[tokio::test]
async fn a_denied_call_is_recorded_with_the_rule_that_denied_it() {
    let (rig, _folder) = library_rig().await;
    let refused = rig.client("/mcp/all").call("crm__put", "{}").await;
    assert!(text(&refused.expect("an answer").body).contains("unknown tool"));
    let record = rig.activity("type=policy_decision").await;
    assert_eq!(record["decision"], "blocked", "{record}");
    assert_eq!(record["reason"], "access.default");
    assert_eq!(record["findings"][0]["stage"], "access");
    assert_eq!(record["findings"][0]["rule"], "access.denied");
    assert_eq!(
        (&record["server"], &record["tool"]),
        (&json!("crm"), &json!("put"))
    );
    assert_eq!(record["caller"], "key:client");
    let unknown = rig.client("/mcp/all").call("crm__nothing", "{}").await;
    assert!(text(&unknown.expect("an answer").body).contains("unknown tool"));
    assert_eq!(rig.activities("type=policy_decision").await.len(), 1);
    // A server of which nothing is allowed is not there.
    let (one, _folder) = scripted("crm", &library());
    let rules =
        json!({"default": "deny", "rules": [{"callers": ["key:operator"], "allow": ["*:*"]}]});
    let rig = Rig::with(vec![one], |config| config.access = access(&rules)).await;
    let [denied, missing] = ["/mcp/s/crm", "/mcp/s/none"].map(|path| {
        let client = rig.client(path);
        async move { client.request("tools/list", "{}").await.expect("an answer") }
    });
    assert_same((&denied.await, "-"), (&missing.await, "-"));
}

#[tokio::test]
async fn a_caller_over_its_limit_is_told_when_to_try_again() {
    let (server, _folder) = scripted("crm", &library());
    let rule = json!([{"callers": ["key:client"], "calls": "2/h"}]);
    let rig = Rig::with(vec![server], |config| config.limits = limits(&rule)).await;
    let client = rig.client("/mcp/s/crm");
    for _ in 0..2 {
        assert!(value(&call(&client, "get").await)["error"].is_null());
    }
    let refused = refusal(&call(&client, "get").await);
    assert!(
        refused.starts_with("too many calls in a short time; try again in "),
        "{refused}"
    );
    let record = rig.activity("type=tool_call&status=rejected").await;
    assert_eq!(
        (&record["caller"], &record["reason"]),
        (&json!("key:client"), &json!(refused))
    );
    assert!(value(&call(&rig.admin("/mcp/s/crm"), "get").await)["error"].is_null());
    let listed = client.request("tools/list", "{}").await.expect("an answer");
    assert_eq!(names(&listed), ["get", "put"]);
}

#[tokio::test]
async fn calls_under_way_are_counted_until_they_end() {
    let mut slow = Tool::named("slow");
    slow.replies = vec![vec![Step::Stall {}]];
    let script = Script::new("crm").tool(slow).tool(Tool::named("get"));
    let script = script.eras(Eras::Modern);
    let (server, _fixture, mut log) = logged_http("crm", script, Format::Json).await;
    let rule = json!([{"callers": ["*"], "concurrent": 1}]);
    let rig = Rig::with(vec![server], |config| config.limits = limits(&rule)).await;
    let client = rig.client("/mcp/s/crm");
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.call("slow", "{}").await }
    });
    let is_call = |entry: &Entry| text(entry.body()).contains(r#""tools/call""#);
    received(&mut log, is_call).await;
    let refused = refusal(&call(&client, "get").await);
    assert!(
        refused.contains("try again when one has ended"),
        "{refused}"
    );
    // The client goes away, and its call with it.
    waiting.abort();
    loop {
        if value(&call(&client, "get").await)["result"]["isError"] != true {
            break;
        }
    }
}

#[tokio::test]
async fn servers_without_rules_stay_as_they_are() {
    let (server, _folder): (Server, _) = scripted("crm", &library());
    let rig = Rig::over(vec![server]).await;
    let listed = rig.client("/mcp/s/crm").request("prompts/list", "{}").await;
    let listed = text(&listed.expect("an answer").body);
    assert!(listed.contains(r#""cacheScope":"public""#), "{listed}");
}
