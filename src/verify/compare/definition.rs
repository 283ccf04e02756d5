//! The result of casts by their definition.

use super::allowed::Allowed;
use crate::elements::cast::{Cast, convert_element};

/// The result of an element, or why it does not count.
pub(super) type Outcome = Result<u64, &'static str>;

/// The result of casts of an element, in sequence.
pub(super) fn result(casts: &[(Cast, Allowed)], source: u64) -> Outcome {
    let mut element = source;
    for (cast, allowed) in casts {
        let (result, verdict) = convert_element(cast, element);
        allowed.check(verdict)?;
        element = result;
    }
    Ok(element)
}
