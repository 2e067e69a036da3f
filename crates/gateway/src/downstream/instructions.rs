//! What a client is told about the tools behind an endpoint: what boundaries mean, where texts are put between them, and
//! what the one server behind the endpoint says about itself. The gateway writes the first; the
//! second was cleaned when it was captured.

use bytes::Bytes;
use countersign_config::Config;
use countersign_inspect::Listing;
use countersign_tape::{Span, quote};

use crate::state::Endpoint;

/// The instructions of an endpoint; `own`: a server's, as a JSON string.
pub(crate) fn compose(
    config: &Config,
    endpoint: &Endpoint,
    own: Option<&Bytes>,
) -> Option<Listing> {
    let host = match endpoint {
        Endpoint::Server(server) => host_instruction(config, server),
        Endpoint::Router | Endpoint::Direct => {
            let all = config.servers.iter().filter(|server| server.enabled);
            all.map(|server| host_instruction(config, &server.name))
                .find_map(|instruction| instruction)
        }
    };
    let own_text = own.and_then(|own| Span::whole(own).string(own));
    match (host, own_text, own) {
        (None, _, None) => None,
        (None, _, Some(own)) => Some(Listing::admit(own.clone())),
        (Some(host), None, _) => Some(Listing::admit(quote(host))),
        (Some(host), Some(text), _) => Some(Listing::admit(quote(&format!("{host}\n\n{text}")))),
    }
}

/// What a model should be told about boundaries, if a tool of the server has them.
fn host_instruction(config: &Config, server: &str) -> Option<&'static str> {
    let tools = config
        .server(server)
        .into_iter()
        .flat_map(|server| server.tools.keys());
    std::iter::once("")
        .chain(tools.map(String::as_str))
        .find_map(|tool| config.policy(server, tool).sanitisation.host_instruction())
}

#[cfg(test)]
mod tests {
    use countersign_config::{self as config, Environment};

    use super::*;

    fn composed(
        sanitisation: &str,
        endpoint: &Endpoint,
        own: Option<&'static str>,
    ) -> Option<String> {
        let file = format!(
            r#"{{"mcpServers": {{"a": {{"command": "x"}}, "b": {{"command": "x", "output_sanitisation": {sanitisation}}}}}}}"#
        );
        let (config, _) = config::parse(&file, &Environment::empty()).expect("a configuration");
        let own = own.map(|own| Bytes::from_static(own.as_bytes()));
        let listing = compose(&config, endpoint, own.as_ref())?;
        let text: String = serde_json::from_slice(listing.bytes()).expect("a JSON string");
        Some(text)
    }

    #[test]
    fn the_instruction_is_served_where_texts_have_boundaries() {
        let [a, b] = ["a", "b"].map(|name| Endpoint::Server(name.into()));
        let own = Some(r#""Be \u006bind.""#);
        assert_eq!(composed("{}", &Endpoint::Router, None), None);
        assert_eq!(composed("{}", &b, own).as_deref(), Some("Be kind."));
        let full = r#"{"mode": "full"}"#;
        let host = composed(full, &Endpoint::Router, None).expect("an instruction");
        assert!(host.contains("untrusted-ID"), "{host}");
        assert_eq!(composed(full, &Endpoint::Direct, None), Some(host.clone()));
        assert_eq!(composed(full, &b, own), Some(format!("{host}\n\nBe kind.")));
        assert_eq!(composed(full, &a, None), None);
        assert_eq!(
            composed(r#"{"mode": "full", "host_instruction": false}"#, &b, None),
            None
        );
        assert_eq!(
            composed(r#"{"wrap": "delimit", "host_instruction": true}"#, &b, None),
            Some(host)
        );
    }
}
