//! Reads the callers of a file.

use serde::Serialize;

use super::{CallerConfig, CallerCredential, CallerRight, ShownCaller};
use crate::document::brief;
use crate::effective::EffectiveSettings;
use crate::keys::Form;
use crate::name;
use crate::problem::Problem;
use crate::reader::Reader;
use crate::setting::Setting;

/// The names of the callers that every gateway has.
const RESERVED: [&str; 2] = ["client", "operator"];
/// The longest name of a group, and of a certificate.
const MAX_TEXT: usize = 256;

impl Setting for Vec<CallerConfig> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let elements: Vec<_> = reader.tape().children(node).collect();
        let mut callers = Self::with_capacity(elements.len());
        for element in elements {
            if let Some(caller) = reader.caller(element) {
                reader.refuse_second(element, &caller, &callers);
                callers.push(caller);
            }
        }
        Some(callers)
    }

    fn show<'a>(&'a self, _: Form, _: &'a EffectiveSettings) -> Option<impl Serialize + 'a> {
        Some(self.iter().map(ShownCaller).collect::<Vec<_>>())
    }
}

impl Reader<'_, '_> {
    fn caller(&mut self, node: u32) -> Option<CallerConfig> {
        let name = self.caller_name(node);
        let credential = self.caller_credential(node);
        let groups = self.groups(node);
        let rights = self.rights(node);
        let expires = self.member(node, "expires").and_then(|place| {
            let time = self.text(place).parse();
            let hint = "write a time such as \"2027-02-01T00:00:00Z\"";
            let time = time.map_err(|_| Problem::new("not a time", hint));
            self.usable(place, time)
        });
        Some(CallerConfig {
            name: name?,
            credential: credential?,
            groups,
            rights,
            expires,
        })
    }

    fn caller_name(&mut self, node: u32) -> Option<String> {
        let place = self.member(node, "name").unwrap_or(node);
        let name = self.text_of(node, "name").unwrap_or_default();
        let problem = check_caller_name(&name);
        self.usable(place, problem)?;
        Some(name)
    }

    fn caller_credential(&mut self, node: u32) -> Option<CallerCredential> {
        let [key, certificate] = ["key_sha256", "certificate"].map(|key| self.member(node, key));
        match (key, certificate) {
            (Some(key), None) => {
                let digest = parse_digest(&self.text(key));
                let hint = "write 64 hexadecimal digits; `countersign keys add` makes a key";
                let digest = digest.ok_or_else(|| Problem::new("not a SHA-256", hint));
                self.usable(key, digest).map(CallerCredential::Key)
            }
            (None, Some(place)) => {
                let name = self.text(place);
                let hint = "write the URI or DNS name that stands in the certificate";
                let name = is_text(&name).then_some(name);
                let name = name.ok_or_else(|| Problem::new("not a name of a certificate", hint));
                self.usable(place, name).map(CallerCredential::Certificate)
            }
            (given, _) => {
                let message = match given {
                    Some(_) => "a caller has \"key_sha256\" or \"certificate\", not both",
                    None => "a caller needs \"key_sha256\" or \"certificate\"",
                };
                let hint = "`countersign keys add NAME` makes a key and writes the entry";
                self.refuse(node, message, hint);
                None
            }
        }
    }

    fn groups(&mut self, node: u32) -> Vec<String> {
        let Some(place) = self.member(node, "groups") else {
            return Vec::new();
        };
        let groups = self.texts(place);
        if !groups
            .iter()
            .all(|group| is_text(group) && !group.contains('*'))
        {
            let hint = "a group is a word such as \"build\"";
            self.refuse(place, "not the name of a group", hint);
        }
        groups
    }

    fn rights(&mut self, node: u32) -> Vec<CallerRight> {
        let Some(place) = self.member(node, "rights") else {
            return vec![CallerRight::Call];
        };
        let mut rights = Vec::new();
        for word in self.texts(place) {
            let right = word.parse::<CallerRight>();
            let hint = format!("one of {}", CallerRight::WORDS.join(", "));
            let message = || format!("unknown right \"{}\"", brief(&word));
            let right = right.map_err(|_| Problem::new(message(), hint));
            rights.extend(self.usable(place, right));
        }
        rights
    }

    /// Names and credentials belong to one caller each.
    fn refuse_second(&mut self, node: u32, caller: &CallerConfig, known: &[CallerConfig]) {
        let name = known.iter().any(|known| known.name == caller.name);
        let credential = known
            .iter()
            .any(|known| known.credential == caller.credential);
        let message = match (name, credential) {
            (true, _) => format!("there is a caller named \"{}\" already", caller.name),
            (_, true) => "another caller has this credential already".to_owned(),
            _ => return,
        };
        self.refuse(node, message, "give each caller its own");
    }
}

/// Whether a caller may be called this.
pub(crate) fn check_caller_name(given: &str) -> Result<(), Problem> {
    if RESERVED.contains(&given) {
        let hint = "`client` is the caller with the api_key, `operator` the one with the admin_key";
        return Err(Problem::new(
            format!("the name \"{given}\" is reserved"),
            hint,
        ));
    }
    if name::is_allowed(given) {
        return Ok(());
    }
    let message = if given.is_empty() {
        "a caller needs a \"name\"".to_owned()
    } else {
        format!("\"{}\" cannot be the name of a caller", brief(given))
    };
    Err(Problem::new(
        message,
        format!("a name is {}", name::ALLOWED),
    ))
}

fn is_text(text: &str) -> bool {
    (1..=MAX_TEXT).contains(&text.len()) && !text.contains(char::is_control)
}

fn parse_digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(digest)
}
