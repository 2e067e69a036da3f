//! Which era a request belongs to and who sent it. A modern request says so in itself and is held
//! to it, headers included; a legacy one has a session or at least a version header; one that says
//! nothing at all, like a bare `curl`, has negotiated nothing and is served all the same.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::ClientEra;
use countersign_tape::{Kind, Span};
use countersign_wire::Method;
use countersign_wire::header::{METHOD, NAME, SESSION, VERSION, decode_header_value};
use countersign_wire::json::member;
use countersign_wire::version::MODERN;
use hyper::HeaderMap;
use hyper::header::HeaderName;

use super::client_transport::{ClientTransport, Pipe};
use super::message::{Message, MetaMember, text};
use crate::path::client::Client;
use crate::path::reply::{LEGACY, Problem};
use crate::services::{Session, Sessions};
use crate::state::Caller;

/// Clients choose their names; records are not the place for essays.
const LONGEST_NAME: usize = 128;

impl Client {
    /// Identifies the sender of a message.
    pub(super) fn from_request(
        message: &Message,
        method: &str,
        transport: ClientTransport<'_>,
        sessions: &Sessions,
    ) -> Result<Self, Problem> {
        let said = message.meta_member(MetaMember::ProtocolVersion);
        let caller = transport.caller();
        let headers = match transport {
            ClientTransport::Http(headers, _) => headers,
            ClientTransport::Pipe(pipe) => return Self::on_pipe(message, pipe, said.as_ref()),
        };
        let header = value(headers, VERSION);
        if said.is_some() || header.as_deref() == Some(MODERN) {
            return Self::modern(message, method, (headers, caller), said.as_ref());
        }
        if method == "initialize" {
            return Ok(Self::legacy(ClientEra::Legacy, caller, None));
        }
        if let Some(version) = &header
            && !LEGACY.contains(&&**version)
        {
            return Err(Problem::Version(version.clone().into_owned()));
        }
        if let Some(token) = value(headers, SESSION) {
            let session = sessions
                .find(&token, &caller.name)
                .ok_or(Problem::Session)?;
            return Ok(Self::legacy(ClientEra::Legacy, caller, Some(session)));
        }
        let era = match header {
            None => ClientEra::Unnegotiated,
            Some(_) => ClientEra::Legacy,
        };
        Ok(Self::legacy(era, caller, None))
    }

    fn legacy(era: ClientEra, caller: &Arc<Caller>, session: Option<Arc<Session>>) -> Self {
        Self {
            era,
            caller: Arc::clone(caller),
            name: session.as_ref().and_then(|session| session.client.clone()),
            session,
        }
    }

    fn modern(
        message: &Message,
        method: &str,
        (headers, caller): (&HeaderMap, &Arc<Caller>),
        said: Option<&Bytes>,
    ) -> Result<Self, Problem> {
        let version = said.and_then(text).ok_or(Problem::Meta)?;
        // What the two say differently is not known to be a version at all.
        agree(headers, (VERSION, "MCP-Protocol-Version"), Some(&version))?;
        complete(message, version)?;
        agree(headers, (METHOD, "Mcp-Method"), Some(method))?;
        if let Some(member) = Method::from_name(method).and_then(Method::named_by) {
            let named = message.name_param(member);
            agree(headers, (NAME, "Mcp-Name"), named.as_deref())?;
        }
        Ok(Self::described(message, caller, None))
    }

    /// A modern client, which describes itself in each message.
    fn described(message: &Message, caller: &Arc<Caller>, session: Option<Arc<Session>>) -> Self {
        let info = message.meta_member(MetaMember::ClientInfo);
        Self {
            era: ClientEra::Modern,
            caller: Arc::clone(caller),
            name: info.as_ref().and_then(client_name),
            session,
        }
    }

    /// The one client of a pipe: modern where a message says so, legacy once it has said hello.
    fn on_pipe(message: &Message, pipe: &Pipe, said: Option<&Bytes>) -> Result<Self, Problem> {
        let session = Some(Arc::clone(&pipe.session));
        if let Some(said) = said {
            complete(message, text(said).ok_or(Problem::Meta)?)?;
            return Ok(Self::described(message, &pipe.caller, session));
        }
        let introduced = pipe.introduced.get();
        let era = match introduced {
            None => ClientEra::Unnegotiated,
            Some(_) => ClientEra::Legacy,
        };
        let name = introduced.cloned().flatten();
        Ok(Self {
            era,
            caller: Arc::clone(&pipe.caller),
            name,
            session,
        })
    }
}

/// Whether a modern message is of the version we speak and has what it must have.
fn complete(message: &Message, version: String) -> Result<(), Problem> {
    if version != MODERN {
        return Err(Problem::Version(version));
    }
    let capabilities = message.meta_member(MetaMember::ClientCapabilities);
    let there =
        capabilities.is_some_and(|value| Span::whole(&value).kind(&value) == Some(Kind::Object));
    there.then_some(()).ok_or(Problem::Meta)
}

/// The `name` of a client's description of itself.
pub(super) fn client_name(info: &Bytes) -> Option<Arc<str>> {
    let name = member(info, Span::whole(info), "name")?.string(info)?;
    let shown: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST_NAME)
        .collect();
    Some(shown.into())
}

/// A header and the body have to say the same. `shown` is how the protocol spells the name of the header.
fn agree(
    headers: &HeaderMap,
    (name, shown): (HeaderName, &'static str),
    body: Option<&str>,
) -> Result<(), Problem> {
    let header = value(headers, name);
    match (header, body) {
        (Some(header), Some(body)) if header == body => Ok(()),
        (None, None) => Ok(()),
        _ => Err(Problem::Header(shown)),
    }
}

/// A header's value, decoded.
fn value(headers: &HeaderMap, name: HeaderName) -> Option<Cow<'_, str>> {
    decode_header_value(headers.get(name)?)
}
