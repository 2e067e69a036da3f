//! The resolved configuration as JSON, in the shape of the file, with what holds at each level instead of what is written
//! there. Secrets are not in it: keys, headers, the environment of children, what follows a telling flag, queries of
//! addresses.

use countersign_audit::Redactor;

use super::effective::EffectiveSettings;
use super::model::Config;
use super::secret::Secret;
use super::setting::ShownBlock;

impl Config {
    /// The resolved configuration as JSON, without secrets.
    pub fn show(&self) -> String {
        // Maps with string keys and plain values cannot fail to serialise.
        let text = serde_json::to_string_pretty(&ShownBlock(self, &self.effective()));
        text.unwrap_or_default()
    }

    /// A redactor that knows every secret of this configuration.
    pub fn redactor(&self) -> Redactor {
        let servers = self.servers.iter();
        let servers = servers.flat_map(|server| server.transport.secrets().values());
        let oauth = self
            .servers
            .iter()
            .filter_map(|server| server.oauth.as_ref());
        let oauth = oauth.flat_map(|oauth| [&oauth.client_secret, &oauth.private_key]);
        let oauth = oauth.filter_map(Option::as_ref);
        let secrets = self.own_secrets().chain(servers).chain(oauth);
        let secrets = secrets.map(|secret| secret.expose().to_owned());
        let password = self.storage.password().map(str::to_owned);
        Redactor::new(secrets.chain(password))
    }

    /// The keys of the gateway itself, of its classifiers, of the receiver of its signals and of its clients at issuers.
    pub(crate) fn own_secrets(&self) -> impl Iterator<Item = &Secret> {
        let keys = [
            &self.api_key,
            &self.admin_key,
            &self.session_key,
            &self.seal_key,
            &self.activity.signing_key,
            &self.activity.previous_signing_key,
        ];
        let classifiers = self.classifiers.iter();
        let classifiers = classifiers.flat_map(|classifier| classifier.secrets.values());
        let signals = self.otlp.headers.values();
        let issuers = self.auth.issuers.iter();
        let issuers = issuers.flat_map(|issuer| {
            [
                &issuer.introspection.client_secret,
                &issuer.login.client_secret,
            ]
        });
        let issuers = issuers.filter_map(Option::as_ref);
        let keys = keys.into_iter().flatten();
        keys.chain(classifiers).chain(signals).chain(issuers)
    }

    /// What holds in the file, for each server and for each tool.
    fn effective(&self) -> EffectiveSettings {
        let redactor = self.redactor();
        let mut file = self.effective_for("", "", &redactor);
        for server in &self.servers {
            let mut effective = self.effective_for(&server.name, "", &redactor);
            effective.inner = server
                .tools
                .keys()
                .map(|tool| {
                    (
                        tool.clone(),
                        self.effective_for(&server.name, tool, &redactor),
                    )
                })
                .collect();
            file.inner.insert(server.name.clone(), effective);
        }
        file
    }

    fn effective_for(&self, server: &str, tool: &str, redactor: &Redactor) -> EffectiveSettings {
        let policy = self.policy(server, tool);
        let timeout = self.server(server).and_then(|server| server.timeout);
        EffectiveSettings {
            output: policy.output,
            input: policy.input,
            sanitisation: self.sanitisation(server, tool),
            max_message_depth: policy.max_message_depth,
            timeout: timeout.unwrap_or(self.call_tool_timeout),
            classify: self.classify(server, tool).to_vec(),
            redactor: redactor.clone(),
            inner: std::collections::BTreeMap::new(),
        }
    }
}
