//! `countersign auth`: logins of the running gateway to servers that need a token. The gateway begins and completes a login;
//! this command only brings the user's browser to the authorization server and back.

mod browser;
mod callback;
mod login;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::gateway_option::GatewayOption;
use crate::format::{Format, FormatOption};
use crate::json::{list, unquoted};
use crate::remote::{Remote, Response};
use crate::report::{Failure, printable};
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign auth login crm
  countersign auth login crm --scope contacts:read --no-browser
  countersign auth status
  countersign auth logout crm";

const STATUS: &str = "\
Examples:
  countersign auth status
  countersign auth status crm -o json
  countersign auth status crm --caller key:ci

Exit codes: 0 every server that is shown has a token, 1 one of them needs a login or there is no such server, 3 no gateway
is running.";

const LOGOUT: &str = "\
Examples:
  countersign auth logout crm
  countersign auth logout crm --caller key:ci

The gateway forgets the token and makes no more calls to the server. The authorization server is not told; revoke the access
there as well if the token may be in other hands.
Exit codes: 0 there was a token, 1 there was none or there is no such server, 3 no gateway is running.";

/// Log in to servers that need a token, for the running gateway
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Login(login::Login),
    /// Show which servers have a token, and until when
    #[command(after_help = STATUS)]
    Status(Status),
    /// Make the running gateway forget the token of a server
    #[command(after_help = LOGOUT)]
    Logout(Logout),
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The server; every server with `oauth` if not given
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    /// Show the token of this caller, at a server where each caller has one of its own
    #[arg(long, value_name = "CALLER", requires = "server")]
    caller: Option<String>,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The server
    #[arg(value_name = "SERVER")]
    server: String,
    /// Forget the token of this caller, at a server where each caller has one of its own
    #[arg(long, value_name = "CALLER")]
    caller: Option<String>,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Login(login) => login::run(login, console),
        Command::Status(status) => show(status, console),
        Command::Logout(logout) => log_out(logout, console),
    }
}

fn show(arguments: &Status, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let gateway = arguments.gateway.remote(console)?;
    let shown = match &arguments.server {
        Some(server) => {
            let caller = arguments.caller.as_deref();
            let Some(answer) = ask(&gateway, server, caller, Remote::get)? else {
                return Ok(no_server(server, console));
            };
            vec![answer.json()?]
        }
        None => all(&gateway)?,
    };
    match arguments.format.output {
        Format::Json => shown.iter().try_for_each(|one| console.json(one))?,
        Format::Text if shown.is_empty() => console.message("no server has \"oauth\"\n"),
        Format::Text => console.data(rendered(&shown))?,
    }
    let is_fine = |one: &Value| one["state"] != "needs_login";
    Ok(Exit::answer(shown.iter().all(is_fine)))
}

/// The state of each server with `oauth`.
fn all(gateway: &Remote) -> Result<Vec<Value>, Failure> {
    let servers = gateway.get("/api/v1/servers")?.json()?;
    let names = list(&servers["servers"]).iter();
    let names = names.filter_map(|server| server["name"].as_str());
    let mut found = Vec::new();
    for name in names {
        // 409: the server has no `oauth`.
        if let Some(answer) = ask(gateway, name, None, Remote::get)?
            && answer.status != 409
        {
            found.push(answer.json()?);
        }
    }
    Ok(found)
}

fn rendered(shown: &[Value]) -> String {
    let head = ["server", "state", "expires at", "refresh", "scope"];
    let rows = shown.iter().map(|one| {
        let refresh = one["can_refresh"]
            .as_bool()
            .map(|it| if it { "yes" } else { "no" });
        let text = |key: &str| one[key].as_str().map(printable).unwrap_or_default();
        [
            unquoted(&one["server"]),
            unquoted(&one["state"]),
            text("expires_at"),
            refresh.unwrap_or_default().to_owned(),
            text("scope"),
        ]
    });
    let mut text = table(&head, rows);
    for one in shown {
        let server = unquoted(&one["server"]);
        let missing: Vec<_> = list(&one["missing_scopes"]).iter().map(unquoted).collect();
        let mut hint = format!("countersign auth login {server}");
        if let Some(caller) = one["caller"].as_str() {
            hint.push_str(" --caller ");
            hint.push_str(&printable(caller));
        }
        if !missing.is_empty() {
            let missing = printable(&missing.join(" "));
            text.extend([
                &*server,
                ": it asked for more scopes (",
                &missing,
                "); ",
                &hint,
                "\n",
            ]);
        } else if one["state"] == "needs_login" {
            text.extend([&*server, ": ", &hint, "\n"]);
        }
    }
    text
}

fn log_out(arguments: &Logout, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let gateway = arguments.gateway.remote(console)?;
    let server = &arguments.server;
    let caller = arguments.caller.as_deref();
    let Some(answer) = ask(&gateway, server, caller, Remote::delete)? else {
        return Ok(no_server(server, console));
    };
    let was_there = answer.json()?["removed"] == true;
    let text = || {
        if was_there {
            format!("logged out of {server}\n")
        } else {
            format!("there was no token for {server}\n")
        }
    };
    let value = json!({"server": server, "removed": was_there});
    arguments.format.print(&value, text, console)?;
    Ok(Exit::answer(was_there))
}

/// Asks about the token of a server; nothing if there is no such server.
fn ask(
    gateway: &Remote,
    server: &str,
    caller: Option<&str>,
    method: fn(&Remote, &str) -> Result<Response, Failure>,
) -> Result<Option<Response>, Failure> {
    // What cannot be a name must not become another path.
    if !countersign_config::is_server_name(server) {
        return Ok(None);
    }
    let mut path = format!("/api/v1/servers/{server}/auth");
    if let Some(caller) = caller {
        path.push_str("?caller=");
        path.extend(form_urlencoded::byte_serialize(caller.as_bytes()));
    }
    let answer = method(gateway, &path)?;
    Ok(Some(answer).filter(|answer| answer.status != 404))
}

fn no_server(server: &str, console: &mut Console<'_>) -> Exit {
    let server = printable(server);
    let hint = "see `countersign servers list`";
    console.message(format!("there is no server {server}; {hint}\n"));
    Exit::No
}
