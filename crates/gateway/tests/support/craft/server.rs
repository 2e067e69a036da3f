//! What a server says while it is called: replies, notifications, requests, batches of them, and noise.

use super::{Craft, Member};

pub(super) const METHODS: &[&str] = &[
    "sampling/createMessage",
    "elicitation/create",
    "roots/list",
    "ping",
    "notifications/message",
    "notifications/progress",
    "notifications/cancelled",
    "notifications/tools/list_changed",
    "notifications/elicitation/complete",
    "notifications/resources/updated",
    "tools/call",
    "x",
];

impl Craft<'_> {
    /// What a server says to one request: one to four messages, which answer it or do not.
    pub(crate) fn server(&mut self) -> Vec<String> {
        let count = 1 + self.entropy.below(4);
        (0..count).map(|_| self.server_message()).collect()
    }

    /// A reply to the request.
    pub(crate) fn reply(&mut self) -> String {
        let result = if self.entropy.chance(15) {
            self.error()
        } else {
            ("result".to_owned(), self.result())
        };
        let mut members = vec![
            ("jsonrpc".to_owned(), "\"2.0\"".to_owned()),
            ("id".to_owned(), "@id".to_owned()),
            result,
        ];
        self.spoil(&mut members);
        self.object(&members)
    }

    fn server_message(&mut self) -> String {
        match self.entropy.below(10) {
            0..=4 => self.reply(),
            5..=6 => self.notification(),
            7 => self.request(),
            8 => {
                let parts: Vec<String> = (0..=self.entropy.below(3))
                    .map(|_| {
                        if self.entropy.chance(60) {
                            self.reply()
                        } else {
                            self.notification()
                        }
                    })
                    .collect();
                format!("[{}]", parts.join(","))
            }
            _ => self.value(3),
        }
    }

    /// An `error` member, mostly of the right shape.
    pub(super) fn error(&mut self) -> Member {
        let error = if self.entropy.chance(70) {
            let (message, data) = (self.text(), self.value(2));
            let mut members = vec![
                ("code".to_owned(), "-32000".to_owned()),
                ("message".to_owned(), message),
                ("data".to_owned(), data),
            ];
            self.spoil(&mut members);
            self.object(&members)
        } else {
            self.value(2)
        };
        ("error".to_owned(), error)
    }

    fn notification(&mut self) -> String {
        let method = self.entropy.pick(METHODS);
        let params = self.params(method);
        let mut members = vec![
            ("jsonrpc".to_owned(), "\"2.0\"".to_owned()),
            ("method".to_owned(), format!("\"{method}\"")),
            ("params".to_owned(), params),
        ];
        self.spoil(&mut members);
        self.object(&members)
    }

    fn request(&mut self) -> String {
        let method = self.entropy.pick(METHODS);
        let params = self.params(method);
        let id = if self.entropy.chance(30) {
            self.text()
        } else {
            "77".to_owned()
        };
        let mut members = vec![
            ("jsonrpc".to_owned(), "\"2.0\"".to_owned()),
            ("id".to_owned(), id),
            ("method".to_owned(), format!("\"{method}\"")),
            ("params".to_owned(), params),
        ];
        self.spoil(&mut members);
        self.object(&members)
    }

    pub(super) fn params(&mut self, method: &str) -> String {
        let (one, other) = (self.text(), self.value(2));
        let mut members: Vec<Member> = match method {
            "notifications/message" => vec![
                ("level", "\"info\"".to_owned()),
                ("logger", one),
                ("data", other),
            ],
            "notifications/progress" => vec![
                ("progressToken", "@id".to_owned()),
                ("progress", "0.5".to_owned()),
                ("message", one),
            ],
            "notifications/cancelled" => vec![("requestId", "77".to_owned()), ("reason", one)],
            "elicitation/create" => vec![
                ("message", one),
                ("requestedSchema", other),
                ("url", self.text()),
            ],
            "sampling/createMessage" => vec![
                (
                    "messages",
                    format!(r#"[{{"role":"user","content":{}}}]"#, self.block()),
                ),
                ("systemPrompt", one),
                ("maxTokens", "5".to_owned()),
            ],
            _ => vec![("name", one), ("arguments", other)],
        }
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
        if self.entropy.chance(20)
            && let Some(member) = members.first_mut()
        {
            member.1 = self.text();
        }
        self.spoil(&mut members);
        self.object(&members)
    }
}
