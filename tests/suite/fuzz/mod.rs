//! What holds for any input at all. Each file is one target: its `run` panics where that does not
//! hold, its `seeds` are inputs to begin with. Here they run over seeds and mutations of them; the
//! crate in `fuzz/` runs the same functions under libFuzzer.

pub mod cast;
pub mod convert;
pub mod external;
pub mod fold;
pub mod infer;
pub mod lint;
pub mod load;
pub mod mutate;
pub mod precision;
pub mod round_trip;
pub mod text;

#[cfg(test)]
mod smoke;

use onnx_recast::Model;
use onnx_recast::internals::protobuf::Layout;
use onnx_recast::proto::ModelProto;

/// A property of inputs.
pub struct Target {
    pub name: &'static str,
    /// Panics where the property does not hold.
    pub run: fn(&[u8]),
    /// Inputs to begin with, made from model files.
    pub seeds: fn(&[Vec<u8>]) -> Vec<Vec<u8>>,
}

pub const TARGETS: [Target; 10] = [
    Target {
        name: "load",
        run: load::run,
        seeds: <[_]>::to_vec,
    },
    Target {
        name: "round_trip",
        run: round_trip::run,
        seeds: <[_]>::to_vec,
    },
    Target {
        name: "fold",
        run: fold::run,
        seeds: <[_]>::to_vec,
    },
    Target {
        name: "convert",
        run: convert::run,
        seeds: convert::seeds,
    },
    Target {
        name: "precision",
        run: precision::run,
        seeds: precision::seeds,
    },
    Target {
        name: "infer",
        run: infer::run,
        seeds: infer::seeds,
    },
    Target {
        name: "lint",
        run: lint::run,
        seeds: <[_]>::to_vec,
    },
    Target {
        name: "text",
        run: text::run,
        seeds: text::seeds,
    },
    Target {
        name: "cast",
        run: cast::run,
        seeds: cast::seeds,
    },
    Target {
        name: "external",
        run: external::run,
        seeds: external::seeds,
    },
];

/// The model that bytes are, if they are one.
fn model(bytes: &[u8]) -> Option<Model> {
    let proto = ModelProto::from_bytes(bytes.to_vec().into()).ok()?;
    Model::new(proto).ok()
}

/// The bytes of the file that a model is written as.
fn written(model: &ModelProto) -> Vec<u8> {
    let layout = Layout::of(model);
    let mut file = Vec::new();
    for piece in layout.pieces() {
        let start = file.len();
        file.resize(start + piece.bytes() as usize, 0);
        piece.fill(0, &mut file[start..]);
    }
    assert_eq!(
        layout.bytes(),
        file.len() as u64,
        "the length that was announced"
    );
    file
}
