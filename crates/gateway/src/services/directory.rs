//! Which server a prompt or a resource comes from, for clients of the merged endpoints. It holds what the servers listed
//! last. An address is shown as it is where it leads back to one server; any other address is wrapped, so that no server
//! can take over what another one has by listing the same address.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use countersign_dial::lock;
use countersign_wire::Method;

use crate::state::names::{looks_wrapped, wire_name, wrap_uri};

/// More bytes of names and addresses than this are not kept of one list. What is not kept is shown wrapped.
const MAX_BYTES: usize = 4 << 20;

/// What the servers list besides tools.
#[derive(Debug, Default)]
pub(crate) struct Directory(Mutex<HashMap<Arc<str>, Listed>>);

/// What one server lists.
#[derive(Debug, Default)]
struct Listed {
    /// Prompts whose `server__name` names do not contain the names of the server, by the former.
    marked_prompts: HashMap<String, String>,
    resources: BTreeSet<String>,
    templates: BTreeSet<String>,
}

impl Listed {
    fn has(&self, uri: &str) -> bool {
        self.resources.contains(uri) || self.templates.contains(uri)
    }

    /// Whether an address may come from a template.
    fn has_template_for(&self, uri: &str) -> bool {
        let mut prefixes = self.templates.iter().map(|template| fixed_part(template));
        prefixes.any(|prefix| uri.starts_with(prefix))
    }

    /// Whether an address with this beginning is listed, or may come from a template.
    fn overlaps(&self, prefix: &str) -> bool {
        let mut templates = self.templates.iter().map(|template| fixed_part(template));
        let next = self.resources.range(prefix.to_owned()..).next();
        next.is_some_and(|uri| uri.starts_with(prefix))
            || templates.any(|other| other.starts_with(prefix) || prefix.starts_with(other))
    }
}

impl Directory {
    /// Takes note of a server's whole list: names of prompts, addresses of resources, or templates.
    pub(crate) fn replace<'a>(
        &self,
        server: &Arc<str>,
        method: Method,
        keys: impl Iterator<Item = &'a str>,
    ) {
        let mut bytes = 0;
        let keys = keys.take_while(|key| {
            bytes += key.len();
            bytes <= MAX_BYTES
        });
        let mut all = lock(&self.0);
        let listed = all.entry(Arc::clone(server)).or_default();
        match method {
            Method::ListPrompts => {
                let marked = keys.filter_map(|name| {
                    let shown = wire_name(server, name);
                    (!shown.ends_with(name)).then(|| (shown, name.to_owned()))
                });
                listed.marked_prompts = marked.collect();
            }
            Method::ListResources => listed.resources = keys.map(str::to_owned).collect(),
            Method::ListTemplates => listed.templates = keys.map(str::to_owned).collect(),
            _ => {}
        }
    }

    /// The server's own name of a prompt with a marked name, if the server lists one.
    pub(crate) fn marked_prompt(&self, server: &str, shown: &str) -> Option<String> {
        let all = lock(&self.0);
        all.get(server)?.marked_prompts.get(shown).cloned()
    }

    /// The one server that an address leads to: the server that lists it, or else the one with a template for it.
    pub(crate) fn owner(&self, uri: &str) -> Option<Arc<str>> {
        if looks_wrapped(uri) {
            return None;
        }
        let all = lock(&self.0);
        let mut listing = all.iter().filter(|(_, listed)| listed.has(uri));
        if let Some((server, _)) = listing.next() {
            return listing.next().is_none().then(|| Arc::clone(server));
        }
        let mut able = all.iter().filter(|(_, it)| it.has_template_for(uri));
        let (server, _) = able.next()?;
        able.next().is_none().then(|| Arc::clone(server))
    }

    /// The address of a server's resource as clients of the merged endpoints are shown it.
    pub(crate) fn shown_uri(&self, server: &str, uri: &str) -> String {
        match self.owner(uri) {
            Some(owner) if *owner == *server => uri.to_owned(),
            _ => wrap_uri(server, uri),
        }
    }

    /// A server's template as clients of the merged endpoints are shown it: as it is if nothing that another server has
    /// can be meant by it.
    pub(crate) fn shown_template(&self, server: &str, template: &str) -> String {
        let prefix = fixed_part(template);
        let all = lock(&self.0);
        let mut others = all.iter().filter(|(other, _)| ***other != *server);
        let is_kept = all.get(server).is_some_and(|it| it.has(template));
        if looks_wrapped(template) || !is_kept || others.any(|(_, it)| it.overlaps(prefix)) {
            return wrap_uri(server, template);
        }
        template.to_owned()
    }

    /// Forgets servers that are not there any more.
    pub(crate) fn retain(&self, is_there: impl Fn(&str) -> bool) {
        lock(&self.0).retain(|server, _| is_there(server));
    }
}

