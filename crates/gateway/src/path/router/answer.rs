//! The answers of the router tools that only look things up. What they show of a tool is what the
//! lists show of it, under the name it is called by. Texts and schemas that would flood a model are
//! cut or left out where several tools are shown. All of it is text that a model reads, and is cleaned as such.

use countersign_client::State;
use countersign_inspect::{ClientEra, Listing, Refusal};
use countersign_tape::{Edits, MemberPosition, Span, quote};
use countersign_wire::json::member;

use super::search::{Hit, search};
use crate::state::{CallerView, Denial, Hidden, Naming, Server, VisibleTool, names, truncate};

const FEW: usize = 5;
const MOST: usize = 50;
/// The longest description and the longest schema shown among others.
const LONGEST: usize = 4096;
/// Between two tools. The space keeps the end of one and the beginning of the next from making up a token.
const SEPARATOR: &str = ", ";

/// Why a router tool has no answer about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// In words for the model.
    Refused(Refusal),
    /// A rule denies the tool to the caller.
    Denied(Denial),
}

impl From<Refusal> for NotFound {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Hidden> for NotFound {
    fn from(hidden: Hidden) -> Self {
        match hidden {
            Hidden::Unknown => Self::Refused(Refusal::UnknownTool),
            Hidden::Denied(denial) => Self::Denied(denial),
        }
    }
}

/// The tools a question finds.
pub(crate) fn retrieve(
    view: CallerView<'_>,
    arguments: &[u8],
    client: ClientEra,
) -> Result<Listing, Refusal> {
    let whole = Span::whole(arguments);
    let query = member(arguments, whole, "query").and_then(|query| query.string(arguments));
    let query = query.ok_or(Refusal::BadArguments)?;
    let limit = match member(arguments, whole, "limit") {
        None => FEW,
        Some(limit) => number(limit.bytes(arguments)).ok_or(Refusal::BadArguments)?,
    };
    let (hits, found) = search(view, &query, limit.clamp(1, MOST));
    let tools: Vec<String> = hits.iter().map(|hit| brief(hit, client)).collect();
    let hint = match hits.len() {
        0 => r#","hint":"nothing found; try other words, or fewer""#,
        _ => "",
    };
    Ok(Listing::admit(format!(
        r#"{{"tools":[{}],"found":{found}{hint}}}"#,
        tools.join(SEPARATOR)
    )))
}

/// Everything about one tool.
pub(crate) fn describe(
    view: CallerView<'_>,
    arguments: &[u8],
    client: ClientEra,
) -> Result<Listing, NotFound> {
    let name = member(arguments, Span::whole(arguments), "name");
    let name = name.and_then(|name| name.string(arguments));
    let tool = find(view, &name.ok_or(Refusal::BadArguments)?)?;
    let listed = tool.list_entry(Naming::Human, client);
    let mut edits = Edits::new(&listed);
    let access = format!(r#""{}""#, tool.access().as_str());
    let whole = Span::whole(&listed);
    edits.insert_member(whole, MemberPosition::Last, "call_with", access.as_bytes());
    if !is_up(tool.server()) {
        edits.insert_member(whole, MemberPosition::Last, "server_is_down", b"true");
    }
    let described = edits.apply().map_err(|_| Refusal::Internal)?.to_vec();
    Ok(tool.text_block(described))
}

/// The tool of a name as people and arguments write it, if the caller may see it.
pub(crate) fn find<'a>(view: CallerView<'a>, name: &str) -> Result<VisibleTool<'a>, NotFound> {
    let (server, tool) = names::split(name).ok_or(Refusal::UnknownTool)?;
    let Some(running) = view.snapshot().server(server) else {
        let configured = view.snapshot().settings.config.server(server);
        let is_disabled = configured.is_some_and(|server| !server.is_startable());
        return Err(if is_disabled && view.may_reach(server) {
            Refusal::Disabled.into()
        } else {
            Refusal::UnknownTool.into()
        });
    };
    Ok(view.server_tool(running, tool)?)
}

fn brief(hit: &Hit<'_>, client: ClientEra) -> String {
    let listed = hit.tool.list_entry(Naming::Human, client);
    let value = |name| member(&listed, Span::whole(&listed), name);
    let mut brief = vec![b'{'];
    let mut push = |name: &str, value: &[u8]| {
        if brief.len() > 1 {
            brief.push(b',');
        }
        brief.extend(format!("\"{name}\":").as_bytes());
        brief.extend(value);
    };
    let name = value("name").map_or(&b"null"[..], |name| name.bytes(&listed));
    push("name", name);
    if let Some(text) = value("description").and_then(|text| text.string(&listed)) {
        push("description", &quote(truncate(&text, LONGEST)));
    }
    push("call_with", &quote(hit.tool.access().as_str()));
    match value("inputSchema").map(|schema| schema.bytes(&listed)) {
        Some(schema) if schema.len() <= LONGEST => push("inputSchema", schema),
        _ => push("inputSchema_is_long", br#""ask describe_tool""#),
    }
    if !is_up(hit.tool.server()) {
        push("server_is_down", b"true");
    }
    brief.push(b'}');
    let shown = hit.tool.text_block(brief);
    String::from_utf8_lossy(shown.bytes()).into_owned()
}

fn is_up(server: &Server) -> bool {
    matches!(
        &*server.upstream.state().borrow(),
        State::Ready(_) | State::Starting
    )
}

fn number(token: &[u8]) -> Option<usize> {
    std::str::from_utf8(token).ok()?.parse().ok()
}
