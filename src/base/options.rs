//! Options of operations.

/// Declares a struct of options with a setter for each field, of the same name and documentation.
/// Other crates start from a constructor and call setters, so that options can be added.
macro_rules! options {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$documentation:meta])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name {
            $($(#[$documentation])* pub(crate) $field: $type,)*
        }

        impl $name {
            $(
                $(#[$documentation])*
                #[must_use]
                pub fn $field(self, $field: $type) -> $name {
                    $name { $field, ..self }
                }
            )*
        }
    };
}

pub(crate) use options;
