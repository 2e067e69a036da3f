//! What a modern client subscribes to: lists, and single resources. What the server behind the endpoint cannot tell is left
//! out, and the client is told what is left.

use bytes::Bytes;
use countersign_tape::{Kind, Span, elements, quote};
use countersign_wire::Capabilities;
use countersign_wire::json::member;

use crate::services::WatchedResource;

/// More resources than this are not watched for one subscription.
const MAX_URIS: usize = 256;

/// What a subscription is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    /// The addresses of single resources.
    pub(super) uris: Vec<String>,
}

impl Filter {
    /// Reads the `notifications` of a request.
    pub(super) fn read(filter: &Bytes) -> Self {
        let whole = Span::whole(filter);
        let is_wanted = |name| {
            let wanted = member(filter, whole, name);
            wanted.and_then(|wanted| wanted.kind(filter)) == Some(Kind::True)
        };
        let uris = member(filter, whole, "resourceSubscriptions");
        let uris = uris.filter(|uris| uris.kind(filter) == Some(Kind::Array));
        let uris = uris.into_iter().flat_map(|uris| elements(filter, uris));
        let text = |uri: Span| Some(uri.string(filter)?.into_owned());
        Self {
            tools: is_wanted("toolsListChanged"),
            prompts: is_wanted("promptsListChanged"),
            resources: is_wanted("resourcesListChanged"),
            uris: uris.filter_map(text).take(MAX_URIS).collect(),
        }
    }

    /// What of it an endpoint can tell: changed tools, what the servers behind it can tell, and the resources that are
    /// watched.
    pub(super) fn offered(
        self,
        tools: bool,
        server: Option<Capabilities>,
        watched: &[WatchedResource],
    ) -> Self {
        let server = server.unwrap_or_default();
        Self {
            tools: self.tools && tools,
            prompts: self.prompts && server.prompt_changes,
            resources: self.resources && server.resource_changes,
            uris: watched.iter().map(|one| one.shown.clone()).collect(),
        }
    }

    /// As the acknowledgement writes it.
    pub(super) fn json(&self) -> String {
        let mut members: Vec<String> = [
            (self.tools, "toolsListChanged"),
            (self.prompts, "promptsListChanged"),
            (self.resources, "resourcesListChanged"),
        ]
        .into_iter()
        .filter(|(is_told, _)| *is_told)
        .map(|(_, name)| format!(r#""{name}":true"#))
        .collect();
        if !self.uris.is_empty() {
            let uris = self.uris.iter().map(String::as_str);
            members.push(format!(r#""resourceSubscriptions":{}"#, uris_json(uris)));
        }
        format!("{{{}}}", members.join(","))
    }
}

/// Addresses as a JSON array.
pub(super) fn uris_json<'a>(uris: impl Iterator<Item = &'a str>) -> String {
    let uris: Vec<String> = uris
        .map(|uri| String::from_utf8_lossy(&quote(uri)).into_owned())
        .collect();
    format!("[{}]", uris.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_cut_to_what_can_be_told() {
        let asked = br#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":1,"resourceSubscriptions":["a:\"b",5,"c"]}"#;
        let filter = Filter::read(&Bytes::from_static(asked));
        assert_eq!(
            filter.json(),
            r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:\"b","c"]}"#
        );
        assert_eq!(filter.clone().offered(false, None, &[]).json(), "{}");
        let watched = WatchedResource {
            server: "s".into(),
            uri: "b".to_owned(),
            shown: "a:\"b".to_owned(),
        };
        let able = Some(Capabilities::default());
        let left = filter.offered(true, able, &[watched]).json();
        assert_eq!(
            left,
            r#"{"toolsListChanged":true,"resourceSubscriptions":["a:\"b"]}"#
        );
    }
}
