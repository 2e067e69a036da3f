//! A wrapped server whose pipes are held by the run itself: a real child process, whose standard streams are opened a
//! second time and spoken for. What the client is sent comes out of an in-memory stream.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_config::Server;
use countersign_gateway::WrappedServer;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use super::json::members;
use super::rigs::config;
use super::server::{self, Greeting, ServerAction};

/// Longer than any answer takes; reached only when there is none.
const WAIT: Duration = Duration::from_secs(20);
const ROOM: usize = 1 << 20;

/// One client, one gateway, one server that says what it is told.
pub(crate) struct Pipe {
    to_gateway: WriteHalf<DuplexStream>,
    from_gateway: BufReader<ReadHalf<DuplexStream>>,
    script: Arc<Mutex<Vec<u8>>>,
    next: u64,
    wrapped: JoinHandle<()>,
    _folder: TempDir,
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.wrapped.abort();
    }
}

impl Pipe {
    /// A server of an era, greeted, and a legacy client that can be asked everything.
    pub(crate) async fn start(modern: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ready = folder.path().join("ready");
        let made = std::process::Command::new("mkfifo").arg(&ready).status();
        assert!(made.is_ok_and(|made| made.success()), "mkfifo");
        // It does nothing but keep its pipes open for as long as the gateway lives.
        let idle = format!(
            "echo $$ > '{}'; exec tail --pid=$PPID -f /dev/null",
            ready.display()
        );
        let server = Server::stdio("x", "sh", ["-c".to_owned(), idle]);
        let mut wrapped = WrappedServer::start(config(folder.path(), vec![server]))
            .await
            .expect("a gateway");
        let child = tokio::task::spawn_blocking(move || std::fs::read_to_string(ready));
        let child = child.await.expect("no panic").expect("the child's number");
        let script = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(serve(streams(child.trim()), Arc::clone(&script), modern));
        let (client, gateway) = tokio::io::duplex(ROOM);
        let (from_gateway, to_gateway) = tokio::io::split(client);
        let (input, output) = tokio::io::split(gateway);
        let wrapped = tokio::spawn(async move {
            wrapped.serve(input, output, std::future::pending()).await;
        });
        let mut pipe = Self {
            to_gateway,
            from_gateway: BufReader::new(from_gateway),
            script,
            next: 1,
            wrapped,
            _folder: folder,
        };
        pipe.introduce().await;
        pipe
    }

    async fn introduce(&mut self) {
        let hello = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{},"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"0"}}}"#;
        self.send(hello).await;
        drop(self.until(0).await);
        self.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        self.send(
            br#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}"#,
        )
        .await;
        drop(self.until(1).await);
    }

    /// Asks a question that the server answers with `input`; everything the client is sent until nothing more comes.
    pub(crate) async fn ask(
        &mut self,
        question: (&str, &str),
        modern: bool,
        input: &[u8],
    ) -> Vec<Vec<u8>> {
        input.clone_into(&mut self.script.lock().unwrap_or_else(PoisonError::into_inner));
        self.next += 1;
        let id = self.next;
        self.send(&server::request(id, question, modern)).await;
        let mut sent = self.until(id).await;
        for _ in 0..super::rigs::TURNS / 16 {
            if let Some(line) = self.waiting() {
                self.take(line, &mut sent).await;
            } else {
                tokio::task::yield_now().await;
            }
        }
        sent
    }

    /// Everything until the answer to a request.
    async fn until(&mut self, id: u64) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        let id = id.to_string();
        loop {
            let mut line = Vec::new();
            let read = self.from_gateway.read_until(b'\n', &mut line);
            let read = tokio::time::timeout(WAIT, read).await;
            let read = read
                .expect("an answer in time")
                .expect("a stream in memory");
            assert!(read > 0, "the gateway has ended");
            let is_answer = answers(&line, &id);
            self.take(line, &mut sent).await;
            if is_answer {
                return sent;
            }
        }
    }

    /// A line that is there already.
    fn waiting(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let read = std::pin::pin!(self.from_gateway.read_until(b'\n', &mut line));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match read.poll(&mut context) {
            std::task::Poll::Ready(Ok(1..)) => Some(line),
            _ => None,
        }
    }

    /// Keeps a message, and answers it if it asks something, so that the server may go on asking.
    async fn take(&mut self, line: Vec<u8>, sent: &mut Vec<Vec<u8>>) {
        let top = members(&line).unwrap_or_default();
        let member = |name: &str| {
            top.iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| *value)
        };
        if let (Some(id), Some(_)) = (member("id"), member("method")) {
            let refusal = [
                br#"{"jsonrpc":"2.0","id":"#,
                id,
                br#","error":{"code":-1,"message":"no"}}"#,
            ]
            .concat();
            self.send(&refusal).await;
        }
        sent.push(line);
    }

    async fn send(&mut self, message: &[u8]) {
        let line = [message, b"\n"].concat();
        self.to_gateway
            .write_all(&line)
            .await
            .expect("the gateway reads");
    }
}

/// Whether a line answers the request of an id.
fn answers(line: &[u8], id: &str) -> bool {
    let top = members(line).unwrap_or_default();
    let has = |name: &str| top.iter().any(|(key, _)| key == name);
    (has("result") || has("error"))
        && top
            .iter()
            .any(|(key, value)| key == "id" && *value == id.as_bytes())
}

/// The other ends of a child's standard input and output.
fn streams(child: &str) -> (pipe::Receiver, pipe::Sender) {
    let of = |number| format!("/proc/{child}/fd/{number}");
    let options = pipe::OpenOptions::new();
    let asked = options.open_receiver(Path::new(&of(0)));
    let answers = options.open_sender(Path::new(&of(1)));
    (
        asked.expect("the child's input"),
        answers.expect("the child's output"),
    )
}

/// Speaks for the child: greets and lists by itself, and answers calls as the script says.
async fn serve(
    (asked, mut answers): (pipe::Receiver, pipe::Sender),
    script: Arc<Mutex<Vec<u8>>>,
    modern: bool,
) {
    let greeting = Greeting::default();
    let mut lines = BufReader::new(asked).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let answer = match server::action_for(&line, modern, &greeting) {
            ServerAction::Nothing => continue,
            ServerAction::Answer(answer) => answer,
            ServerAction::Script(id) => {
                let input = script
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                [server::addressed(&input, id), server::harmless(id)].join(&b'\n')
            }
        };
        let answer = [answer, b"\n".to_vec()].concat();
        if answers.write_all(&answer).await.is_err() {
            return;
        }
    }
}
