//! The number of elements of a shape.

/// The product of the dimensions; `None` if one is negative or the product overflows. With a
/// dimension of zero the product is zero, however large the others are.
#[must_use]
pub fn element_count(dims: &[i64]) -> Option<u64> {
    if dims.contains(&0) {
        dims.iter().all(|&dim| dim >= 0).then_some(0)
    } else {
        dims.iter().try_fold(1_u64, |product, &dim| {
            product.checked_mul(u64::try_from(dim).ok()?)
        })
    }
}
