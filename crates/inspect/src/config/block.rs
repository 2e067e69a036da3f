//! What all configuration blocks share: all keys optional, each parsed strictly,
//! an unknown or repeated key an error that names the allowed ones. Merging never looks at what
//! a key means.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, Visitor};

/// Declares a raw block (every key an `Option`) and the resolved type beside it.
macro_rules! block {
    (
        $(#[$raw_meta:meta])*
        raw $raw:ident;
        $(#[$meta:meta])*
        resolved $resolved:ident {
            $($(#[$key_meta:meta])* $key:ident: $type:ty = $default:expr $(, where $check:path)?;)+
        }
    ) => {
        $(#[$raw_meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $raw {
            $(
                $(#[$key_meta])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<$type>,
            )+
        }

        impl $raw {
            /// Every key the block may hold.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),+];

            /// This block with the keys it does not set taken from `outer`.
            #[must_use]
            pub fn with_defaults_from(self, outer: Self) -> Self {
                Self { $($key: self.$key.or(outer.$key),)+ }
            }
        }

        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
        pub struct $resolved {
            $($(#[$key_meta])* pub $key: $type,)+
        }

        impl Default for $resolved {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }

        impl $resolved {
            /// Merges blocks given from the outermost (global) to the innermost (tool): key by
            /// key the innermost that sets it wins, and what none sets has its default.
            pub fn resolve<'a>(blocks: impl IntoIterator<Item = &'a $raw>) -> Self {
                let mut merged = $raw::default();
                for block in blocks {
                    merged = block.with_defaults_from(merged);
                }
                let defaults = Self::default();
                Self { $($key: merged.$key.unwrap_or(defaults.$key),)+ }
            }
        }

        impl $crate::config::block::Block for $raw {
            fn read_key<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                key: &str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                use serde::de::Error;
                match key {
                    $(stringify!($key) => {
                        if self.$key.is_some() {
                            return Err(A::Error::duplicate_field(stringify!($key)));
                        }
                        let value: $type = map.next_value().map_err(|error| {
                            A::Error::custom(format_args!("{key}: {error}"))
                        })?;
                        $(
                            $check(value)
                                .map_err(|why| A::Error::custom(format_args!("{key}: {why}")))?;
                        )?
                        self.$key = Some(value);
                        Ok(())
                    })+
                    _ => Err(A::Error::custom($crate::UnknownWord::new("key", key, Self::KEYS))),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $raw {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::config::block::deserialize_block(from)
            }
        }
    };
}
pub(super) use block;

/// A raw block.
pub(super) trait Block: Default {
    /// Reads the value of a key. An unknown or repeated key is an error.
    fn read_key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Reads a raw block from an object, key by key.
pub(super) fn deserialize_block<'de, B, D>(from: D) -> Result<B, D::Error>
where
    B: Block,
    D: Deserializer<'de>,
{
    from.deserialize_map(Keys(PhantomData))
}

struct Keys<B>(PhantomData<B>);

impl<'de, B: Block> Visitor<'de> for Keys<B> {
    type Value = B;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<B, A::Error> {
        let mut block = B::default();
        while let Some(key) = map.next_key::<String>()? {
            block.read_key(&key, &mut map)?;
        }
        Ok(block)
    }
}

/// Refuses a limit of zero, which would block every result.
pub(super) fn positive<N: Into<u64>>(value: N) -> Result<(), &'static str> {
    if value.into() == 0 {
        return Err("must be at least 1");
    }
    Ok(())
}

/// Fuel scales by a positive, finite factor.
pub(super) fn positive_factor(value: f64) -> Result<(), &'static str> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err("must be a number greater than 0")
}
