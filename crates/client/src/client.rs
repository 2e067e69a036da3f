//! One server that is called directly, without supervision: no restarts, no renewed sessions, no queue. For tests of
//! servers: it stamps the clock where bytes leave and arrive, and says of each request what became of it.

mod exchange;
mod list;
mod process;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_dial::{Budget, Site, SiteError, lock};
use countersign_inspect::Era;
use countersign_tape::{Kind, Span, quote};
use countersign_wire::json::{member, path};
use countersign_wire::{MirroredArguments, Subject, message};
use tokio::time::timeout;

pub use exchange::{ConnectError, ErrorReply, Exchange, Fault, Reply};
pub(crate) use list::ListPages;
pub use list::{Declaration, List, ListError};
use process::Process;

use crate::era_preference::EraPreference;
use crate::error::Error;
use crate::hello::{Hello, Identity};
use crate::http::greet;
use crate::http::link::Link;
use crate::http::request::HttpRequest;
use crate::notes::NoteSink;
use crate::server_error::ServerError;
use crate::stdio::handshake;
use crate::stdio::program::Program;
use crate::timings::Timings;

/// The memory for the large answers of all calls under way.
const MEMORY: usize = 1 << 30;
/// How long ending a session may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Target {
    /// A child process that speaks over its standard input and output.
    Stdio(Program),
    /// A Streamable HTTP endpoint.
    Http(Site),
}

impl Target {
    /// An endpoint without headers of its own.
    pub fn url(url: &str) -> Result<Self, SiteError> {
        Site::parse(url).map(Self::Http)
    }

    /// A program with these arguments, which has our environment.
    pub fn command(command: impl Into<String>, args: impl IntoIterator<Item = String>) -> Self {
        Self::Stdio(Program {
            command: command.into(),
            args: args.into_iter().collect(),
            ..Program::default()
        })
    }
}

/// The limits of a client.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most bytes a single message of the server may have.
    pub max_message_bytes: usize,
    /// The memory for large answers; clients that share it have no more together.
    pub budget: Budget,
    /// How long the greeting and each page of the tool list may take.
    pub greeting: Duration,
    /// The era to speak; found out by asking unless given.
    pub era: Option<Era>,
}

impl Default for Options {
    /// 16 MiB a message and 1 GiB together, half a minute, whatever the server speaks.
    fn default() -> Self {
        Self {
            max_message_bytes: 16 << 20,
            budget: Budget::new(MEMORY),
            greeting: Duration::from_secs(30),
            era: None,
        }
    }
}

impl Options {
    /// The same with another limit for a message; there is memory for two of the largest at least.
    #[must_use]
    pub fn limited(self, max_message_bytes: usize) -> Self {
        // A stream of events holds more than the message alone.
        let least = max_message_bytes.saturating_mul(3);
        Self {
            max_message_bytes,
            budget: Budget::new(MEMORY.max(least)),
            ..self
        }
    }
}

/// A greeted server. Calls share it: any number may be in flight.
#[derive(Debug)]
pub struct Client {
    transport: Transport,
    hello: Hello,
    greeting: Duration,
    /// Tools whose arguments have to be repeated as headers; known once the tools are listed.
    mirrored: Mutex<HashMap<String, Arc<MirroredArguments>>>,
}

#[derive(Debug)]
enum Transport {
    Stdio(Box<Process>),
    Http(Arc<Link>),
}

impl Client {
    /// Starts or connects to the server and greets it.
    pub async fn connect(target: &Target, options: &Options) -> Result<Self, ConnectError> {
        let transport = match target {
            Target::Stdio(program) => {
                let limit = options.max_message_bytes;
                let started = Process::start(program, limit, &options.budget);
                Transport::Stdio(Box::new(started.map_err(ConnectError::Start)?))
            }
            Target::Http(site) => Transport::Http(Arc::new(Link::new(
                "server".into(),
                site.clone(),
                options.budget.clone(),
                options.max_message_bytes,
                usize::MAX,
                Arc::new(()),
            ))),
        };
        match timeout(options.greeting, transport.greet(options.era)).await {
            Ok(Ok(hello)) => Ok(Self {
                transport,
                hello,
                greeting: options.greeting,
                mirrored: Mutex::default(),
            }),
            failed => {
                transport.close().await;
                let timed_out = ConnectError::Greeting(Fault::TimedOut);
                Err(failed.map_or(timed_out, |failed| {
                    failed.err().map_or(ConnectError::Refused, Into::into)
                }))
            }
        }
    }

    /// The era the server speaks with us.
    pub fn era(&self) -> Era {
        self.hello.era
    }

    /// The protocol version agreed on.
    pub fn version(&self) -> &str {
        &self.hello.version
    }

    /// What the server calls itself.
    pub fn identity(&self) -> &Identity {
        &self.hello.identity
    }

