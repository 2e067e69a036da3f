//! Who may see what: the classifiers that servers and tools name, and those nobody names.

use super::Resolver;
use crate::document::brief;
use crate::model::Config;
use crate::nearest::nearest;
use crate::problem::Problem;

impl Resolver<'_, '_> {
    /// The classifiers a server or tool names, each of which there must be.
    pub(in super::super) fn allowed(
        &mut self,
        pointer: &str,
        names: Option<Vec<String>>,
    ) -> Option<Vec<String>> {
        let names = names?;
        for (index, name) in names.iter().enumerate() {
            let known = self.classifiers.clone();
            if known.contains(name) {
                continue;
            }
            let message = format!("there is no classifier \"{}\"", brief(name));
            let listed = known.join(", ");
            let hint = match nearest(name, known.iter().map(String::as_str)) {
                _ if known.is_empty() => "describe it in \"classifiers\"".to_owned(),
                Some(meant) => format!("did you mean \"{meant}\"? there are: {listed}"),
                None => format!("there are: {listed}"),
            };
            let place = format!("{pointer}/classify/{index}");
            self.refuse(&place, Problem::new(None, message).hint(hint));
        }
        Some(names)
    }

    /// A classifier nobody may use is probably not what was meant.
    pub(in super::super) fn unused_classifiers(&mut self, config: &Config) {
        let lists = config.servers.iter().flat_map(|server| {
            let tools = server
                .tools
                .values()
                .filter_map(|tool| tool.classify.as_ref());
            server.classify.iter().chain(tools)
        });
        let used: Vec<&String> = lists.flatten().collect();
        for (index, classifier) in config.classifiers.iter().enumerate() {
            if !used.contains(&&classifier.settings.name) {
                let warning = Problem::new(
                    None,
                    "no server and no tool lets this classifier see anything",
                )
                .hint("put its name into \"classify\" of a server or tool");
                self.warn(&format!("/classifiers/{index}"), warning);
            }
        }
    }
}
