//! The shape every configuration block of ours shares: all keys optional, each parsed strictly,
//! an unknown or repeated key an error that names the allowed ones. Merging never looks at what
//! a key means.

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
            pub fn over(self, outer: Self) -> Self {
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
                    merged = block.over(merged);
                }
                let defaults = Self::default();
                Self { $($key: merged.$key.unwrap_or(defaults.$key),)+ }
            }
        }

        impl<'de> serde::Deserialize<'de> for $raw {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Keys;

                impl<'de> serde::de::Visitor<'de> for Keys {
                    type Value = $raw;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$raw, A::Error> {
                        use serde::de::Error;
                        let mut raw = $raw::default();
                        while let Some(key) = map.next_key::<String>()? {
                            match key.as_str() {
                                $(stringify!($key) => {
                                    if raw.$key.is_some() {
                                        return Err(A::Error::duplicate_field(stringify!($key)));
                                    }
                                    let value: $type = map.next_value().map_err(|error| {
                                        A::Error::custom(format_args!("{key}: {error}"))
                                    })?;
                                    $(
                                        $check(value).map_err(|why| {
                                            A::Error::custom(format_args!("{key}: {why}"))
                                        })?;
                                    )?
                                    raw.$key = Some(value);
                                })+
                                _ => {
                                    return Err(A::Error::custom(
                                        $crate::UnknownWord::new("key", &key, $raw::KEYS),
                                    ));
                                }
                            }
                        }
                        Ok(raw)
                    }
                }

                from.deserialize_map(Keys)
            }
        }
    };
}
pub(super) use block;

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
