//! The choice of tensors to be moved.

use std::collections::BTreeSet;
use std::path::PathBuf;

use prost::Message;

use super::options::{Options, Placement};
use super::rewrite_paths::RewritePaths;
use super::unplaceable::Unplaceable;
use crate::base::stored::Stored;
use crate::files::BadLocation;
use crate::graph::{Model, TensorIn, TensorPlace};
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{LARGEST_MESSAGE, Piece};
use crate::tensor::{Reference, Tensor, Values, is_external};

/// The tensors of a model that are moved.
#[derive(Default)]
pub(super) struct Sorted<'m> {
    pub to_model: Vec<(TensorPlace, &'m TensorProto, Stored)>,
    pub to_file: Vec<(TensorPlace, &'m TensorProto, Piece)>,
    /// The data files of tensors that are not moved.
    pub kept: BTreeSet<PathBuf>,
    /// The reason why tensors are moved to a data file without a request.
    pub note: Option<String>,
    /// The approximate number of bytes that the moves add to the model file.
    growth: i64,
}

/// Sorts all tensors by the rules of [`super`].
pub(super) fn sort<'m>(
    model: &'m Model,
    paths: &RewritePaths,
    options: &Options,
) -> Result<Sorted<'m>, Unplaceable> {
    if matches!(options.placement, Placement::File(_)) && paths.output.is_none() {
        return Err(Unplaceable::FileOfStream);
    }
    let sorted = sort_all(
        model,
        paths,
        options,
        matches!(options.placement, Placement::File(_)),
    )?;
    let size = model.proto().encoded_len() as u64;
    let size = size.saturating_add_signed(sorted.growth);
    match options.placement {
        Placement::Keep if size > LARGEST_MESSAGE && paths.output.is_some() => {
            let note =
                format!("the model would have {size} bytes, more than protobuf's limit of 2 GiB");
            Ok(Sorted {
                note: Some(note),
                ..sort_all(model, paths, options, true)?
            })
        }
        _ if size > LARGEST_MESSAGE => Err(Unplaceable::TooLarge(size)),
        _ => Ok(sorted),
    }
}

fn sort_all<'m>(
    model: &'m Model,
    paths: &RewritePaths,
    options: &Options,
    moves_large: bool,
) -> Result<Sorted<'m>, Unplaceable> {
    let mut sorted = Sorted::default();
    let keeps = options.placement == Placement::Keep;
    for (at, proto) in model.tensors() {
        let is_initializer = matches!(at.0, TensorIn::Initializer(..));
        if !is_external(proto) {
            let tensor = Tensor::read(proto).ok().filter(|_| is_initializer);
            let Some(piece) = tensor.and_then(|tensor| {
                tensor
                    .piece()
                    .or_else(|| moves_large.then(|| decoded(&tensor))?)
            }) else {
                continue;
            };
            let bytes = piece.bytes();
            let comes_from_file = || {
                keeps && paths.output.is_some() && paths.data.file_around(piece.source()).is_some()
            };
            if bytes >= options.threshold && (moves_large || comes_from_file()) {
                sorted.growth -= bytes as i64;
                sorted.to_file.push((at, proto, piece));
            }
            continue;
        }
        if keeps && paths.data.path().is_none() {
            continue; // From a pipe to a pipe: the folder of the locations is unknown.
        }
        if keeps && paths.output.is_none() {
            return Err(Unplaceable::Stream);
        }
        if keeps && paths.is_in_place && is_missing(proto, paths) {
            // A data file that stays unchanged may be absent, and be fetched later. An existing one
            // stays in use.
            sorted.kept.extend(located(proto, paths));
            continue;
        }
        let (_, path, bytes) = paths.external(model, at, proto)?;
        if paths.is_output(&path) {
            return Err(Unplaceable::OverData(path));
        }
        let is_large = is_initializer && bytes.len() >= options.threshold;
        match options.placement {
            Placement::Keep if paths.is_same_folder => {
                sorted.kept.insert(path);
            }
            Placement::Keep => sorted.to_file.push((at, proto, Piece::Bytes(bytes))),
            Placement::File(_) if is_large => sorted.to_file.push((at, proto, Piece::Bytes(bytes))),
            Placement::File(_) | Placement::Inline => {
                sorted.growth += bytes.len() as i64;
                sorted.to_model.push((at, proto, bytes));
            }
        }
    }
    Ok(sorted)
}

/// The values of a tensor that stores them as protobuf numbers.
fn decoded(tensor: &Tensor) -> Option<Piece> {
    match tensor.values() {
        Ok(Values::Raw(raw)) => Some(Piece::Bytes(raw.into())),
        _ => None,
    }
}

/// The path of the data file of a tensor. The file need not be readable.
fn located(tensor: &TensorProto, paths: &RewritePaths) -> Option<PathBuf> {
    let reference = Reference::read(tensor).ok()?;
    paths
        .data
        .locate(&reference.location)
        .ok()
        .map(|found| found.path())
}

/// Whether the data file of a tensor does not exist or cannot be read. False for a path that is not
/// permitted.
fn is_missing(tensor: &TensorProto, paths: &RewritePaths) -> bool {
    let location = Reference::read(tensor).map(|reference| reference.location);
    location.is_ok_and(|location| {
        matches!(paths.data.open(&location), Err(BadLocation::Unreadable(..)))
    })
}
