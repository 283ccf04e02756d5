//! Cancellation within the cast of one tensor.

use bytes::Bytes;
use onnx_recast::Cancel;
use onnx_recast::internals::cast::{Cast, Rules};
use onnx_recast::internals::dtype::DType;
use onnx_recast::internals::tensor::{Content, Data};

#[test]
fn a_survey_leaves_out_the_parts_that_begin_after_the_cancellation() {
    // Three parts of NaNs, whose casts to an integer are undefined.
    let elements = 3 * 65_536;
    let nans = Bytes::from(f32::NAN.to_le_bytes().repeat(elements));
    let tensor = Content::new(DType::Float, &[elements as i64], Data::Numbers(nans, Vec::new()));
    let cast = Cast::new(DType::Float, DType::Int32, Rules::default()).unwrap();
    let cancel = Cancel::new();
    let undefined = |cancel: &Cancel| tensor.cast_until(cast, cancel).unwrap().1.undefined.count;
    assert_eq!(undefined(&cancel), elements as u64);
    cancel.cancel();
    assert_eq!(undefined(&cancel), 0);
}
