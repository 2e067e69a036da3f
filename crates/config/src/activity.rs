//! Records: where they are stored, what is kept of them, for how long, and how surely.

use countersign_audit::{Durability, OnStoreError, Payloads, Signer};

use super::anchor::Anchor;
use super::effective::EffectiveSettings;
use super::keys::Form;
use super::mask::shown_url;
use super::reader::Reader;
use super::rules;
use super::secret::Secret;
use super::setting::{keys, read_into};

/// The largest whole number that every JSON reader keeps exactly.
const MANY: u64 = 1 << 53;

keys! {
    /// Where records are stored.
    #[block("storage")]
    pub struct Storage {
        /// `sqlite:` is a file in the data directory, `sqlite:PATH` another file, `postgres://USER@HOST/DATABASE` a
        /// PostgreSQL that several gateways share: see `docs/guides/postgres.md`. May contain `${env:NAME}`.
        /// `COUNTERSIGN_STORAGE_URL` wins over it.
        #[key(Form::Text, Restart)]
        url: Secret = Secret::new("sqlite:"), default r#""sqlite:""#, read read_storage_url, show show_storage_url;
    }
}

keys! {
    /// The activity log: what is kept, for how long, and how surely.
    #[block("activity")]
    pub struct ActivityConfig {
        /// Records older than this go; 0 keeps them whatever their age.
        #[key(Form::Number(0, 36_500), Restart)]
        retention_days: u32 = 90;
        /// Nothing younger than this goes, whatever the other limits say. If the store then exceeds `max_size_mb`, no
        /// more records are written and `on_store_error` decides.
        #[key(Form::Number(0, 36_500), Restart)]
        retention_floor_days: u32 = 1;
        /// More records than this go, oldest first; 0 sets no limit.
        #[key(Form::Number(0, MANY), Restart)]
        max_records: u64 = 1_000_000;
        /// Records go, oldest first, until the store is no larger than this many MiB; 0 sets no limit. Tool
        /// declarations are not counted: each server has 16 MiB for them.
        #[key(Form::Number(0, 1 << 32), Restart)]
        // A busy day has to fit: within `retention_floor_days` nothing is removed, and strict gateways refuse calls that
        // they cannot record.
        max_size_mb: u64 = 8192;
        /// Whether arguments and results are stored: not at all, without what looks like a secret and only if they
        /// passed, or as they were.
        #[key(Form::Choice(Payloads::WORDS), Reload)]
        payloads: Payloads = Payloads::None;
        /// How much of a payload is stored at most, in bytes.
        #[key(Form::Number(0, 1 << 30), Reload)]
        payload_max_bytes: usize = 64 << 10;
        /// When a reply may leave: after its records are committed (they survive the process), after they are flushed
        /// to disk (they survive a power loss), or at once (they may be lost, and losses are counted).
        #[key(Form::Choice(Durability::WORDS), Restart)]
        durability: Durability = Durability::Commit;
        /// What a call does when its record cannot be written: `auto` refuses in strict mode and goes on otherwise.
        #[key(Form::Choice(OnStoreError::WORDS), Reload)]
        on_store_error: OnStoreError = OnStoreError::Auto;
        /// How many streams of `/events` may be open at once; more are answered with 503. 0 opens none. Streams that are
        /// open stay so when it is lowered.
        #[key(Form::Number(0, 4096), Reload)]
        max_event_streams: usize = 128;
        /// The key that signs checkpoints, 64 hexadecimal digits; best a reference such as `${env:NAME}`. `null`: one
        /// is generated into the data directory at first start.
        #[key(Form::OptionalText, Restart, FileOnly)]
        signing_key: Option<Secret> = None, read read_signing_key;
        /// The key that signed before, while readers of log heads learn the new one: it signs them as well. 64
        /// hexadecimal digits; best a reference such as `${env:NAME}`.
        #[key(Form::OptionalText, Restart, FileOnly)]
        previous_signing_key: Option<Secret> = None, read read_signing_key;
        /// The name of the log in its heads and receipts, best a domain and a path of yours without a scheme. `null`: a
        /// name that was made with the store. Witnesses know a log by its name, so it must not change.
        #[key(Form::OptionalText, Restart, FileOnly)]
        log_origin: Option<String> = None, read read_log_origin;
        /// Where signed log heads are published, every ten seconds if the log grew: `"file:PATH"` appends, `"stdout"`
        /// prints, `"post:URL"` and `"put:URL"` send (`{size}` in the URL is replaced by the size of the log),
        /// `"s3:REGION URL"` stores an object with a signed request (keys from `AWS_ACCESS_KEY_ID` and
        /// `AWS_SECRET_ACCESS_KEY`, or `"s3:REGION KEY_ID SECRET_KEY URL"`),
        /// `"witness:NAME+HASH+KEY URL"` asks a witness for its signature. May contain `${env:NAME}`. See
        /// `docs/concepts/proof.md`.
        #[key(Form::Texts, Restart, FileOnly)]
        anchors: Vec<Anchor> = Vec::new();
    }
}

/// Which database records go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database<'a> {
    /// A file: this one, or `activity.db` in the data directory.
    Sqlite(Option<&'a str>),
    /// PostgreSQL at this URL.
    Postgres(&'a str),
}

impl Storage {
    /// Which database the URL names.
    pub fn database(&self) -> Database<'_> {
        let url = self.url.expose();
        match url.strip_prefix("sqlite:") {
            Some(path) => Database::Sqlite(Some(path).filter(|path| !path.is_empty())),
            None => Database::Postgres(url),
        }
    }

    /// The URL without what may be secret.
    pub fn shown_url(&self) -> String {
        shown_url(self.url.expose())
    }

    /// The password in the URL, as it is written there.
    pub(crate) fn password(&self) -> Option<&str> {
        let (_, rest) = self.url.expose().split_once("://")?;
        let authority = rest.split(['/', '?']).next()?;
        let (user, _) = authority.rsplit_once('@')?;
        user.split_once(':').map(|(_, password)| password)
    }
}

impl Default for Storage {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl Default for ActivityConfig {
    fn default() -> Self {
        Self::with_defaults()
    }
}

fn read_storage_url(reader: &mut Reader<'_, '_>, node: u32, url: &mut Secret) {
    read_into(reader, node, url);
    reader.usable(node, rules::storage_url(url.expose()));
}

/// May hold a password.
fn show_storage_url(storage: &Storage, _: &EffectiveSettings) -> String {
    shown_url(storage.url.expose())
}

fn read_log_origin(reader: &mut Reader<'_, '_>, node: u32, origin: &mut Option<String>) {
    read_into(reader, node, origin);
    let is_name = |name: &String| {
        !name.is_empty()
            && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+')
    };
    if origin.as_ref().is_some_and(|origin| !is_name(origin)) {
        reader.refuse(
            node,
            "not a name for a log",
            "write a domain and a path without spaces and plus signs, such as \"example.com/countersign\"",
        );
    }
}

fn read_signing_key(reader: &mut Reader<'_, '_>, node: u32, key: &mut Option<Secret>) {
    read_into(reader, node, key);
    let signer = key.as_ref().map(|key| Signer::from_text(key.expose()));
    if let Some(Err(_)) = signer {
        reader.refuse(
            node,
            "not 64 hexadecimal digits",
            "`openssl rand -hex 32` makes one; null has one generated",
        );
    }
}
