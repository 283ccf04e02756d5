//! `QuantizeLinear` and `DequantizeLinear` across opsets: versions 10 13 19 21 23 24 25 28.

use super::super::hop::Action::{DropIf, Run};
use super::super::hop::{Hop, Reason, Value, hop};
use super::super::make;
use super::super::site::Site;
use super::cast::saturates;
use crate::dtype::DType;
use crate::facts::infer::Known;

pub(super) const HOPS: &[Hop] = &[
    hop(&["QuantizeLinear", "DequantizeLinear"], 13).up(&[Run(scale_is_one_number_up)]).down(&[Run(scale_must_be_one_number)]),
    hop(&["QuantizeLinear"], 19).down(&[Run(drop_saturate)]),
    hop(&["QuantizeLinear"], 21).down(&[DropIf("block_size", Value::Int(0)), Run(type_shows_in_zero_point)]),
    hop(&["DequantizeLinear"], 21).down(&[DropIf("block_size", Value::Int(0))]),
    hop(&["QuantizeLinear"], 23).down(&[Run(precision_is_that_of_the_scale)]),
    hop(&["DequantizeLinear"], 23).down(&[Run(output_is_of_the_scale_s_type)]),
];

/// Version 10 quantizes whole tensors; what a scale of more than one number would mean there is not said.
fn scale_is_one_number_up(site: &mut Site) -> Result<(), Reason> {
    match site.known_input(1).static_shape() {
        Some(shape) if shape.iter().any(|&dim| dim != 1) => {
            Err("a scale with more than one number has no meaning before opset 13".to_owned())
        }
        _ => Ok(()),
    }
}

/// `axis` has no effect on a scale of one number.
fn scale_must_be_one_number(site: &mut Site) -> Result<(), Reason> {
    match site.known_input(1).static_shape() {
        Some(shape) if shape.iter().all(|&dim| dim == 1) => {
            site.remove_attribute("axis");
            Ok(())
        }
        Some(_) => Err("quantization along an axis is new in opset 13".to_owned()),
        None => Err("the shape of the scale must be one number before opset 13, and is not known".to_owned()),
    }
}

fn drop_saturate(site: &mut Site) -> Result<(), Reason> {
    if !saturates(site)? && site.output_dtype(0)?.obeys_saturate() {
        return Err("`saturate` = 0 has an effect, and is new in opset 19".to_owned());
    }
    site.remove_attribute("saturate");
    Ok(())
}

/// Before version 21 the zero point alone says which type results; without one it is uint8.
fn type_shows_in_zero_point(site: &mut Site) -> Result<(), Reason> {
    let stated = site.int_or("output_dtype", 0)?;
    site.remove_attribute("output_dtype");
    if stated == 0 || site.input(2).is_some() {
        return Ok(());
    }
    let dtype = i32::try_from(stated).ok().and_then(DType::from_number);
    let dtype = dtype.ok_or_else(|| format!("`output_dtype` = {stated} is the number of no element type"))?;
    if dtype == DType::Uint8 {
        return Ok(());
    }
    let shape = site.known_input(1).static_shape().ok_or("the shape of the scale must be known to add a zero point")?;
    let name = match make::zeros(dtype, &shape) {
        Some(zeros) => site.add_constant("zero_point", zeros),
        None => {
            let known = Known { shape: site.known_input(1).shape, ..Known::tensor(dtype) };
            let dims = site.constant_int_list("shape", &shape);
            let zero = make::zeros(dtype, &[1]).map(|zero| make::tensor("value", zero));
            site.add_before("ConstantOfShape", &[&dims], Vec::from_iter(zero), "zero_point", known)
        }
    };
    site.set_input(2, &name);
    Ok(())
}

fn precision_is_that_of_the_scale(site: &mut Site) -> Result<(), Reason> {
    must_be_the_scale_s_type(site, "precision")
}

fn output_is_of_the_scale_s_type(site: &mut Site) -> Result<(), Reason> {
    must_be_the_scale_s_type(site, "output_dtype")
}

fn must_be_the_scale_s_type(site: &mut Site, name: &str) -> Result<(), Reason> {
    let stated = site.int_or(name, 0)?;
    if stated != 0 && stated != i64::from(site.dtype(1)?.number()) {
        return Err(format!("`{name}` is another type than that of the scale, which is new in opset 23"));
    }
    site.remove_attribute(name);
    Ok(())
}
