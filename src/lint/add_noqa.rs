//! Adds `recast.noqa` entries for the findings of a model: the reverse of a fix, for findings that
//! are intended.

use std::collections::{BTreeMap, BTreeSet};

use super::noqa::KEY;
use super::run::lint_places;
use super::{Baseline, Diagnostic, FindingPlace, Options};
use crate::base::error::{Classified, ErrorKind};
use crate::graph::{Edit, MetadataPlace, Model, Refused};
use crate::protobuf::ir_version;

/// A model whose findings are suppressed.
#[derive(Debug)]
pub(crate) struct WithNoqa {
    /// The model.
    pub model: Model,
    /// The findings.
    pub suppressed: Vec<Diagnostic>,
}

/// Why no entries were added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoqaError {
    /// Up to IR version 9, only the model itself has metadata, and an entry there would suppress
    /// the findings of the whole model.
    #[error(
        "IR version {0} has no metadata of nodes and values for `recast.noqa` entries; it is new in {METADATA}",
        METADATA = ir_version::METADATA
    )]
    IrVersion(i64),
    /// A fault of this program.
    #[error(transparent)]
    Refused(Refused),
}

impl Classified for NoqaError {
    fn kind(&self) -> ErrorKind {
        match self {
            NoqaError::IrVersion(_) => ErrorKind::Usage,
            NoqaError::Refused(_) => ErrorKind::Internal,
        }
    }
}

/// Adds an entry for each finding that is not in the baseline, to what the finding is about. A
/// finding that a more specific one hides in reports gets an entry too: it would appear without the
/// other.
///
/// # Errors
/// If the IR version of the model has no metadata of nodes.
pub(crate) fn add_noqa(
    model: Model,
    path: &str,
    options: &Options,
    known: &Baseline,
) -> Result<WithNoqa, NoqaError> {
    let options = &options.clone().show_overlapping(true);
    let (places, found): (Vec<FindingPlace>, Vec<Diagnostic>) = known
        .filter_by(lint_places(&model, path, options), |(_, found)| found)
        .into_iter()
        .unzip();
    let mut codes: BTreeMap<MetadataPlace, BTreeSet<&'static str>> = BTreeMap::new();
    for (at, found) in places.iter().zip(&found) {
        codes
            .entry(place(&model, *at))
            .or_default()
            .insert(found.code());
    }
    let is_of_model = |place: &MetadataPlace| *place == MetadataPlace::Model;
    if model.ir_version() < ir_version::METADATA && !codes.keys().all(is_of_model) {
        return Err(NoqaError::IrVersion(model.ir_version()));
    }
    let edits = codes.into_iter().map(|(at, codes)| Edit::SetMetadata {
        at,
        key: KEY.into(),
        value: value(&model, at, &codes),
    });
    let edits = edits.collect();
    let model = model.with_edits(edits).map_err(NoqaError::Refused)?;
    Ok(WithNoqa {
        model,
        suppressed: found,
    })
}

/// The message that gets the entry: that of the node, initializer or declaration, or else the graph
/// or function.
fn place(model: &Model, at: FindingPlace) -> MetadataPlace {
    match at {
        FindingPlace::Model => MetadataPlace::Model,
        FindingPlace::Node(node) => MetadataPlace::Node(node),
        FindingPlace::Value(_, value) if model.initializer(value).is_some() => {
            MetadataPlace::Initializer(value)
        }
        FindingPlace::Value(_, value) if model.declared(value).is_some() => {
            MetadataPlace::Declaration(value)
        }
        FindingPlace::Value(scope, _) => MetadataPlace::Scope(scope),
    }
}

/// The codes of the first entry that is there, and the new ones.
fn value(model: &Model, at: MetadataPlace, codes: &BTreeSet<&'static str>) -> String {
    let mut entries = model.metadata_at(at).iter();
    let there = entries.find(|entry| entry.key() == KEY);
    let there = there.map(|entry| entry.value().trim_end_matches([',', ' ', '\n', '\t']));
    let there = there.filter(|value| !value.is_empty());
    there
        .into_iter()
        .chain(codes.iter().copied())
        .collect::<Vec<&str>>()
        .join(",")
}
