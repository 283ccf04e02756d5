//! The result of casts by their definition.

use super::allowed::Allowed;
use super::confirmed::{becomes_infinite, is_confirmed};
use onnx_cast::{Cast, Verdict, convert_element};

/// The result of an element, or why it does not count.
pub(super) type Outcome = Result<u64, &'static str>;

/// Why a result does not count of which two implementations of the casts disagree.
pub const CONTRADICTION: &str = "two implementations of the cast compute different results";
const OVERFLOW: &str = "a finite number that becomes infinite";

/// The result of a cast of an element. It counts only if both implementations of the casts agree.
///
/// # Errors
/// The reason why the result does not count.
pub fn element_result(cast: &Cast, allowed: Allowed, source: u64) -> Outcome {
    let (result, verdict) = convert_element(cast, source);
    allowed.check(verdict)?;
    match verdict {
        Verdict::Defined if !is_confirmed(cast, source, result) => Err(CONTRADICTION),
        _ if !allowed.overflow && becomes_infinite(cast, source, result) => Err(OVERFLOW),
        _ => Ok(result),
    }
}

/// The result of casts of an element, in sequence.
pub(super) fn result(casts: &[(Cast, Allowed)], source: u64) -> Outcome {
    let mut element = source;
    for (cast, allowed) in casts {
        element = element_result(cast, *allowed, element)?;
    }
    Ok(element)
}
