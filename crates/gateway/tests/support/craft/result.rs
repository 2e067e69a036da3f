//! Results of every kind of call, with all that may stand in them.

use super::server::METHODS;
use super::{Craft, Member};

impl Craft<'_> {
    pub(super) fn result(&mut self) -> String {
        if self.entropy.chance(5) {
            return self.value(2);
        }
        let count = 1 + self.entropy.below(4);
        let mut members: Vec<Member> = (0..count).map(|_| self.result_member()).collect();
        if self.entropy.chance(50) {
            members.push(("content".to_owned(), "[]".to_owned()));
        }
        self.spoil(&mut members);
        self.object(&members)
    }

    fn result_member(&mut self) -> Member {
        let (key, value) = match self.entropy.below(20) {
            0..=3 => ("content", self.list(Self::block)),
            4..=5 => ("structuredContent", self.structured()),
            6 => ("messages", self.list(Self::prompt_message)),
            7 => ("contents", self.list(Self::resource)),
            8 => ("prompts", self.list(Self::described)),
            9 => ("resources", self.list(Self::resource)),
            10 => ("resourceTemplates", self.list(Self::described)),
            11 => ("completion", {
                let values = self.list(Self::text);
                format!(r#"{{"values":{values},"total":1}}"#)
            }),
            12 => ("inputRequests", self.input_requests()),
            13 => ("requestState", self.text()),
            14 => ("nextCursor", self.text()),
            15 => ("_meta", self.value(3)),
            16 => ("description", self.text()),
            17 => (
                "isError",
                self.entropy.pick(&["true", "false", "\"true\""]).to_owned(),
            ),
            18 => (
                "resultType",
                if self.entropy.chance(70) {
                    "\"input_required\"".to_owned()
                } else {
                    self.text()
                },
            ),
            _ => return (self.name(), self.value(3)),
        };
        (key.to_owned(), value)
    }

    fn structured(&mut self) -> String {
        let mut members = Vec::new();
        for key in ["s", "o", "a"] {
            if self.entropy.chance(50) {
                let value = match key {
                    "s" => self.text(),
                    "o" => self.value(3),
                    _ => self.list(|craft| craft.value(2)),
                };
                members.push((key.to_owned(), value));
            }
        }
        self.spoil(&mut members);
        self.object(&members)
    }

    fn input_requests(&mut self) -> String {
        let method = self.entropy.pick(METHODS);
        let (name, params) = (self.name(), self.params(method));
        let request = vec![
            ("method".to_owned(), format!("\"{method}\"")),
            ("params".to_owned(), params),
        ];
        let request = self.object(&request);
        self.object(&[(name, request)])
    }

    fn prompt_message(&mut self) -> String {
        if self.entropy.chance(20) {
            return self.text();
        }
        let content = if self.entropy.chance(80) {
            self.block()
        } else {
            self.value(2)
        };
        let role = if self.entropy.chance(80) {
            "\"user\"".to_owned()
        } else {
            self.text()
        };
        self.object(&[("role".to_owned(), role), ("content".to_owned(), content)])
    }

    /// A resource, a prompt, a template: something with a name and words about it.
    fn described(&mut self) -> String {
        let mut members: Vec<Member> = Vec::new();
        for key in ["name", "title", "description", "uriTemplate", "mimeType"] {
            if self.entropy.chance(40) {
                members.push((key.to_owned(), self.text()));
            }
        }
        if self.entropy.chance(30) {
            members.push(("arguments".to_owned(), self.list(Self::described)));
        }
        self.spoil(&mut members);
        self.object(&members)
    }

    fn resource(&mut self) -> String {
        if self.entropy.chance(15) {
            return self.text();
        }
        let mut members = vec![("uri".to_owned(), self.text())];
        for key in ["text", "blob", "mimeType", "name", "description"] {
            if self.entropy.chance(30) {
                members.push((key.to_owned(), self.text()));
            }
        }
        self.spoil(&mut members);
        self.object(&members)
    }

    pub(super) fn block(&mut self) -> String {
        let (kind, members): (&str, Vec<(&str, String)>) = match self.entropy.below(10) {
            0..=3 => ("text", vec![("text", self.text())]),
            4 => (
                "image",
                vec![("data", self.text()), ("mimeType", self.text())],
            ),
            5 => (
                "audio",
                vec![
                    ("data", self.text()),
                    ("mimeType", "\"audio/wav\"".to_owned()),
                ],
            ),
            6 => ("resource", vec![("resource", self.resource())]),
            7 => (
                "resource_link",
                vec![
                    ("uri", self.text()),
                    ("name", self.text()),
                    ("title", self.text()),
                ],
            ),
            8 => (
                "tool_result",
                vec![
                    ("content", self.list(|craft| craft.value(2))),
                    ("toolUseId", self.text()),
                ],
            ),
            _ => {
                return if self.entropy.chance(50) {
                    self.value(3)
                } else {
                    self.list(Self::text)
                };
            }
        };
        let mut all = vec![("type".to_owned(), format!("\"{kind}\""))];
        all.extend(
            members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value)),
        );
        self.spoil(&mut all);
        self.object(&all)
    }
}
