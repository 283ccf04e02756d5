//! `convert`: the command, and what models have beside operators. `tests/cases/convert/` has models
//! before and after.

mod cast_matrix;
mod command;
mod constants;
mod large;
mod lossless;
mod requests;
mod scopes;

use onnx_recast::Model;
use onnx_recast::convert::Options;
use onnx_recast::internals::convert::{Conversion, NotConverted};
use onnx_recast::internals::convert_model;

use crate::support::model;

fn convert_text(source: &str, options: &Options) -> Result<Conversion, NotConverted> {
    convert_model(Model::new(model(source)).unwrap(), options)
}

fn blockers(source: &str, opset: i64) -> (Vec<String>, Option<i64>) {
    match convert_text(source, &Options::to(opset)) {
        Err(NotConverted::Blocked {
            blockers, nearest, ..
        }) => (blockers.iter().map(ToString::to_string).collect(), nearest),
        other => panic!("{source}: {other:?}"),
    }
}
