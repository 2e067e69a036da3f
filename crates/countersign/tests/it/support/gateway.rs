//! A gateway as a process of its own, and requests to it as `curl` would send them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{CommandOutput, Folder, binary};

/// Far longer than anything takes; reached only when a test fails.
const WAIT: Duration = Duration::from_mins(1);

/// A gateway that serves. Ends with the test.
pub(crate) struct RunningGateway {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: Receiver<String>,
    said: String,
    address: String,
    state: std::path::PathBuf,
}

impl RunningGateway {
    /// Starts one in a folder, on a free port, with its state under `data`.
    pub(crate) fn start(folder: &Folder, line: &str) -> Self {
        let mut command = binary();
        command.args(line.split_whitespace());
        Self::launch(folder, command)
    }

    /// The same, by a command that ends in the binary and its arguments.
    pub(crate) fn launch(folder: &Folder, mut command: Command) -> Self {
        command.args(["--listen", "127.0.0.1:0", "--data-dir", "data"]);
        Self::launch_with_state(folder, command, "data")
    }

    /// The same, by a command that has everything it needs and keeps its state under `state`.
    pub(crate) fn launch_with_state(folder: &Folder, mut command: Command, state: &str) -> Self {
        let mut child = command
            .current_dir(folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .spawn()
            .expect("the binary was built for this test");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let stderr = lines(child.stderr.take().expect("stderr is piped"));
        let mut running = Self {
            child,
            stdout,
            stderr,
            said: String::new(),
            address: String::new(),
            state: folder.path().join(state),
        };
        let served = running.find("countersign is serving at ");
        let address = served.split_once("://").map(|(_, address)| address);
        address.unwrap_or(&served).clone_into(&mut running.address);
        running
    }

    /// The rest of the line that starts like this, without the path.
    fn find(&mut self, start: &str) -> String {
        loop {
            let line = self.stderr.recv_timeout(WAIT);
            let line = line.unwrap_or_else(|_| panic!("only said: {}", self.said));
            self.said.extend([line.as_str(), "\n"]);
            if let Some(rest) = line.strip_prefix(start) {
                return rest.trim_end_matches("/mcp").to_owned();
            }
        }
    }

    /// The next line of stderr with this in it.
    pub(crate) fn hear(&mut self, part: &str) -> String {
        loop {
            let line = self.stderr.recv_timeout(WAIT);
            let line = line.unwrap_or_else(|_| panic!("only said: {}", self.said));
            self.said.extend([line.as_str(), "\n"]);
            if line.contains(part) {
                return line;
            }
        }
    }

    /// What has been read from stderr.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    /// The demo's table: twelve lines.
    pub(crate) fn table(&mut self) -> String {
        let mut table = String::new();
        #[expect(clippy::disallowed_methods, reason = "the peer is our own binary")]
        for _ in 0..12 {
            self.stdout.read_line(&mut table).expect("a line");
        }
        table
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// What a resource says, as JSON.
    pub(crate) fn json(&self, path: &str) -> serde_json::Value {
        let answer = self.curl("GET", path, &self.key(), "");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a response");
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        serde_json::from_str(body).expect("JSON")
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn key(&self) -> String {
        self.stored("api_key")
    }

    pub(crate) fn admin_key(&self) -> String {
        self.stored("admin_key")
    }

    fn stored(&self, file: &str) -> String {
        let key = std::fs::read_to_string(self.state.join(file)).expect("a key");
        key.trim().to_owned()
    }

    /// Waits until so many servers are up and have said which tools they have, which comes a moment later.
    pub(crate) fn all_up(&self, servers: usize) {
        self.all_up_with(&self.key(), servers);
    }

    /// The same, with a key of the configuration.
    pub(crate) fn all_up_with(&self, key: &str, servers: usize) {
        Self::wait_for(|| {
            let listed = self.curl("GET", "/api/v1/servers", key, "");
            [r#""health":"up""#, r#""list":"fresh""#]
                .iter()
                .all(|said| listed.matches(said).count() == servers)
        });
    }

    pub(crate) fn wait_for(mut condition: impl FnMut() -> bool) {
        let until = Instant::now() + WAIT;
        while !condition() {
            assert!(Instant::now() < until, "it never happened");
            std::thread::yield_now();
        }
    }

    /// A whole exchange; gives the response, head and all.
    pub(crate) fn curl(&self, method: &str, path: &str, key: &str, body: &str) -> String {
        self.begin(method, path, key, body).finish()
    }

    /// Sends a request as `curl` does.
    pub(crate) fn begin(&self, method: &str, path: &str, key: &str, body: &str) -> Exchange {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: curl/8\r\nAccept: */*\r\nX-API-Key: {key}\r\nContent-Length: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.connect(&request)
    }

    /// Sends bytes as they are and gives everything that comes back until the connection is closed.
    pub(crate) fn raw(&self, request: &str) -> String {
        let exchange = self.connect(request);
        exchange.finish()
    }

    /// The same, until something has been said.
    pub(crate) fn until(&self, request: &str, said: &str) -> String {
        let mut stream = self.connect(request).stream;
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while !String::from_utf8_lossy(&answer).contains(said) {
            let read = stream.read(&mut piece).expect("more");
            assert!(read > 0, "it ended: {}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&piece[..read]);
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn connect(&self, request: &str) -> Exchange {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(WAIT)).expect("a time limit");
        stream.write_all(request.as_bytes()).expect("it reads");
        Exchange { stream }
    }

    /// Tells it to stop and waits until it has.
    pub(crate) fn stop(self, signal: Signal) -> CommandOutput {
        let process = i32::try_from(self.process()).expect("a process id");
        kill_process(Pid::from_raw(process).expect("a process"), signal).expect("it runs");
        self.wait()
    }

    /// Waits until it has ended.
    pub(crate) fn wait(mut self) -> CommandOutput {
        let status = self.child.wait().expect("it ends");
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).expect("text");
        let stderr = self.stderr.iter().collect::<Vec<_>>().join("\n");
        CommandOutput {
            code: status.code(),
            stdout,
            stderr,
        }
    }
}

impl Drop for RunningGateway {
    fn drop(&mut self) {
        // Only after a failed assertion is it still there.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A request that has been sent.
pub(crate) struct Exchange {
    stream: TcpStream,
}

impl Exchange {
    /// Waits until the answer has begun.
    pub(crate) fn await_answer(self) -> Self {
        self.stream.peek(&mut [0]).expect("an answer");
        self
    }

    pub(crate) fn finish(mut self) -> String {
        let mut answer = Vec::new();
        self.stream.read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        #[expect(clippy::disallowed_methods, reason = "the peer is our own binary")]
        let lines = BufReader::new(stream).lines();
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
