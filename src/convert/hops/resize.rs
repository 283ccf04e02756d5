//! `Upsample` (versions 1 7 9) and its successor `Resize` (10 11 13 18 19) across opsets.
//!
//! Version 10 of `Resize` does not say how it finds its samples. Runtimes scale coordinates without an offset, and nearest
//! neighbours are those below, except where an axis shrinks: there they are those above.

use super::super::hop::Action::{Becomes, DropIf, Run, ToAttribute, ToInput};
use super::super::hop::{Hop, Kind, Reason, Value, hop};
use super::super::make;
use super::super::site::Site;

pub(super) const HOPS: &[Hop] = &[
    hop(&["Upsample"], 7).up(&[Run(sides_become_scales)]).down(&[Run(scales_become_sides)]),
    hop(&["Upsample"], 9).up(&[ToInput("scales", 1, Kind::Floats)]).down(&[ToAttribute(1, "scales", Kind::Floats)]),
    hop(&["Upsample"], 10).up(&[Becomes("Resize")]),
    hop(&["Resize"], 10).down(&[Run(must_not_shrink), Becomes("Upsample")]),
    hop(&["Resize"], 11).up(&[Run(say_how_samples_are_found)]).down(&[Run(samples_must_be_found_as_before)]),
    hop(&["Resize"], 13).up(&[Run(not_half_pixel_for_nearest), Run(empty_scales_go)]).down(&[Run(write_empty_inputs)]),
    hop(&["Resize"], 18).down(&[
        DropIf("antialias", Value::Int(0)),
        DropIf("keep_aspect_ratio_policy", Value::String("stretch")),
        Run(must_resize_all_axes),
    ]),
    hop(&["Resize"], 19).down(&[Run(not_half_pixel_symmetric)]),
];

fn sides_become_scales(site: &mut Site) -> Result<(), Reason> {
    let (Some(height), Some(width)) = (site.float("height_scale")?, site.float("width_scale")?) else {
        return Err("the attributes `height_scale` and `width_scale` are missing".to_owned());
    };
    site.remove_attribute("height_scale");
    site.remove_attribute("width_scale");
    site.set_attribute(make::floats("scales", vec![1.0, 1.0, height, width]));
    if site.string("mode")?.as_deref() == Some("bilinear") {
        site.set_string("mode", "linear");
    }
    Ok(())
}

fn scales_become_sides(site: &mut Site) -> Result<(), Reason> {
    let scales = site.attribute("scales")?.map(|attribute| attribute.floats.clone()).unwrap_or_default();
    let [batch, channels, height, width] = scales.as_slice() else {
        return Err("only images of rank 4 can be scaled before opset 7".to_owned());
    };
    if *batch != 1.0 || *channels != 1.0 {
        return Err("only height and width can be scaled before opset 7".to_owned());
    }
    site.remove_attribute("scales");
    site.set_float("height_scale", *height);
    site.set_float("width_scale", *width);
    if site.string("mode")?.as_deref() == Some("linear") {
        site.set_string("mode", "bilinear");
    }
    Ok(())
}

fn must_not_shrink(site: &mut Site) -> Result<(), Reason> {
    match site.read_floats(1)?.iter().all(|&scale| scale >= 1.0) {
        true => Ok(()),
        false => Err("Upsample, as it was before opset 10, cannot shrink an axis".to_owned()),
    }
}

fn is_linear(site: &Site) -> Result<bool, Reason> {
    match site.string("mode")?.as_deref() {
        None | Some("nearest") => Ok(false),
        Some("linear") => Ok(true),
        Some(other) => Err(format!("`mode` = '{other}' is unknown to opset 10")),
    }
}

/// Which neighbour version 10 takes with these scales.
fn nearest_of_version_10(scales: &[f32]) -> Result<&'static str, Reason> {
    if scales.iter().all(|&scale| scale >= 1.0) {
        Ok("floor")
    } else if scales.iter().all(|&scale| scale <= 1.0) {
        Ok("ceil")
    } else {
        Err("an axis grows while another shrinks: opset 11 has one `nearest_mode` for both".to_owned())
    }
}

