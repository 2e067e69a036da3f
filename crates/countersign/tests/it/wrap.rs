//! One server behind the boundary over stdio, as a desktop client starts it: the client is the fixture's, the server is
//! the fixture's, and what stands between them is the binary.

mod asked;
mod eras;
mod life;
mod messages;
mod notes;
mod state;

use std::process::Command;
use std::time::Duration;

use countersign_fixture::client::StdioClient;
use tokio::io::AsyncReadExt;

use crate::support::{Folder, binary};

/// Far longer than anything takes; reached only when a test fails.
const WAIT: Duration = Duration::from_mins(1);
fn fixture() -> String {
    let path = countersign_fixture::executable().expect("the fixture is built");
    path.to_str().expect("a path in UTF-8").to_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `wrap` in a folder, with its state under `data`; what follows the options is the server's command.
fn command(folder: &Folder, options: &str, server: &[&str]) -> Command {
    let mut command = binary();
    command
        .current_dir(folder.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .args(["wrap", "--data-dir", "data"])
        .args(options.split_whitespace())
        .arg("--")
        .args(server);
    command
}

fn wrapped(folder: &Folder, options: &str, server: &[&str]) -> StdioClient {
    StdioClient::spawn(command(folder, options, server), WAIT).expect("the binary was built")
}

fn preset_of(folder: &Folder, options: &str, name: &str) -> StdioClient {
    wrapped(folder, options, &[&fixture(), "stdio", "--preset", name])
}

/// Everything said on stderr until it is closed.
async fn said(client: &mut StdioClient) -> String {
    let mut stderr = client.take_stderr().expect("stderr is piped");
    let mut said = Vec::new();
    stderr.read_to_end(&mut said).await.expect("readable");
    text(&said)
}

/// Closes the input and waits for a clean end.
async fn finish(mut client: StdioClient) {
    client.close_input();
    assert_eq!(client.next().await.expect("an end"), None);
    let status = client.ended().await.expect("it ends");
    assert_eq!(status.code(), Some(0), "{}", said(&mut client).await);
}
