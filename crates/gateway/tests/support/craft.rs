//! Messages grown from choices: what a hostile server or client might say, with tokens in every place that may carry
//! text. Bytes of a fuzzer or a seed make the choices, so that a small change of the input is a small change of a message.

mod client;
mod greeting;
mod result;
mod server;

use super::entropy::Entropy;
use super::oracle::Oracle;
use super::transforms::TRANSFORMS;

/// Names that mean something somewhere.
const NAMES: &str = "text type content structuredContent isError message data level logger description title name uri mimeType \
    blob resource annotations _meta role messages contents values method params result error code id jsonrpc \
    s n o a icons src url mode requestedSchema properties systemPrompt size lastModified audience arguments \
    enum default inputSchema outputSchema ref total hasMore";
const WORDS: &[&str] = &[
    "a",
    "hello ",
    "\n",
    "\"",
    "\\",
    "",
    "caf\u{e9} ",
    "data: ",
    "{\"x\":1}",
    "<b>",
    "[1]",
    "|",
    "<",
    "\u{200b}",
    "QUJD",
    "Human: ",
];

/// A member of an object: its name, decoded, and its value as it is written.
type Member = (String, String);

/// Writes messages.
pub(crate) struct Craft<'a> {
    entropy: Entropy<'a>,
    oracle: &'a Oracle,
}

impl<'a> Craft<'a> {
    pub(crate) fn new(entropy: Entropy<'a>, oracle: &'a Oracle) -> Self {
        Self { entropy, oracle }
    }

    /// Sometimes adds what does not belong, repeats what does, or changes the order.
    fn spoil(&mut self, members: &mut Vec<Member>) {
        match self.entropy.below(12) {
            0..=1 => {
                let member = (self.name(), self.value(2));
                let at = self.entropy.below(members.len() + 1);
                members.insert(at, member);
            }
            2 if !members.is_empty() => {
                let at = self.entropy.below(members.len());
                let key = members[at].0.clone();
                let value = if self.entropy.chance(50) {
                    members[at].1.clone()
                } else {
                    self.value(2)
                };
                members.push((key, value));
            }
            3 => members.reverse(),
            4 => members.push(("_meta".to_owned(), self.value(2))),
            5 => members.push(("annotations".to_owned(), self.value(2))),
            _ => {}
        }
    }

    fn name(&mut self) -> String {
        if self.entropy.chance(30) {
            self.words()
        } else {
            let names: Vec<&str> = NAMES.split_whitespace().collect();
            self.entropy.pick(&names).to_owned()
        }
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> String) -> String {
        let count = self.entropy.below(4);
        let items: Vec<String> = (0..count).map(|_| item(self)).collect();
        format!("[{}]", items.join(","))
    }

    fn object(&mut self, members: &[Member]) -> String {
        let members: Vec<String> = members
            .iter()
            .map(|(key, value)| {
                let blank = if self.entropy.chance(5) { " " } else { "" };
                format!("{}{blank}:{blank}{value}", self.quoted(key))
            })
            .collect();
        format!("{{{}}}", members.join(","))
    }

    /// Any value at most so deep.
    pub(crate) fn value(&mut self, depth: usize) -> String {
        match self.entropy.below(if depth == 0 { 5 } else { 9 }) {
            0..=2 => self.text(),
            3 => self
                .entropy
                .pick(&["1", "-2.50", "1e999", "12345678901234567890"])
                .to_owned(),
            4 => self.entropy.pick(&["true", "null"]).to_owned(),
            5..=6 => self.list(|craft| craft.value(depth - 1)),
            _ => {
                let count = self.entropy.below(4);
                let members: Vec<Member> = (0..count)
                    .map(|_| (self.name(), self.value(depth - 1)))
                    .collect();
                self.object(&members)
            }
        }
    }

    /// A string with its quotes.
    pub(crate) fn text(&mut self) -> String {
        let words = self.words();
        self.quoted(&words)
    }

    fn words(&mut self) -> String {
        let count = 1 + self.entropy.below(3);
        (0..count).map(|_| self.fragment()).collect()
    }

    fn fragment(&mut self) -> String {
        let choice = self.entropy.below(10);
        if choice < 4 {
            return self.entropy.pick(WORDS).to_owned();
        }
        let tokens = self.oracle.tokens();
        let token = tokens[self.entropy.below(tokens.len())].text.clone();
        let middle = token.chars().count() / 2;
        match choice {
            4..=6 => token,
            7 => token.chars().take(middle).collect(),
            8 => token.chars().skip(middle).collect(),
            _ => {
                let (_, disguise) = TRANSFORMS[self.entropy.below(TRANSFORMS.len())];
                disguise(&token)
            }
        }
    }

    /// A string as JSON, some of its characters as escapes.
    fn quoted(&mut self, text: &str) -> String {
        let style = self.entropy.below(8);
        let mut quoted = String::from("\"");
        for (index, c) in text.chars().enumerate() {
            let escape = match style {
                0 => true,
                1 => index % 2 == 0,
                2 => !c.is_alphanumeric(),
                _ => matches!(c, '"' | '\\' | '\0'..='\x1F'),
            };
            if escape {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    quoted.extend(format!("\\u{unit:04x}").chars());
                }
            } else {
                quoted.push(c);
            }
        }
        quoted.push('"');
        quoted
    }
}
