//! The changes that operators make: each is a form with the token of its session, and goes the way of a change over the REST
//! interface, so that it is written to the file, applied and recorded with its caller.

use countersign_config::ServerChange;
use countersign_console::{NewServer, href, query};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::visit::Visit;
use super::{
    ApiError, attempt, field, form as read_form, html, message, new_server, see_other_with,
    servers, sign_in,
};
use crate::config_change::{AppliedConfig, ConfigRefusal, ReloadRequest};
use crate::events;
use crate::path::reply::Body;

/// The fields of a form.
pub(super) type Fields = Vec<(String, String)>;

/// Answers a form of a person who is signed in.
pub(super) async fn answer(visit: &Visit<'_>, request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let fields = match read_form(visit.services, body).await {
        Ok(fields) => fields,
        Err(refused) => return message(visit, refused),
    };
    if !visit.session.has_token(field(&fields, "csrf")) {
        let why = "This form is not of your session. Load the page again.";
        return message(visit, ApiError::new(StatusCode::FORBIDDEN, why));
    }
    let path = head.uri.path().strip_prefix("/console/").unwrap_or("");
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["sign-out"] => return sign_in::close(visit, &head.headers).await,
        ["try"] => return html(StatusCode::OK, attempt::verdict(visit, &fields).await),
        ["try", "case"] => return attempt::case_file(visit, &fields).await,
        _ => {}
    }
    if !visit.is_operator() {
        events::NotAdmin { header: "form" }.emit(&visit.services.events);
        let why = "Changing something needs the right to manage: a key that has it, such as the admin_key, or a user in a group of auth.manage_groups. Sign out, and sign in with it.";
        return message(visit, ApiError::new(StatusCode::FORBIDDEN, why));
    }
    let back = match parts.as_slice() {
        ["policy", "mode"] => set_mode(visit, &fields).await,
        ["policy", "undo"] => undo(visit).await,
        ["servers"] => match add_server(visit, &fields).await {
            Ok(back) => Some(back),
            Err(typed) => {
                let page = servers::list_with(visit, *typed);
                return html(StatusCode::BAD_REQUEST, page);
            }
        },
        ["servers", name, change] => server(visit, name, change).await,
        _ => None,
    };
    let back = back.and_then(|back| HeaderValue::from_str(&back).ok());
    match back {
        Some(back) => see_other_with(back, None),
        None => message(visit, ApiError::not_found("There is no such form.")),
    }
}

/// Adds the server of a form. Gives the page to show next, or what was typed, to be shown again with why it was refused.
async fn add_server(visit: &Visit<'_>, fields: &Fields) -> Result<String, Box<NewServer>> {
    let typed = NewServer {
        name: field(fields, "name").trim().to_owned(),
        url: field(fields, "url").trim().to_owned(),
        command: field(fields, "command").trim().to_owned(),
        args: field(fields, "args").to_owned(),
        more: field(fields, "more").trim().to_owned(),
        allows_commands: false,
    };
    let refuse = |text: String, typed| {
        visit.session.tell(true, text);
        Err(Box::new(typed))
    };
    let definition = match new_server::definition(&typed) {
        Ok(definition) => definition,
        Err(why) => return refuse(format!("Not added: {why}"), typed),
    };
    let change = match ServerChange::add(&definition) {
        Ok(change) => change,
        Err(error) => return refuse(format!("Not added: {error}"), typed),
    };
    let page = href(&["servers", &typed.name]);
    let outcome = visit.request(ReloadRequest::Server(change)).await;
    let patch = new_server::patch(&typed.name, &definition);
    tell(visit, &outcome, "The server was added.", Some(&patch));
    match outcome {
        Ok(_) => Ok(page),
        Err(_) => Err(Box::new(typed)),
    }
}

/// Restarts, disables or enables a server. Gives the page to show next.
async fn server(visit: &Visit<'_>, name: &str, change: &str) -> Option<String> {
    let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
    let page = href(&["servers", &name]);
    let (request, done) = match change {
        "restart" => (ReloadRequest::Restart(name), "The server was restarted."),
        "disable" => {
            let change = ServerChange::Disable(name);
            (
                ReloadRequest::Server(change),
                "The server is not used any more.",
            )
        }
        "enable" => {
            let change = ServerChange::Enable(name);
            (
                ReloadRequest::Server(change),
                "The server is used from now on.",
            )
        }
        _ => return None,
    };
    let outcome = visit.request(request).await;
    tell(visit, &outcome, done, None);
    Some(page)
}

