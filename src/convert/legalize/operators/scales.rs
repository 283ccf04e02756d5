//! Scales and zero points of `QuantizeLinear` and `DequantizeLinear`.

use super::site::Site;
use crate::tensor::Data;

/// Whether there is no zero point, or all of them are +0, which change nothing.
pub(super) fn has_no_zero_point(site: &Site) -> bool {
    let Some(value) = site.model.input(site.node, 2) else {
        return true;
    };
    let Ok(constant) = site.model.constant(value) else {
        return false;
    };
    let zeros = site.model.content(&constant.tensor);
    zeros.is_ok_and(|zeros| match zeros.data() {
        Data::Numbers(bytes, _) => bytes.to_bytes().iter().all(|&byte| byte == 0),
        Data::Strings(_) => false,
    })
}

/// `scale`: the scale `given`, with a shape that broadcasts with the quantized values.
pub(super) fn scales(site: &Site, given: &str) -> Option<String> {
    let shape = site.known_input(0)?.shape.clone()?;
    let scales = site.known_input(1)?.static_shape()?;
    let rank = shape.len() as i64;
    if scales.is_empty() || (scales == [1] && rank > 0) {
        return Some(format!("scale = Identity ({given})"));
    }
    let axis = site.int_or("axis", 1)?;
    let axis = if axis < 0 { axis + rank } else { axis };
    let place = usize::try_from(axis)
        .ok()
        .filter(|&place| place < shape.len())?;
    let block = site.int_or("block_size", 0)?;
    if scales.len() == 1 && block == 0 {
        let axes: Vec<String> = (1..rank - axis).map(|axis| axis.to_string()).collect();
        if axes.is_empty() {
            return Some(format!("scale = Identity ({given})"));
        }
        return Some(format!(
            "axes = Constant <value = int64[{}] {{{}}}> ()
             scale = Unsqueeze ({given}, axes)",
            axes.len(),
            axes.join(", ")
        ));
    }
    let length = shape[place]?;
    let is_blocked = scales.len() == shape.len() && block > 0 && length <= LONGEST_AXIS;
    if !is_blocked || (length > 0 && (length - 1) / block >= scales[place]) {
        return None;
    }
    let blocks: Vec<String> = (0..length)
        .map(|place| (place / block).to_string())
        .collect();
    Some(format!(
        "blocks = Constant <value = int64[{length}] {{{}}}> ()
         scale = Gather <axis = {axis}> ({given}, blocks)",
        blocks.join(", ")
    ))
}

/// The most indices of a constant, as of blocks that are expanded.
const LONGEST_AXIS: i64 = 1 << 16;
