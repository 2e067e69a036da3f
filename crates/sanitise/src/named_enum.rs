//! Enums whose values have a name each, in rules, settings and reports.

/// Declares such an enum, with `ALL` and `as_str`.
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $enum:ident { $($(#[$value_meta:meta])* $value:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $enum { $($(#[$value_meta])* $value,)+ }

        impl $enum {
            /// Every value, in order.
            $vis const ALL: &'static [Self] = &[$(Self::$value),+];

            /// The name of this value.
            $vis const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }
        }
    };
}
pub(crate) use named_enum;
