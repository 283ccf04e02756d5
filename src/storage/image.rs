//! What a verification reads of a file that is not stored, such as a stream: its messages, encoded
//! and decoded, and its computed tensors.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::base::stored::Stored;
use crate::graph::{Edit, Model, Refused, TensorPlace};
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{Layout, Piece, Pieces, Sealed};
use crate::tensor::{Reference, Tensor, moved_to_file, raw_data, without_values};

/// The model file with its computed tensors in a data file beside it, which does not exist: so its
/// length is that of the graph.
#[derive(Debug)]
pub(super) struct Image {
    pub model: Bytes,
    /// The name of the data file in the folder of the model.
    pub location: PathBuf,
    /// The computed tensors, which are computed when they are read.
    pub data: Stored,
}

/// Seals the computed tensors of a model: the verification reads the bytes that are written.
/// Returns the model and its image.
pub(super) fn sealed(model: Model) -> Result<(Model, Image), Refused> {
    let computed: Vec<(TensorPlace, TensorProto, Arc<Sealed>)> = model
        .tensors()
        .filter_map(
            |(place, tensor)| match Tensor::read(tensor).ok()?.piece()? {
                Piece::Made(recipe) => Some((place, tensor.clone(), Arc::new(Sealed::new(recipe)))),
                Piece::Bytes(_) => None,
            },
        )
        .collect();
    let location = unused_location(&model);
    let (mut sealed, mut moved, mut pieces, mut offset) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (place, tensor, recipe) in computed {
        let piece = Piece::Made(recipe);
        let length = piece.bytes();
        let reference = Reference {
            location: location.clone(),
            offset,
            length: Some(length),
        };
        moved.push(Edit::replace_tensor(
            place,
            moved_to_file(&tensor, &reference),
        ));
        let mut with = without_values(&tensor);
        with.rest_mut().push(raw_data(piece.clone()));
        sealed.push(Edit::replace_tensor(place, with));
        pieces.push(piece);
        offset += length;
    }
    let image = model.clone().with_edits(moved)?;
    let mut bytes = Vec::new();
    Layout::of(image.proto())
        .write_to(&mut bytes)
        .expect("memory accepts all bytes");
    let data = Pieces::stored(&Layout::of_pieces(pieces));
    Ok((
        model.with_edits(sealed)?,
        Image {
            model: bytes.into(),
            location: location.into(),
            data,
        },
    ))
}

/// A name that the model does not use.
fn unused_location(model: &Model) -> String {
    let ranges = model.data_ranges();
    let names = (0..).map(|number| format!("computed-{number}"));
    names
        .into_iter()
        .find(|name| !ranges.contains_key(name.as_str()))
        .unwrap_or_default()
}
