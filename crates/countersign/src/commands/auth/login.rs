//! `countersign auth login`: a user logs in to a server with a browser.

use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, anyhow};
use clap::Args;
use serde_json::{Value, json};

use super::callback::Callback;
use super::{browser, no_server};
use crate::commands::gateway_option::GatewayOption;
use crate::format::FormatOption;
use crate::remote::Remote;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign auth login crm
  countersign auth login crm --scope contacts:read --scope contacts:write
  countersign auth login crm --no-browser
  countersign auth login crm --port 8912
  countersign auth login crm --caller key:ci

The running gateway begins the login and keeps the token; this command opens a browser and listens on 127.0.0.1 until the
browser comes back. With --no-browser the address is printed, and the address that the browser was sent back to is read from
standard input. Fix the port if the authorization server knows the redirect address http://127.0.0.1:PORT/callback only.
With --caller the token is for the calls of that caller alone, at a server with \"credentials\": \"caller\".
Exit codes: 0 logged in, 1 there is no such server, 2 the login failed, 3 no gateway is running.";

/// No address that a browser comes back to is longer.
const MAX_ADDRESS: usize = 64 << 10;

/// Log in to a server with a browser
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Login {
    /// The server
    #[arg(value_name = "SERVER")]
    server: String,
    /// A scope to ask for, in place of those of the configuration. May be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Print the address instead of opening a browser, and read the redirected address from standard input
    #[arg(long)]
    no_browser: bool,
    /// The caller that the token is for, such as key:ci; the gateway itself if not given
    #[arg(long, value_name = "CALLER")]
    caller: Option<String>,
    /// The port to listen on; any free one if not given
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Login, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let gateway = arguments.gateway.remote(console)?;
    let server = &arguments.server;
    if !countersign_config::is_server_name(server) {
        return Ok(no_server(server, console));
    }
    let port = arguments.port.unwrap_or(0);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        let error = anyhow!(error).context(format!("cannot listen on 127.0.0.1:{port}"));
        Failure::usage(error).hint("choose another --port")
    })?;
    let address = listener.local_addr().context("no address")?;
    let begin = json!({
        "redirect_uri": format!("http://{address}/callback"),
        "scopes": arguments.scopes,
        "caller": arguments.caller,
    });
    let path = format!("/api/v1/servers/{server}/login");
    let begun = gateway.post(&path, begin.to_string().as_bytes())?;
    if begun.status == 404 {
        return Ok(no_server(server, console));
    }
    let begun = begun.json()?;
    let url = checked_url(&begun)?;
    let completion = Completion {
        gateway: &gateway,
        path: format!("{path}/complete"),
        caller: arguments.caller.as_deref(),
    };
    let status = if arguments.no_browser {
        drop(listener);
        paste(&completion, url, console)?
    } else {
        browse(&completion, url, &listener, console)?
    };
    let text = || format!("logged in to {server}\n");
    arguments.format.print(&status, text, console)
}

/// The address for the browser. It comes from the authorization server, so it is looked at before anything is done with it.
fn checked_url(begun: &Value) -> Result<&str, Failure> {
    let url = begun["authorization_url"].as_str().unwrap_or_default();
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    if !is_web || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
        let error = anyhow!("the address of the authorization server is not one for a browser");
        return Err(Failure::usage(error));
    }
    Ok(url)
}

/// Opens a browser and waits until it comes back.
fn browse(
    completion: &Completion<'_>,
    url: &str,
    listener: &TcpListener,
    console: &mut Console<'_>,
) -> Result<Value, Failure> {
    let how = if browser::open(url) {
        "A browser has been opened. If it shows nothing, open this address:"
    } else {
        "Open this address in a browser on this machine:"
    };
    console.message(format!("{how}\n  {url}\n"));
    let callback = Callback::wait(listener)?;
    let completed = completion.send(&callback.query);
    callback.answer(completed.is_ok());
    completed
}

/// Prints the address, and reads the one that the browser was sent back to.
fn paste(
    completion: &Completion<'_>,
    url: &str,
    console: &mut Console<'_>,
) -> Result<Value, Failure> {
    console.message(format!(
        "Open this address in a browser:\n  {url}\nThen paste the address that the browser was sent to, which begins with http://127.0.0.1, and press Enter:\n"
    ));
    let line = read_line(console.input()).context("cannot read the address")?;
    let line = String::from_utf8_lossy(&line);
    let address = line.trim();
    let Some((_, query)) = address.split_once('?') else {
        let error = anyhow!("that is not the address that the browser was sent to");
        return Err(Failure::usage(error).hint("it has a `?` and `state=` in it"));
    };
    let query = query.split('#').next().unwrap_or_default();
    completion.send(query)
}

/// A line of standard input, as far as an address can reach.
fn read_line(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < MAX_ADDRESS && input.read(&mut byte)? == 1 && byte != [b'\n'] {
        line.extend(byte);
    }
    Ok(line)
}

/// Where a login is completed, and for which caller.
struct Completion<'a> {
    gateway: &'a Remote,
    path: String,
    caller: Option<&'a str>,
}

impl Completion<'_> {
    fn send(&self, query: &str) -> Result<Value, Failure> {
        let body = json!({ "query": query, "caller": self.caller }).to_string();
        let answer = self.gateway.post(&self.path, body.as_bytes())?;
        answer.json().map_err(|failure| {
            let hint = "begin again with `countersign auth login`";
            if failure.is_usage() {
                failure.hint(printable(hint))
            } else {
                failure
            }
        })
    }
}
