//! Options of operations: structs with public fields, to which fields can be added.

/// Declares a struct of options with a setter for each field, of the same name. Other crates start
/// from a constructor, since the struct is non-exhaustive, and call setters or assign fields.
macro_rules! options {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$documentation:meta])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        #[non_exhaustive]
        $visibility struct $name {
            $($(#[$documentation])* pub $field: $type,)*
        }

        impl $name {
            $(
                #[doc = concat!("Sets [`", stringify!($name), "::", stringify!($field), "`](#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(self, $field: $type) -> $name {
                    $name { $field, ..self }
                }
            )*
        }
    };
}

pub(crate) use options;
