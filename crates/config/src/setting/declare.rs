//! The macro that declares a block of keys.

/// Declares the keys of a block and the struct they are read into:
///
/// ```text
/// keys! {
///     /// What the block is for.
///     #[block("activity")]
///     pub struct ActivityConfig {
///         /// The help text of the schema and the reference page, and the documentation of the field.
///         #[key(Form::Number(0, 36_500), Restart)]
///         retention_days: u32 = 90;
///     }
/// }
/// ```
///
/// `#[key(FORM, CHANGE, API)]` is what the file may hold, a word of `ChangeTiming`, and a word of `Api`, which is `Allowed` if
/// not given. Then follows the field, with its default. It may have
///
/// - another name in the file: `servers as "mcpServers": …`;
/// - another text for the default: `…, default "120"`;
/// - a function that reads it, instead of its type's `Setting::read`: `…, read read_access_key`. It takes the reader, the
///   node and the field;
/// - a function that shows it, instead of its type's `Setting::show`: `…, show show_timeout`. It takes the struct and what
///   holds.
///
/// A key that is not read into one field stands alone, with the text of its default if it has one: `"args" = "[]";`. Fields
/// that are not keys stand in `beside { … }` and are arguments of `with_defaults`.
///
/// A block without fields, which another crate's type or code of its own reads, is a `pub static NAME { … }`.
macro_rules! keys {
    (
        $(#[doc = $about:literal])+
        #[block($block:literal $(, $foreign:expr)?)]
        pub struct $name:ident { $($keys:tt)+ }
        $(beside { $($(#[$meta:meta])* $vis:vis $beside:ident: $beside_type:ty,)+ })?
    ) => {
        $crate::setting::keys! {
            @next
            { [$($about)+] $block, [$($foreign)?]; $name; $($([$(#[$meta])*] $vis, $beside: $beside_type;)+)? }
            fields {}
            table {}
            $($keys)+
        }
    };

    // Keys that another crate's type, or code of its own, reads.
    (
        $(#[doc = $about:literal])+
        #[block($block:literal $(, $foreign:expr)?)]
        pub static $name:ident { $($keys:tt)+ }
    ) => {
        $crate::setting::keys! {
            @next { static [$($about)+] $block, [$($foreign)?]; $name } fields {} table {} $($keys)+
        }
    };

    // A key with a field.
    (
        @next $head:tt fields { $($fields:tt)* } table { $($table:tt)* }
        $(#[doc = $help:literal])+
        #[key($form:expr, $change:ident $(, $api:ident)?)]
        $field:ident $(as $key:literal)?: $type:ty = $default:expr
            $(, default $text:literal)? $(, read $read:path)? $(, show $show:path)?;
        $($rest:tt)*
    ) => {
        $crate::setting::keys! {
            @next $head
            fields {
                $($fields)*
                { [$($help)+] $field: $type = $default; [$($key)?] $form; [$($read)?] [$($show)?] }
            }
            table {
                $($table)*
                $crate::keys::Key {
                    name: $crate::setting::keys!(@or [$($key)?] stringify!($field)),
                    form: $form,
                    default: $crate::setting::keys!(
                        @default [$($text)?]
                        $crate::keys::DefaultText::Computed(|| $crate::setting::default_text::<$type>(&$default, $form))
                    ),
                    help: concat!($($help),+).trim_ascii_start(),
                    change: $crate::keys::ChangeTiming::$change,
                    api: $crate::setting::keys!(@api $($api)?),
                },
            }
            $($rest)*
        }
    };

    // A key without a field.
    (
        @next $head:tt fields $fields:tt table { $($table:tt)* }
        $(#[doc = $help:literal])+
        #[key($form:expr, $change:ident $(, $api:ident)?)]
        $key:literal $(= $text:literal)?;
        $($rest:tt)*
    ) => {
        $crate::setting::keys! {
            @next $head
            fields $fields
            table {
                $($table)*
                $crate::keys::Key {
                    name: $key,
                    form: $form,
                    default: $crate::keys::DefaultText::Json(concat!($($text)?)),
                    help: concat!($($help),+).trim_ascii_start(),
                    change: $crate::keys::ChangeTiming::$change,
                    api: $crate::setting::keys!(@api $($api)?),
                },
            }
            $($rest)*
        }
    };

    // All keys of a `static` are read.
    (
        @next { static [$($about:literal)+] $block:literal, [$($foreign:expr)?]; $name:ident }
        fields {} table { $($table:tt)* }
    ) => {
        pub(crate) static $name: $crate::keys::Block = $crate::keys::Block {
            name: $block,
            help: concat!($($about),+).trim_ascii_start(),
            keys: &[$($table)*],
            foreign: $crate::setting::keys!(@or [$($foreign)?] $crate::foreign_keys::ForeignKeys::NONE),
        };
    };

    // All keys of a struct are read: what follows from them.
    (
        @next
        { [$($about:literal)+] $block:literal, [$($foreign:expr)?]; $name:ident;
          $([$($meta:tt)*] $vis:vis, $beside:ident: $beside_type:ty;)* }
        fields { $({
            [$($help:literal)+] $field:ident: $type:ty = $default:expr; [$($key:literal)?] $form:expr;
            [$($read:path)?] [$($show:path)?]
        })* }
        table { $($table:tt)* }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug)]
        pub struct $name {
            $($(#[doc = $help])+ pub $field: $type,)*
            $($($meta)* $vis $beside: $beside_type,)*
        }

        impl $name {
            /// Every key at its default.
            pub(crate) fn with_defaults($($beside: $beside_type),*) -> Self {
                Self { $($field: $default,)* $($beside,)* }
            }
        }

        impl $crate::setting::Keys for $name {
            const BLOCK: &'static $crate::keys::Block = &$crate::keys::Block {
                name: $block,
                help: concat!($($about),+).trim_ascii_start(),
                keys: &[$($table)*],
                foreign: $crate::setting::keys!(@or [$($foreign)?] $crate::foreign_keys::ForeignKeys::NONE),
            };

            fn read_keys(&mut self, reader: &mut $crate::reader::Reader<'_, '_>, node: u32) {
                $(
                    let key = $crate::setting::keys!(@or [$($key)?] stringify!($field));
                    if let Some(node) = reader.member(node, key) {
                        $crate::setting::keys!(@read [$($read)?] $type, &mut self.$field, reader, node);
                    }
                )*
            }

            fn show_keys<M: serde::ser::SerializeMap>(
                &self,
                effective: &$crate::effective::EffectiveSettings,
                map: &mut M,
            ) -> Result<(), M::Error> {
                $(
                    let key = $crate::setting::keys!(@or [$($key)?] stringify!($field));
                    let shown = $crate::setting::keys!(@show [$($show)?] $type, self, $field, $form, effective);
                    if let Some(value) = shown {
                        map.serialize_entry(key, &value)?;
                    }
                )*
                Ok(())
            }

            fn keep_keys(&mut self, running: &Self, waiting: &mut Vec<String>) {
                $(
                    let key = $crate::setting::keys!(@or [$($key)?] stringify!($field));
                    if let Some(key) = Self::BLOCK.key(key) {
                        $crate::setting::Setting::keep(&mut self.$field, &running.$field, key, waiting);
                    }
                )*
            }
        }
    };

    (@or [$given:expr] $otherwise:expr) => { $given };
    (@or [] $otherwise:expr) => { $otherwise };
    (@read [$read:expr] $type:ty, $field:expr, $reader:expr, $node:expr) => {
        $read($reader, $node, $field)
    };
    (@read [] $type:ty, $field:expr, $reader:expr, $node:expr) => {
        $crate::setting::read_into::<$type>($reader, $node, $field)
    };
    (@show [$show:expr] $type:ty, $block:expr, $field:ident, $form:expr, $effective:expr) => {
        Some($show($block, $effective))
    };
    (@show [] $type:ty, $block:expr, $field:ident, $form:expr, $effective:expr) => {
        <$type as $crate::setting::Setting>::show(&$block.$field, $form, $effective)
    };
    (@default [$text:literal] $made:expr) => { $crate::keys::DefaultText::Json($text) };
    (@default [] $made:expr) => { $made };
    (@api) => { $crate::keys::Api::Allowed };
    (@api $api:ident) => { $crate::keys::Api::$api };
}
pub(crate) use keys;
