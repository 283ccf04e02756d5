//! Options that change a model before the command itself runs.

use std::convert::Infallible;

use clap::Args;

use crate::graph::{Edit, MetadataKeys, Model, Refused};
use crate::report::{DroppedMetadata, Prepared};

/// Freezing of initializers.
#[derive(Args, Clone, Copy, Default)]
pub struct Freeze {
    /// Treat initializers that are also graph inputs as constants, and remove these inputs; callers can no longer override them
    #[arg(long)]
    freeze_initializers: bool,
}

/// Removal of metadata.
#[derive(Args, Clone, Default)]
pub struct DropMetadata {
    /// Remove metadata_props of the model, graphs, functions, nodes, values and tensors; with a comma-separated list KEYS, only entries
    /// with these keys; `pkg.torch.*` matches a prefix
    #[arg(long, value_name = "KEYS", num_args = 0..=1, require_equals = true, default_missing_value = "*", value_parser = parse_keys)]
    drop_metadata: Option<MetadataKeys>,
}

impl Freeze {
    /// The model, and the names of the frozen initializers.
    pub fn apply(self, model: Model) -> Result<(Model, Option<Vec<String>>), Refused> {
        if !self.freeze_initializers {
            return Ok((model, None));
        }
        let names: Vec<String> = model.overridable_initializers().into_iter().map(str::to_owned).collect();
        let edits = if names.is_empty() { Vec::new() } else { vec![Edit::FreezeInitializers] };
        Ok((model.apply(edits)?, Some(names)))
    }
}

impl DropMetadata {
    fn apply(&self, model: Model) -> Result<(Model, Option<DroppedMetadata>), Refused> {
        let Some(keys) = &self.drop_metadata else { return Ok((model, None)) };
        let counts = model.metadata(keys);
        let edits = if counts.is_empty() { Vec::new() } else { vec![Edit::DropMetadata(keys.clone())] };
        Ok((model.apply(edits)?, Some(DroppedMetadata { entries: counts.values().sum(), keys: counts })))
    }
}

/// Prepares a model and reports the changes.
pub fn prepare(model: Model, freeze: Freeze, metadata: &DropMetadata) -> Result<(Model, Prepared), Refused> {
    let (model, frozen_initializers) = freeze.apply(model)?;
    let (model, dropped_metadata) = metadata.apply(model)?;
    Ok((model, Prepared { frozen_initializers, dropped_metadata }))
}

fn parse_keys(text: &str) -> Result<MetadataKeys, Infallible> {
    Ok(match text {
        "*" => MetadataKeys::All,
        keys => MetadataKeys::These(keys.split(',').map(|key| key.trim().to_owned()).collect()),
    })
}
