//! Operators whose results are stated.

use super::site::{Role, Site};

/// The tensor in `value` is not one of a function's attributes.
pub(super) fn role(site: &Site) -> Option<Role> {
    let result = site.model.output(site.node, 0)?;
    site.model.stated_tensor(result).map(|_| Role::Same)
}
