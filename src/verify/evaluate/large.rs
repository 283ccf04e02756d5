//! Comparison of a cast of a large tensor, without a conversion of each element where rounding is monotone.

use super::super::laws;
use super::value::Allowed;
use crate::base::stored::Stored;
use crate::elements::cast::Cast;
use crate::elements::dtype::DType;
use crate::tensor::{self, Content, Data};

/// Whether ONNX defines all results of a cast, or those that it does not define are allowed: [`first_difference`] does not look at that.
pub fn is_possible(cast: &Cast, allowed: Allowed) -> bool {
    let is_defined = cast.from() == DType::Float
        && match cast.to() {
            DType::Float16 | DType::Bfloat16 | DType::Double | DType::Float8E4M3Fn | DType::Float8E5M2 => true,
            // Infinities are contested before opset 24, if they saturate.
            DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz => cast.rules().opset >= 24 || !cast.rules().saturate,
            _ => false,
        };
    let is_lossless = cast.from() != cast.to() && laws::is_lossless(cast.from(), cast.to());
    is_defined || is_lossless || allowed.undefined && allowed.contested
}

/// The first element of `found` that is not the result of a cast of `source`; both are in the layout of `raw_data`.
pub fn first_difference(source: &Stored, cast: Cast, found: &Stored, elements: usize) -> Option<usize> {
    let dims = [elements as i64];
    let content = |bytes: &Stored, casts: Vec<Cast>| Content::new(cast.to(), &dims, Data::Numbers(bytes.clone(), casts));
    tensor::first_difference(&content(source, vec![cast]), &content(found, Vec::new()))
}
