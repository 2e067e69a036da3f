//! What the types of settings have in common: a value is read from the file, shown, and kept while the gateway runs.

mod declare;

use std::path::PathBuf;
use std::time::Duration;

use countersign_audit::{Durability, OnStoreError, Payloads};
use countersign_inspect::Era;
use countersign_tape::Kind;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::anchor::{Anchor, read_anchors};
use super::duration;
use super::effective::EffectiveSettings;
use super::keys::{Block, ChangeTiming, Form, Key};
use super::reader::Reader;
use super::secret::Secret;

pub(crate) use declare::keys;

/// A type that a key can have.
pub(crate) trait Setting: Sized {
    /// Reads a value of the [`Form`] that its key has. Nothing if the value cannot be used, and the reader knows why.
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self>;

    /// As `config show` prints it; nothing if the key is left out there.
    fn show<'a>(
        &'a self,
        form: Form,
        effective: &'a EffectiveSettings,
    ) -> Option<impl Serialize + 'a>;

    /// Sets a value that cannot change while the gateway runs back to the one in use, and adds its key to `waiting`. The
    /// default is for lists and for blocks of other crates, which change with a reload.
    fn keep(&mut self, _running: &Self, _key: &Key, _waiting: &mut Vec<String>) {}
}

/// A struct that `keys!` declares.
pub(crate) trait Keys: Sized {
    /// Its keys.
    const BLOCK: &'static Block;

    /// Reads each key that the object at `node` has.
    fn read_keys(&mut self, reader: &mut Reader<'_, '_>, node: u32);

    /// Adds each key to what `config show` prints.
    fn show_keys<M: SerializeMap>(
        &self,
        effective: &EffectiveSettings,
        map: &mut M,
    ) -> Result<(), M::Error>;

    /// [`Setting::keep`] for each key.
    fn keep_keys(&mut self, running: &Self, waiting: &mut Vec<String>);
}

/// Reads a setting; one that cannot be used stays as it is.
pub(crate) fn read_into<T: Setting>(reader: &mut Reader<'_, '_>, node: u32, setting: &mut T) {
    if let Some(value) = T::read(reader, node) {
        *setting = value;
    }
}

/// A default as the file would write it; empty when absence has no equivalent value.
pub(crate) fn default_text<T: Setting>(value: &T, form: Form) -> String {
    if matches!(form, Form::Block(_)) {
        return String::new();
    }
    let effective = EffectiveSettings::default();
    let text = value
        .show(form, &effective)
        .map(|shown| serde_json::to_string(&shown));
    // Strings, numbers and lists of them cannot fail to serialise.
    text.transpose().unwrap_or_default().unwrap_or_default()
}

/// An object with the keys of a block.
pub(crate) struct ShownBlock<'a, T>(pub(crate) &'a T, pub(crate) &'a EffectiveSettings);

impl<T: Keys> Serialize for ShownBlock<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.0.show_keys(self.1, &mut map)?;
        map.end()
    }
}

/// A block within another one.
impl<T: Keys + Default> Setting for T {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let mut block = Self::default();
        block.read_keys(reader, node);
        Some(block)
    }

    fn show<'a>(
        &'a self,
        _: Form,
        effective: &'a EffectiveSettings,
    ) -> Option<impl Serialize + 'a> {
        Some(ShownBlock(self, effective))
    }

    fn keep(&mut self, running: &Self, key: &Key, waiting: &mut Vec<String>) {
        let mut inner = Vec::new();
        self.keep_keys(running, &mut inner);
        waiting.extend(inner.into_iter().map(|name| format!("{}.{name}", key.name)));
    }
}

/// A value that need not be there is `null` where the file may say so, and left out elsewhere.
impl<T: Setting + SameValue + Clone> Setting for Option<T> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let is_null = reader.tape().node(node).kind() == Kind::Null;
        (!is_null).then(|| T::read(reader, node).map(Some))?
    }

    fn show<'a>(
        &'a self,
        form: Form,
        effective: &'a EffectiveSettings,
    ) -> Option<impl Serialize + 'a> {
        let is_left_out = self.is_none() && !matches!(form, Form::OptionalText);
        (!is_left_out).then(|| self.as_ref().and_then(|value| value.show(form, effective)))
    }

    fn keep(&mut self, running: &Self, key: &Key, waiting: &mut Vec<String>) {
        let is_same = match (&self, running) {
            (Some(new), Some(running)) => new.is_same(running),
            (new, running) => new.is_none() && running.is_none(),
        };
        keep(self, running, is_same, key, waiting);
    }
}

/// Whether two values are the same. Secrets have no `==`, so that keys of clients are not compared with it; both sides
/// here come from the operator.
pub(crate) trait SameValue {
    fn is_same(&self, other: &Self) -> bool;
}

impl<T: PartialEq> SameValue for T {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl SameValue for Secret {
    fn is_same(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

/// Sets a value back to the one in use if its key waits for a restart and the two are not the same.
pub(crate) fn keep<T: Clone>(
    new: &mut T,
    running: &T,
    is_same: bool,
    key: &Key,
    waiting: &mut Vec<String>,
) {
    if key.change == ChangeTiming::Restart && !is_same {
        new.clone_from(running);
        waiting.push(key.name.to_owned());
    }
}

/// Types that are read and shown by a function each.
macro_rules! plain {
    ($($type:ty: $read:expr, $show:expr;)+) => {$(
        impl $crate::setting::Setting for $type {
            fn read(reader: &mut $crate::reader::Reader<'_, '_>, node: u32) -> Option<Self> {
                $read(reader, node)
            }

            fn show<'a>(
                &'a self,
                _: $crate::keys::Form,
                _: &'a $crate::effective::EffectiveSettings,
            ) -> Option<impl serde::Serialize + 'a> {
                Some($show(self))
            }

            fn keep(
                &mut self,
                running: &Self,
                key: &$crate::keys::Key,
                waiting: &mut Vec<String>,
            ) {
                let is_same = $crate::setting::SameValue::is_same(self, running);
                $crate::setting::keep(self, running, is_same, key, waiting);
            }
        }
    )+};
}
pub(crate) use plain;

plain! {
    bool: |reader: &Reader<'_, '_>, node| Some(reader.flag(node)), bool::clone;
    u32: read_number, u32::clone;
    u64: read_number, u64::clone;
    usize: read_number, usize::clone;
    Duration: read_duration, |time: &Duration| duration::show(*time);
    Vec<String>: |reader: &Reader<'_, '_>, node| Some(reader.texts(node)), Vec::clone;
    PathBuf: Reader::path, PathBuf::clone;
    String: |reader: &Reader<'_, '_>, node| Some(reader.text(node)), String::clone;
    Vec<Anchor>: |reader: &mut Reader<'_, '_>, node| Some(read_anchors(reader, node)), |anchors: &Vec<Anchor>| anchors.iter().map(Anchor::shown).collect::<Vec<_>>();
    Secret: Reader::secret, Secret::shown;
    Payloads: read_word, Payloads::clone;
    Durability: read_word, Durability::clone;
    OnStoreError: read_word, OnStoreError::clone;
    Era: read_word, Era::clone;
}

fn read_number<T: std::str::FromStr>(reader: &Reader<'_, '_>, node: u32) -> Option<T> {
    reader.tape().raw(node).parse().ok()
}

fn read_duration(reader: &Reader<'_, '_>, node: u32) -> Option<Duration> {
    duration::parse(&reader.text(node))
}

/// Reads one of a set of words.
pub(crate) fn read_word<T: std::str::FromStr>(reader: &Reader<'_, '_>, node: u32) -> Option<T> {
    reader.text(node).parse().ok()
}