/// Sets the mode of everything, a server or a tool, and remembers how to undo it.
async fn set_mode(visit: &Visit<'_>, fields: &Fields) -> Option<String> {
    let [server, tool, mode] = ["server", "tool", "mode"].map(|name| field(fields, name));
    let page = query(
        &["policy"],
        &[("server", server), ("tool", tool), ("mode", mode)],
    );
    if !matches!(mode, "off" | "warn" | "strict") || (server.is_empty() && !tool.is_empty()) {
        visit
            .session
            .tell(true, "This mode or tool is not known.".to_owned());
        return Some(href(&["policy"]));
    }
    let before = mode_at(visit, server, tool);
    let patch = mode_patch(server, tool, Some(mode)).to_string();
    let outcome = visit.request(ReloadRequest::Patch(patch.clone())).await;
    let of = [server, tool].map(|part| if part.is_empty() { "*" } else { part });
    let change = format!("{mode} for {}", of.join(":"));
    if outcome.is_ok() {
        let back = mode_patch(server, tool, before).to_string();
        visit.session.set_undo(Some((back, change.clone())));
    }
    tell(
        visit,
        &outcome,
        &format!("Applied: {change}."),
        Some(&patch),
    );
    Some(page)
}

/// Undoes the last change of the mode that this session made.
async fn undo(visit: &Visit<'_>) -> Option<String> {
    let Some((patch, change)) = visit.session.undo() else {
        visit
            .session
            .tell(true, "There is nothing to undo.".to_owned());
        return Some(href(&["policy"]));
    };
    let outcome = visit.request(ReloadRequest::Patch(patch.clone())).await;
    if outcome.is_ok() {
        visit.session.set_undo(None);
    }
    tell(visit, &outcome, &format!("Undone: {change}."), Some(&patch));
    Some(href(&["policy"]))
}

/// The mode that is set at exactly this level.
fn mode_at(visit: &Visit<'_>, server: &str, tool: &str) -> Option<&'static str> {
    let config = &visit.snapshot.settings.config;
    let mode = match (server, tool) {
        ("", _) => config.output.mode,
        (server, "") => config.server(server)?.output.mode,
        (server, tool) => config.server(server)?.tools.get(tool)?.output.mode,
    };
    mode.map(countersign_inspect::Mode::as_str)
}

/// The JSON merge patch that sets the mode at a level; nothing removes it.
pub(super) fn mode_patch(server: &str, tool: &str, mode: Option<&str>) -> Value {
    let set = json!({ "output_validation": { "mode": mode } });
    let member = |name: &str, value: Value| {
        let mut object = serde_json::Map::new();
        object.insert(name.to_owned(), value);
        Value::Object(object)
    };
    match (server, tool) {
        ("", _) => set,
        (server, "") => json!({ "mcpServers": member(server, set) }),
        (server, tool) => {
            let tools = json!({ "tools": member(tool, set) });
            json!({ "mcpServers": member(server, tools) })
        }
    }
}

/// Keeps what a change came to for the next page. Where the file cannot be changed, that is the patch to apply by hand.
fn tell(
    visit: &Visit<'_>,
    outcome: &Result<AppliedConfig, ConfigRefusal>,
    done: &str,
    patch: Option<&str>,
) {
    let refused = match outcome {
        Ok(applied) if applied.needs_restart.is_empty() => {
            return visit.session.tell(false, done.to_owned());
        }
        Ok(_) => {
            return visit
                .session
                .tell(false, format!("{done} It waits for a restart."));
        }
        Err(refused) => refused,
    };
    let mut text = "Not changed".to_owned();
    for notice in refused.notices() {
        text.extend([": ", &notice.message]);
        if let Some(hint) = &notice.hint {
            text.extend(["; ", hint]);
        }
    }
    let by_hand = matches!(
        refused,
        ConfigRefusal::NoFile | ConfigRefusal::Unwritable(_)
    );
    if let (true, Some(patch)) = (by_hand, patch) {
        text.extend([". To change it by hand, merge this into the file: ", patch]);
    }
    visit.session.tell(true, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_its_level() {
        let strict = Some("strict");
        assert_eq!(
            mode_patch("", "", strict),
            json!({"output_validation": {"mode": "strict"}})
        );
        assert_eq!(
            mode_patch("a", "", None),
            json!({"mcpServers": {"a": {"output_validation": {"mode": null}}}})
        );
        assert_eq!(
            mode_patch("a", "b", strict),
            json!({"mcpServers": {"a": {"tools": {"b": {"output_validation": {"mode": "strict"}}}}}})
        );
    }
}
