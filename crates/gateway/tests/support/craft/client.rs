//! What a client sends.

use super::super::server::MODERN_META;
use super::Craft;

impl Craft<'_> {
    /// What a client sends: a request, a notification, a response, a batch of them.
    pub(crate) fn client(&mut self) -> String {
        if self.entropy.chance(15) {
            let parts: Vec<String> = (0..=self.entropy.below(3))
                .map(|_| self.client_message())
                .collect();
            return format!("[{}]", parts.join(","));
        }
        self.client_message()
    }

    fn client_message(&mut self) -> String {
        let (method, params) = self.client_question();
        let id = match self.entropy.below(6) {
            0 => self.text(),
            1 => self.value(1),
            _ => "1".to_owned(),
        };
        let mut members = vec![
            ("jsonrpc".to_owned(), "\"2.0\"".to_owned()),
            ("id".to_owned(), id),
            ("method".to_owned(), method),
            ("params".to_owned(), params),
        ];
        if self.entropy.chance(15) {
            members.remove(1);
        }
        self.spoil(&mut members);
        self.object(&members)
    }

    fn client_question(&mut self) -> (String, String) {
        let methods = [
            "tools/call",
            "tools/list",
            "initialize",
            "ping",
            "prompts/get",
            "resources/read",
            "prompts/list",
            "completion/complete",
            "logging/setLevel",
            "server/discover",
            "subscriptions/listen",
            "notifications/cancelled",
        ];
        let method = if self.entropy.chance(90) {
            format!("\"{}\"", self.entropy.pick(&methods))
        } else {
            self.text()
        };
        let tools = [
            "plain",
            "typed",
            "legacy__plain",
            "modern__typed",
            "call_tool_read",
            "retrieve_tools",
            "describe_tool",
        ];
        let name = if self.entropy.chance(80) {
            format!("\"{}\"", self.entropy.pick(&tools))
        } else {
            self.text()
        };
        let arguments = match self.entropy.below(5) {
            0 => self.value(3),
            1 => {
                let text = self.text();
                format!(r#"{{"query":{text}}}"#)
            }
            2 => r#"{"name":"legacy:plain","args":{}}"#.to_owned(),
            3 => {
                let text = self.text();
                format!(r#"{{"name":{text},"args":{{}}}}"#)
            }
            _ => "{}".to_owned(),
        };
        let token = self.text();
        let modern = if self.entropy.chance(50) {
            format!(",{MODERN_META}")
        } else {
            String::new()
        };
        let mut members = vec![
            ("name".to_owned(), name),
            ("arguments".to_owned(), arguments),
            ("uri".to_owned(), "\"file:///r\"".to_owned()),
            (
                "protocolVersion".to_owned(),
                if self.entropy.chance(70) {
                    "\"2025-03-26\"".to_owned()
                } else {
                    self.text()
                },
            ),
            (
                "_meta".to_owned(),
                format!(r#"{{"progressToken":{token}{modern}}}"#),
            ),
        ];
        self.spoil(&mut members);
        (method, self.object(&members))
    }
}