fn say_how_samples_are_found(site: &mut Site) -> Result<(), Reason> {
    if !is_linear(site)? {
        // Upsample does not shrink, whatever its scales are.
        let was_upsample = site.place.model.node(site.place.id).op_type() == "Upsample";
        let nearest = if was_upsample { "floor" } else { nearest_of_version_10(&site.read_floats(1)?)? };
        site.set_string("nearest_mode", nearest);
    }
    site.set_string("coordinate_transformation_mode", "asymmetric");
    let scales = site.input(1).ok_or("the input `scales` is missing")?.to_owned();
    let roi = site.constant_float_list("roi", &[]);
    site.set_input(2, &scales);
    site.set_input(1, &roi);
    Ok(())
}

fn samples_must_be_found_as_before(site: &mut Site) -> Result<(), Reason> {
    if site.input(3).is_some() {
        return Err("`sizes` are new in opset 11".to_owned());
    }
    let coordinates = site.string("coordinate_transformation_mode")?;
    if coordinates.as_deref() != Some("asymmetric") {
        return Err("opset 10 scales coordinates in the asymmetric way only".to_owned());
    }
    if !is_linear(site)? {
        let nearest = site.string("nearest_mode")?.unwrap_or_else(|| "round_prefer_floor".to_owned());
        let scales = site.read_floats(2)?;
        if scales.iter().any(|&scale| scale != 1.0) && nearest != nearest_of_version_10(&scales)? {
            return Err(format!("opset 10 has no `nearest_mode` = '{nearest}' for these scales"));
        }
    }
    for name in ["coordinate_transformation_mode", "nearest_mode", "cubic_coeff_a", "extrapolation_value"] {
        site.remove_attribute(name);
    }
    if site.int_or("exclude_outside", 0)? != 0 {
        return Err("`exclude_outside` is new in opset 11".to_owned());
    }
    site.remove_attribute("exclude_outside");
    let scales = site.input(2).ok_or("the input `scales` is missing")?.to_owned();
    site.take_input(1);
    site.node.to_mut().input.truncate(1);
    site.set_input(1, &scales);
    Ok(())
}

fn not_half_pixel_for_nearest(site: &mut Site) -> Result<(), Reason> {
    match site.string("coordinate_transformation_mode")?.as_deref() {
        Some("tf_half_pixel_for_nn") => {
            Err("`coordinate_transformation_mode` = 'tf_half_pixel_for_nn' is gone in opset 13".to_owned())
        }
        _ => Ok(()),
    }
}

/// Versions 11 and 12 take scales in any case, empty ones where sizes are given; later ones take either.
fn empty_scales_go(site: &mut Site) -> Result<(), Reason> {
    if site.input(3).is_none() {
        return Ok(());
    }
    let is_empty = |index: usize| site.known_input(index).static_shape().map(|shape| shape.contains(&0));
    match (is_empty(2), is_empty(3)) {
        (_, Some(true)) => site.take_input(3),
        (Some(false), _) => return Err("it has both scales and sizes".to_owned()),
        _ => site.take_input(2),
    }
    Ok(())
}

fn write_empty_inputs(site: &mut Site) -> Result<(), Reason> {
    for (index, suffix) in [(1, "roi"), (2, "scales")] {
        if site.input(index).is_none() {
            let name = site.constant_float_list(suffix, &[]);
            site.set_input(index, &name);
        }
    }
    Ok(())
}

fn must_resize_all_axes(site: &mut Site) -> Result<(), Reason> {
    let Some(axes) = site.ints("axes")? else { return Ok(()) };
    let axes = site.axes_from_front(axes)?;
    let rank = site.rank(0)? as i64;
    if axes != (0..rank).collect::<Vec<_>>() {
        return Err("`axes` is new in opset 18".to_owned());
    }
    site.remove_attribute("axes");
    Ok(())
}

fn not_half_pixel_symmetric(site: &mut Site) -> Result<(), Reason> {
    match site.string("coordinate_transformation_mode")?.as_deref() {
        Some("half_pixel_symmetric") => {
            Err("`coordinate_transformation_mode` = 'half_pixel_symmetric' is new in opset 19".to_owned())
        }
        _ => Ok(()),
    }
}
