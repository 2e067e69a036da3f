//! Which key of the configuration decides the mode of a tool's results. An operator asks this when a tool is held to
//! another mode than expected.

use countersign_inspect::word_enum;

use super::{Config, Profile};

word_enum! {
    /// Where the `output_validation.mode` that holds for a tool is set, outermost first. The words are those of the REST
    /// interface.
    pub enum ModeSource {
        /// Nowhere: it is the default.
        Default = "default",
        /// By the `profile` of the file.
        Profile = "profile",
        /// By the file's own `output_validation`.
        File = "file",
        /// By the `profile` of the server.
        ServerProfile = "server_profile",
        /// By the server's `output_validation`.
        Server = "server",
        /// By the tool's own `output_validation`.
        Tool = "tool",
    }
}

impl ModeSource {
    /// The key that sets it, as a path in the configuration file; nothing for the default.
    pub fn key(self, server: &str, tool: &str) -> Option<String> {
        const MODE: &str = "output_validation.mode";
        let server = format!("mcpServers.{server}");
        match self {
            Self::Default => None,
            Self::Profile => Some("profile".to_owned()),
            Self::File => Some(MODE.to_owned()),
            Self::ServerProfile => Some(format!("{server}.profile")),
            Self::Server => Some(format!("{server}.{MODE}")),
            Self::Tool => Some(format!("{server}.tools.{tool}.{MODE}")),
        }
    }
}

impl Config {
    /// Which of the settings that [`Config::policy`] puts together decides the mode.
    pub fn mode_source(&self, server: &str, tool: &str) -> ModeSource {
        let server = self.server(server);
        let tool = server.and_then(|server| server.tools.get(tool));
        let [outer, inner] = self.profiles(server).map(Profile::output);
        let innermost_first = [
            (tool.and_then(|tool| tool.output.mode), ModeSource::Tool),
            (
                server.and_then(|server| server.output.mode),
                ModeSource::Server,
            ),
            (inner.mode, ModeSource::ServerProfile),
            (self.output.mode, ModeSource::File),
            (outer.mode, ModeSource::Profile),
        ];
        let mut set = innermost_first.into_iter();
        set.find(|(mode, _)| mode.is_some())
            .map_or(ModeSource::Default, |(_, source)| source)
    }
}

#[cfg(test)]
mod tests {
    use countersign_inspect::Mode;

    use super::*;
    use crate::{Server, ToolConfig};

    /// A configuration that sets the mode by this source and by every source outside of it.
    fn set_up_to(source: ModeSource) -> Config {
        let is_set = |one: ModeSource| {
            let place = |wanted| ModeSource::ALL.iter().position(|it| *it == wanted);
            place(one) <= place(source)
        };
        let mode = |one| is_set(one).then_some(Mode::Off);
        let profile = |one| is_set(one).then_some(Profile::Hardened);
        let mut config = Config {
            profile: profile(ModeSource::Profile).unwrap_or_default(),
            ..Config::default()
        };
        config.output.mode = mode(ModeSource::File);
        let mut server = Server::stdio("s", "true".to_owned(), []);
        server.profile = profile(ModeSource::ServerProfile);
        server.output.mode = mode(ModeSource::Server);
        let mut tool = ToolConfig::default();
        tool.output.mode = mode(ModeSource::Tool);
        server.tools.insert("t".to_owned(), tool);
        config.servers.push(server);
        config
    }

    #[test]
    fn the_innermost_setting_is_the_source_of_the_mode() {
        for &source in ModeSource::ALL {
            let config = set_up_to(source);
            assert_eq!(config.mode_source("s", "t"), source);
            let mode = config.policy("s", "t").output.mode;
            let expected = match source {
                ModeSource::Default => Mode::Warn,
                ModeSource::Profile | ModeSource::ServerProfile => Mode::Strict,
                _ => Mode::Off,
            };
            assert_eq!(mode, expected, "{source:?}");
        }
        let key = ModeSource::Tool.key("s", "t");
        let expected = "mcpServers.s.tools.t.output_validation.mode";
        assert_eq!(key.as_deref(), Some(expected));
    }
}