/// What every address of a template begins with.
fn fixed_part(template: &str) -> &str {
    template.split('{').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(lists: &[(&str, Method, &[&str])]) -> Directory {
        let directory = Directory::default();
        for (server, method, keys) in lists {
            directory.replace(&Arc::from(*server), *method, keys.iter().copied());
        }
        directory
    }

    #[test]
    fn an_address_stays_where_it_leads_to_one_server() {
        let directory = directory(&[
            ("a", Method::ListResources, &["x:1", "x:both"]),
            ("b", Method::ListResources, &["x:2", "x:both"]),
        ]);
        assert_eq!(directory.owner("x:1").as_deref(), Some("a"));
        assert_eq!(directory.owner("x:both"), None);
        assert_eq!(directory.shown_uri("a", "x:1"), "x:1");
        // Another server's address, one that no server lists, and one that two do.
        assert_eq!(directory.shown_uri("b", "x:1"), "countersign:b/x:1");
        assert_eq!(directory.shown_uri("a", "x:3"), "countersign:a/x:3");
        assert_eq!(directory.shown_uri("a", "x:both"), "countersign:a/x:both");
    }

    #[test]
    fn an_address_that_names_a_server_is_not_believed() {
        let forged = "countersign:b/x:1";
        let directory = directory(&[("a", Method::ListResources, &[forged])]);
        assert_eq!(directory.owner(forged), None);
        assert_eq!(
            directory.shown_uri("a", forged),
            "countersign:a/countersign:b/x:1"
        );
    }

    #[test]
    fn a_template_stays_where_no_other_server_can_be_meant() {
        let directory = directory(&[
            (
                "a",
                Method::ListTemplates,
                &["log://{day}", "file:///a/{x}"],
            ),
            ("b", Method::ListTemplates, &["file:///{+path}", "db:{id}"]),
            ("c", Method::ListResources, &["db:7"]),
        ]);
        assert_eq!(directory.shown_template("a", "log://{day}"), "log://{day}");
        assert_eq!(directory.owner("log://monday").as_deref(), Some("a"));
        for (server, template) in [
            ("a", "file:///a/{x}"),
            ("b", "file:///{+path}"),
            ("b", "db:{id}"),
        ] {
            let wrapped = wrap_uri(server, template);
            assert_eq!(directory.shown_template(server, template), wrapped);
        }
        assert_eq!(directory.owner("file:///a/1"), None);
        assert_eq!(directory.owner("db:7").as_deref(), Some("c"));
        directory.retain(|server| server != "b");
        assert_eq!(directory.owner("file:///a/1").as_deref(), Some("a"));
    }

    #[test]
    fn marked_names_of_prompts_lead_back() {
        let directory = directory(&[("a", Method::ListPrompts, &["plain", "dotted.name"])]);
        let shown = wire_name("a", "dotted.name");
        let found = directory.marked_prompt("a", &shown);
        assert_eq!(found.as_deref(), Some("dotted.name"));
        assert_eq!(directory.marked_prompt("a", "a__plain"), None);
        assert_eq!(directory.marked_prompt("b", "b__x_01234567"), None);
    }
}
