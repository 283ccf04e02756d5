//! Options that change a model before the command itself runs.

use std::collections::BTreeMap;
use std::convert::Infallible;

use clap::Args;

use crate::graph::MetadataKeys;
use crate::report::{DroppedMetadata, Prepared};
use crate::{Error, ErrorKind, Model};

/// Freezing of initializers.
#[derive(Args, Clone, Copy, Default)]
pub struct Freeze {
    /// Treat initializers that are also graph inputs as constants; the inputs are removed, and
    /// callers can no longer override them
    #[arg(long)]
    freeze_initializers: bool,
}

/// All of these changes.
#[derive(Args, Clone, Default)]
pub struct Preparation {
    #[command(flatten)]
    freeze: Freeze,
    /// Remove metadata_props at every level of the model. With a comma-separated list KEYS, only
    /// entries with these keys are removed; `pkg.torch.*` matches a prefix
    #[arg(long, value_name = "KEYS", num_args = 0..=1, require_equals = true, default_missing_value = "*", value_parser = parse_keys)]
    drop_metadata: Option<MetadataKeys>,
}

impl Freeze {
    /// The names of the frozen initializers.
    pub fn apply(self, model: &mut Model) -> Result<Option<Vec<String>>, Error> {
        self.freeze_initializers
            .then(|| model.freeze_initializers())
            .transpose()
    }
}

impl Preparation {
    /// Prepares a model and reports the changes.
    ///
    /// # Errors
    /// If it cannot be prepared; if `is_strict`, also if a key of --drop-metadata matches nothing.
    pub fn apply(&self, model: &mut Model, is_strict: bool) -> Result<Prepared, Error> {
        let frozen_initializers = self.freeze.apply(model)?;
        let keys = self
            .drop_metadata
            .as_ref()
            .map(|keys| model.drop_metadata(keys))
            .transpose()?;
        let dropped_metadata = keys.map(|keys| DroppedMetadata {
            entries: keys.values().sum(),
            unmatched: self.unmatched(&keys),
            keys,
        });
        let unmatched = dropped_metadata
            .iter()
            .flat_map(|dropped| &dropped.unmatched);
        if let Some(key) = unmatched.take(usize::from(is_strict)).next() {
            let what = format!("no metadata has the key '{key}', which --strict does not permit");
            return Err(model.error(Error::new(ErrorKind::Usage, what)));
        }
        Ok(Prepared {
            frozen_initializers,
            dropped_metadata,
        })
    }

    /// The keys of --drop-metadata that match none of those that were dropped.
    fn unmatched(&self, dropped: &BTreeMap<String, usize>) -> Vec<String> {
        let keys = self.drop_metadata.iter();
        keys.flat_map(|keys| keys.unmatched(dropped))
            .map(str::to_owned)
            .collect()
    }

    /// How metadata that remains is removed.
    pub fn metadata_remedy(&self) -> &'static str {
        match self.drop_metadata {
            None => "use --drop-metadata to remove it",
            Some(_) => "use --drop-metadata without keys to remove it",
        }
    }
}

fn parse_keys(text: &str) -> Result<MetadataKeys, Infallible> {
    Ok(match text {
        "*" => MetadataKeys::All,
        keys => MetadataKeys::These(keys.split(',').map(|key| key.trim().to_owned()).collect()),
    })
}