    /// How the server is reached: `stdio` or `http`.
    pub fn transport(&self) -> &'static str {
        match self.transport {
            Transport::Stdio(_) => "stdio",
            Transport::Http(_) => "http",
        }
    }

    /// Everything the server lists under `tools/list`, all pages.
    pub async fn list_tools(&self) -> Result<List, ListError> {
        let list = List::fetch(self).await?;
        if matches!(self.transport, Transport::Http(_)) && self.hello.era == Era::Modern {
            let known = list.tools.iter().filter_map(|tool| {
                let schema = path(&tool.raw, Span::whole(&tool.raw), &["inputSchema"])?;
                // A tool with marks that mean nothing is called without the headers.
                let mirrored = MirroredArguments::from_schema(schema.bytes(&tool.raw)).ok()?;
                Some((tool.name.clone(), Arc::new(mirrored)))
            });
            *lock(&self.mirrored) = known.collect();
        }
        Ok(list)
    }

    /// Calls a tool. `arguments` are sent as they are, an object or not; they must be JSON.
    pub async fn call(&self, tool: &str, arguments: &[u8], timeout: Duration) -> Exchange {
        let members = [br#""name":"#, &*quote(tool), br#","arguments":"#, arguments].concat();
        let params = message::own_params(self.hello.era, &members);
        let mirrored = lock(&self.mirrored).get(tool).cloned();
        let subject = Subject {
            method: "tools/call",
            name: Some(tool),
            arguments: Some(arguments),
            mirrored: mirrored.as_deref(),
        };
        self.exchange(&subject, &params, timeout).await
    }

    /// Sends a request of any method with these `params`, which must be JSON. What a modern request has to say about
    /// itself is added to an object without `_meta`; anything else is sent as it is.
    pub async fn raw(&self, method: &str, params: &[u8], timeout: Duration) -> Exchange {
        let params = params.trim_ascii();
        let whole = Span::whole(params);
        let is_bare =
            whole.kind(params) == Some(Kind::Object) && member(params, whole, "_meta").is_none();
        let inside = params
            .strip_prefix(b"{")
            .and_then(|rest| rest.strip_suffix(b"}"));
        let params = match inside.filter(|_| is_bare) {
            Some(members) => message::own_params(self.hello.era, members.trim_ascii()),
            None => params.to_vec(),
        };
        let name =
            member(&params, Span::whole(&params), "name").and_then(|name| name.string(&params));
        let subject = Subject {
            name: name.as_deref(),
            ..Subject::method(method)
        };
        self.exchange(&subject, &params, timeout).await
    }

    async fn exchange(&self, subject: &Subject<'_>, params: &[u8], wait: Duration) -> Exchange {
        let asked = Instant::now();
        let mut timings = Timings::default();
        let waited = timeout(wait, self.transport.ask(subject, params, &mut timings)).await;
        let answer = waited.map_or(Err(Fault::TimedOut), |answer| answer.map_err(Fault::from));
        let done = timings.done.unwrap_or_else(Instant::now);
        let reply = answer.and_then(|(id, message)| {
            let reply = Reply::read(&message, id)?;
            Ok((reply, message))
        });
        let (reply, message) = reply.map_or_else(
            |fault| (Err(fault), None),
            |(reply, message)| (Ok(reply), Some(message)),
        );
        Exchange {
            reply,
            sent: timings.sent.unwrap_or(asked),
            first_event: timings.first_event,
            done,
            message,
        }
    }

    /// Opens connections until this many are idle, so that the first calls do not wait for them. Nothing to do over stdio.
    pub async fn warm(&self, connections: usize) -> Result<(), ConnectError> {
        match &self.transport {
            Transport::Stdio(_) => Ok(()),
            Transport::Http(link) => {
                let warmed = link.warm(connections).await;
                warmed.map_err(|_| ConnectError::Greeting(Fault::Unreachable))
            }
        }
    }

    /// Whether the server has gone: its process has ended or closed its output. Never over HTTP, where it cannot be told.
    pub fn is_closed(&self) -> bool {
        matches!(&self.transport, Transport::Stdio(process) if process.is_closed())
    }

    /// How many lines a child wrote to its stdout that are no messages; 0 over HTTP.
    pub fn noise(&self) -> u64 {
        match &self.transport {
            Transport::Stdio(process) => process.noise(),
            Transport::Http(_) => 0,
        }
    }

    /// The end of what a child process wrote to standard error, made safe to print.
    pub fn stderr(&self) -> String {
        match &self.transport {
            Transport::Stdio(process) => process.stderr(),
            Transport::Http(_) => String::new(),
        }
    }

    /// Ends the session, or the child process and whatever it started.
    pub async fn close(&self) {
        self.transport.close().await;
    }
}

impl ListPages for Client {
    async fn list_page(&self, members: &[u8]) -> Result<Reply, Fault> {
        let params = message::own_params(self.hello.era, members);
        let subject = Subject::method("tools/list");
        self.exchange(&subject, &params, self.greeting).await.reply
    }
}

impl Transport {
    async fn greet(&self, era: Option<Era>) -> Result<Hello, ServerError> {
        let preference = era.map_or(EraPreference::First(Era::Modern), EraPreference::Only);
        match self {
            Self::Stdio(process) => handshake::greet(&process.connection, preference, b"{}").await,
            Self::Http(link) => greet::greet(link, preference).await,
        }
    }

    /// Sends a request and waits for its answer; the id it was sent under.
    async fn ask(
        &self,
        subject: &Subject<'_>,
        params: &[u8],
        timings: &mut Timings,
    ) -> Result<(u64, Bytes), Error> {
        match self {
            Self::Stdio(process) => process.ask(subject.method, params, timings).await,
            Self::Http(link) => {
                let id = link.id();
                let notes = NoteSink::closed();
                let request = HttpRequest::new(link, subject, params, id, &notes, None);
                Ok((id, request.send_once(timings).await?))
            }
        }
    }

    async fn close(&self) {
        match self {
            Self::Stdio(process) => process.end().await,
            Self::Http(link) => drop(timeout(FAREWELL, link.end()).await),
        }
    }
}
