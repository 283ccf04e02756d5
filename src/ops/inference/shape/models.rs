//! ai.onnx.ml: classifiers, regressors, encoders.

use super::dims::{ONE, Shapes, of_rank};
use crate::ops::inference::known::Dims;
use crate::ops::inference::view::View;

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    let input = || view.shape(0).cloned();
    let rank = view.rank(0);
    let batch = || if rank == Some(1) { ONE } else { view.dim(0, 0) };
    let is_batch = matches!(rank, Some(1 | 2));
    Some(match view.schema.name {
        "Binarizer" | "CategoryMapper" | "Imputer" | "LabelEncoder" | "Normalizer" | "Scaler" => {
            vec![input()]
        }
        "LinearClassifier" | "SVMClassifier" | "TreeEnsembleClassifier" if is_batch => {
            vec![Some(vec![batch()]), Some(vec![batch(), None])]
        }
        "LinearRegressor" | "SVMRegressor" | "TreeEnsembleRegressor" | "TreeEnsemble"
            if is_batch =>
        {
            vec![Some(vec![batch(), None])]
        }
        "ArrayFeatureExtractor" => vec![features(view)],
        "OneHotEncoder" => vec![rank.map(|rank| of_rank(rank + 1))],
        "FeatureVectorizer" => vec![Some(of_rank(2))],
        _ => return None,
    })
}

/// One row for a vector.
fn features(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    match shape.as_slice() {
        [] => None,
        [_] => Some(vec![ONE, None]),
        [before @ .., _] => Some(before.iter().copied().chain([None]).collect()),
    }
}
