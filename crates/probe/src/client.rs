//! A thin MCP client over raw bytes: stdio and Streamable HTTP, both eras, many calls in flight.
//! It stamps the clock where bytes leave and arrive, and keeps what a server answers as it was
//! written. It judges nothing, retries no call, follows no redirect and offers no capabilities.

mod exchange;
mod headers;
mod hello;
mod http;
mod json;
mod list;
mod message;
mod reading;
mod stdio;
mod target;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use countersign_dial::Budget;
pub use countersign_dial::{Site, SiteError};
use countersign_inspect::Era;

pub use exchange::{ErrorReply, Exchange, Fault, Reply};
pub use hello::{ConnectError, Identity};
pub use list::{Declaration, List, ListError};
pub use target::{Program, Target};

use headers::Mirrored;
use hello::Hello;
use http::Http;
use message::Outgoing;
use stdio::Stdio;

/// For the large answers of all calls under way, judged or not.
const MEMORY: usize = 1 << 30;

/// What a client asks of the world before it gives up.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most bytes a single message of the server may have.
    pub max_message_bytes: usize,
    /// The memory for large answers over HTTP; clients that share it have no more together.
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
    options: Options,
    /// Tools whose arguments have to be repeated as headers; known once the tools are listed.
    mirrored: RwLock<HashMap<String, Arc<Mirrored>>>,
}

#[derive(Debug)]
enum Transport {
    Stdio(Arc<Stdio>),
    Http(Arc<Http>),
}

impl Client {
    /// Starts or connects to the server and greets it.
    pub async fn connect(target: &Target, options: &Options) -> Result<Self, ConnectError> {
        let transport = match target {
            Target::Stdio(program) => Transport::Stdio(Stdio::start(program, options)?),
            Target::Http(site) => Transport::Http(Http::new(site, options)),
        };
        let greeted = hello::greet(&transport, options).await;
        match greeted {
            Ok(hello) => Ok(Self {
                transport,
                hello,
                options: options.clone(),
                mirrored: RwLock::default(),
            }),
            Err(error) => {
                transport.close().await;
                Err(error)
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
        let list = list::fetch(&self.transport, self.hello.era, &self.options).await?;
        if matches!(self.transport, Transport::Http(_)) && self.hello.era == Era::Modern {
            let known = list.tools.iter().filter_map(|tool| {
                let mirrored = Mirrored::of(&tool.raw)?;
                Some((tool.name.clone(), Arc::new(mirrored)))
            });
            let mut mirrored = self
                .mirrored
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            *mirrored = known.collect();
        }
        Ok(list)
    }

    /// Calls a tool. `arguments` are sent as they are, an object or not; they must be JSON.
    pub async fn call(&self, tool: &str, arguments: &[u8], timeout: Duration) -> Exchange {
        let params = message::call_params(self.hello.era, tool, arguments);
        let mirrored = self
            .mirrored
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(tool)
            .cloned();
        let outgoing = Outgoing {
            method: "tools/call",
            name: Some(tool),
            arguments: Some(arguments),
            mirrored: mirrored.as_deref(),
            params: &params,
        };
        self.transport.exchange(&outgoing, timeout).await
    }

    /// Sends a request of any method with these `params`, which must be JSON. What a modern
    /// request has to say about itself is added to an object; anything else goes out as it is.
    pub async fn raw(&self, method: &str, params: &[u8], timeout: Duration) -> Exchange {
        let params = message::raw_params(self.hello.era, params);
        let name = json::member(&params, countersign_tape::Span::whole(&params), "name")
            .and_then(|name| name.string(&params));
        let outgoing = Outgoing {
            method,
            name: name.as_deref(),
            arguments: None,
            mirrored: None,
            params: &params,
        };
        self.transport.exchange(&outgoing, timeout).await
    }

    /// Opens connections until this many are idle, so that the first calls do not wait for them.
    /// Nothing to do over stdio.
    pub async fn warm(&self, connections: usize) -> Result<(), ConnectError> {
        match &self.transport {
            Transport::Stdio(_) => Ok(()),
            Transport::Http(http) => http.warm(connections).await,
        }
    }

    /// Whether the server has gone: its process has ended or closed its output. Over HTTP nobody
    /// can tell.
    pub fn is_closed(&self) -> bool {
        match &self.transport {
            Transport::Stdio(stdio) => stdio.is_closed(),
            Transport::Http(_) => false,
        }
    }

    /// How many lines a child wrote to its stdout that are no messages; 0 over HTTP.
    pub fn noise(&self) -> u64 {
        match &self.transport {
            Transport::Stdio(stdio) => stdio.noise(),
            Transport::Http(_) => 0,
        }
    }

    /// The end of what a child process wrote to standard error, made safe to print.
    pub fn stderr(&self) -> String {
        match &self.transport {
            Transport::Stdio(stdio) => stdio.stderr(),
            Transport::Http(_) => String::new(),
        }
    }

    /// Says good-bye: ends a session, or the child process and whatever it started.
    pub async fn close(&self) {
        self.transport.close().await;
    }
}

impl Transport {
    async fn exchange(&self, outgoing: &Outgoing<'_>, timeout: Duration) -> Exchange {
        match self {
            Self::Stdio(stdio) => stdio.exchange(outgoing, timeout).await,
            Self::Http(http) => http.exchange(outgoing, timeout).await,
        }
    }

    async fn notify(&self, method: &str) {
        match self {
            Self::Stdio(stdio) => stdio.notify(method).await,
            Self::Http(http) => http.notify(method).await,
        }
    }

    /// What was agreed on in the greeting, for the requests that follow.
    fn agree(&self, era: Era, version: &str) {
        match self {
            Self::Stdio(_) => {}
            Self::Http(http) => http.agree(era, version),
        }
    }

    async fn close(&self) {
        match self {
            Self::Stdio(stdio) => stdio.close().await,
            Self::Http(http) => http.close().await,
        }
    }
}
