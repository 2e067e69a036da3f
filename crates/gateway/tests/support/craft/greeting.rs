//! What a server says about itself and its tools.

use super::super::server::Greeting;
use super::Craft;

impl Craft<'_> {
    /// What a server says about itself, and one to three tools; the first is one that clients ask for.
    pub(crate) fn greeting(&mut self) -> Greeting {
        let mut members = vec![
            ("instructions".to_owned(), self.text()),
            (self.name(), self.value(2)),
        ];
        self.spoil(&mut members);
        let members = self.object(&members);
        let others = self.entropy.below(3);
        let mut tools = vec![self.tool("\"plain\"".to_owned())];
        for _ in 0..others {
            let name = self.text();
            tools.push(self.tool(name));
        }
        Greeting {
            members: members.trim_matches(['{', '}']).to_owned(),
            tools: tools.join(","),
        }
    }

    fn tool(&mut self, name: String) -> String {
        let mut members = vec![("name".to_owned(), name)];
        for (key, is_schema) in [
            ("title", false),
            ("description", false),
            ("inputSchema", true),
            ("outputSchema", true),
        ] {
            if self.entropy.chance(70) {
                let value = if is_schema {
                    self.schema(3)
                } else {
                    self.text()
                };
                members.push((key.to_owned(), value));
            }
        }
        self.spoil(&mut members);
        self.object(&members)
    }

    fn schema(&mut self, depth: usize) -> String {
        let mut members = vec![("type".to_owned(), "\"object\"".to_owned())];
        for key in [
            "description",
            "enum",
            "default",
            "examples",
            "const",
            "pattern",
            "$ref",
            "required",
            "title",
        ] {
            if self.entropy.chance(15) {
                members.push((key.to_owned(), self.value(1)));
            }
        }
        if depth > 0 && self.entropy.chance(60) {
            let name = self.name();
            let inner = self.schema(depth - 1);
            let properties = self.object(&[(name, inner)]);
            members.push(("properties".to_owned(), properties));
        }
        self.spoil(&mut members);
        self.object(&members)
    }
}
