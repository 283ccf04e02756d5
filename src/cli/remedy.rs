//! Options that help against errors of the library.

use crate::Error;
use crate::files::BadLocation;
use crate::lint::{BadBaseline, NoqaError};
use crate::precision::{Refusal, Remedy};
use crate::storage::Unplaceable;
use crate::verify::NotVerified;
use std::borrow::Cow;
use std::error::Error as StdError;

/// Against a data file outside of the allowed folders.
pub const ALLOW_FOLDER: &str = "use --allow-data-dir DIR to allow its folder";

/// Adds the option that helps, if there is one, to an error of a model.
pub fn with_remedy(error: Error) -> Error {
    let remedy = std::iter::successors(StdError::source(&error), |cause| (*cause).source())
        .find_map(of_cause);
    match remedy {
        Some(remedy) => error.with_remedy(&remedy),
        None => error,
    }
}

/// The option that helps against a cause of an error.
pub fn of_cause(cause: &(dyn StdError + 'static)) -> Option<Cow<'static, str>> {
    if let Some(refusal) = cause.downcast_ref::<Refusal>() {
        return Some(of_refusal(&refusal.remedy));
    }
    of_kind(cause).map(Cow::Borrowed)
}

/// The option of `recast precision` that avoids a refusal.
fn of_refusal(remedy: &Remedy) -> Cow<'static, str> {
    match remedy {
        Remedy::Opset(opset) => format!("use --opset {opset}").into(),
        Remedy::OpsetOrLater(opset) => format!("use --opset {opset} or later").into(),
        Remedy::KeepValue(name) => format!("use --io {name}=FLOAT or --keep-value {name}").into(),
        Remedy::OnOverflow => "use another --on-overflow".into(),
        Remedy::OnUnderflow => "use --on-underflow allow or keep".into(),
    }
}

fn of_kind(cause: &(dyn StdError + 'static)) -> Option<&'static str> {
    if cause.downcast_ref().is_some_and(BadLocation::is_outside) {
        return Some(ALLOW_FOLDER);
    }
    if cause.is::<NotVerified>() {
        return Some(
            "attach the output of `recast inspect --format json`; --no-verify writes the result unverified",
        );
    }
    if let Some(NoqaError::IrVersion(_)) = cause.downcast_ref() {
        return Some("use --baseline FILE --write-baseline");
    }
    if let Some(BadBaseline::NotJson(_) | BadBaseline::Malformed(_)) = cause.downcast_ref() {
        return Some("--write-baseline writes one");
    }
    Some(match cause.downcast_ref()? {
        Unplaceable::Stream => "use --external-data inline, or -o FILE",
        Unplaceable::FileOfStream => "use -o FILE",
        Unplaceable::TooLarge(_) => "use -o FILE --external-data DATA_FILE",
        Unplaceable::UnsafeCopy { .. } => "use --external-data inline or FILE",
        Unplaceable::BadName(_)
        | Unplaceable::SameFile(_)
        | Unplaceable::OverModel(_)
        | Unplaceable::InUse { .. } => "use another name for --external-data",
        Unplaceable::OverData(_) => "use another output",
        Unplaceable::Tensor { .. }
        | Unplaceable::Output(_)
        | Unplaceable::Linked { .. }
        | Unplaceable::Refused(_) => return None,
    })
}
