//! The hook: two byte streams of a server in, one stream for a client out, and nothing a server says passes
//! without being inspected. Everything else, unknown methods included, passes untouched.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use countersign_inspect::{Contract, Declaration, Inspector, Policy, RawReply, Source, ToolName};
use countersign_tape::{Envelope, Member, ScanLimits, elements, members, scan};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};
use tokio::io::{BufReader, DuplexStream};

/// The longest line of either side.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// What is known about one connection.
pub(crate) struct Boundary {
    state: Mutex<State>,
}

struct State {
    inspector: Inspector,
    /// Requests under way, by id token.
    pending: HashMap<Bytes, Pending>,
}

enum Pending {
    List,
    /// A call keeps the contract it started under, whatever the list says later.
    Call(Arc<Contract>),
}

impl Boundary {
    /// Stands between a server and a client; the stream is the client's transport.
    pub(crate) fn between(
        server_out: impl AsyncRead + Send + Unpin + 'static,
        server_in: impl AsyncWrite + Send + Unpin + 'static,
        policy: Policy,
    ) -> DuplexStream {
        let state = State {
            inspector: Inspector::new(policy),
            pending: HashMap::new(),
        };
        let boundary = Arc::new(Self {
            state: Mutex::new(state),
        });
        let (client, ours) = tokio::io::duplex(64 * 1024);
        let (from_client, to_client) = tokio::io::split(ours);
        let sending = Arc::clone(&boundary);
        tokio::spawn(pump(from_client, server_in, move |line| {
            sending.state().sent(line)
        }));
        tokio::spawn(pump(server_out, to_client, move |line| {
            boundary.state().received(line)
        }));
        client
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes note of a request.
    fn sent(&mut self, line: Bytes) -> Bytes {
        let Ok(envelope) = scan(&line, &ScanLimits::default()) else {
            return line;
        };
        let text = |member| envelope.get(member).and_then(|span| span.string(&line));
        let pending = match text(Member::Method).as_deref() {
            Some("tools/list") => Pending::List,
            Some("tools/call") => {
                let name = ToolName::new(text(Member::ParamsName).unwrap_or_default().as_ref());
                Pending::Call(self.inspector.contract(&name))
            }
            _ => return line,
        };
        if let Some(id) = envelope.id() {
            self.pending.insert(line.slice(id.range()), pending);
        }
        line
    }

    /// Judges an answer. A message that answers nothing we asked passes.
    fn received(&mut self, line: Bytes) -> Bytes {
        let Ok(envelope) = scan(&line, &ScanLimits::default()) else {
            return line;
        };
        let id = envelope.id().map(|id| line.slice(id.range()));
        let asked = id.and_then(|id| self.pending.remove_entry(&id));
        match asked {
            Some((_, Pending::List)) => {
                self.learn(&line, &envelope);
                line
            }
            Some((id, Pending::Call(contract))) => {
                let source = Source::default().answering(id.clone());
                let inspected = self
                    .inspector
                    .result_with_contract(&contract, RawReply::new(line, source));
                inspected.message(&id).into_bytes()
            }
            None => line,
        }
    }

    /// Captures the contracts of a tool list, one tool at a time: a broken one hides no other.
    fn learn(&mut self, line: &[u8], envelope: &Envelope) {
        let lists = envelope
            .result()
            .into_iter()
            .flat_map(|result| members(line, result));
        let tools = lists.filter(|(key, _)| key.string(line).is_some_and(|key| key == "tools"));
        for tool in tools.flat_map(|(_, list)| elements(line, list)) {
            if let Ok(declaration) = Declaration::read(tool.bytes(line)) {
                self.inspector.declare(declaration);
            }
        }
    }
}

/// Passes lines on, each through `look`, until one side ends.
async fn pump(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    look: impl Fn(Bytes) -> Bytes,
) -> std::io::Result<()> {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        (&mut from)
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .await?;
        if line.pop() != Some(b'\n') {
            // The end, or a line without one.
            return to.shutdown().await;
        }
        let line = look(line.into());
        to.write_all(&line).await?;
        to.write_all(b"\n").await?;
        to.flush().await?;
    }
}
