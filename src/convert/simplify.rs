//! The exact passes, for the nodes of an expansion and for those that compute a constant.

use crate::graph::Model;
use crate::passes;
use onnx_cast::Contested;

/// Finds what passes made wrong of a model: the first model is the one before.
pub(crate) type CheckOfPasses = fn(&Model, &Model) -> Result<(), String>;

/// The model that the exact passes make of a model.
///
/// # Errors
/// If a pass fails, or the result is not what the check expects.
pub(super) fn simplified(
    model: Model,
    contested: Option<Contested>,
    check: Option<CheckOfPasses>,
) -> Result<Model, String> {
    let options = passes::Options {
        contested,
        ..passes::Options::default()
    };
    let before = check.map(|check| (check, model.clone()));
    let (model, _) =
        passes::run::run(model, passes::EXACT, &options).map_err(|error| error.to_string())?;
    if let Some((check, before)) = before {
        check(&before, &model)?;
    }
    Ok(model)
}
