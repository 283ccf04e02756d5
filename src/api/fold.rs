//! Passes, and preparations of a model.

use std::collections::BTreeMap;

use crate::base::error::Error;
use crate::graph::{Edit, MetadataKeys, Model};
use crate::passes::run::run;
use crate::passes::{self, Options, Pass, Report};

/// # Passes and preparations
impl Model {
    /// Replaces casts of constants by their results: runs [`passes::DEFAULT`]. The report lists the
    /// casts that were folded, and the others with the reason.
    ///
    /// ```
    /// use onnx_recast::{FoldOptions, Model};
    ///
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let mut model = Model::open("models/fp8_qdq.onnx")?;
    /// let report = model.fold(&FoldOptions::default())?;
    /// assert_eq!(report.folded().len(), 3);
    /// for kept in report.kept() {
    ///     println!("{}: {} ({})", kept.node, kept.reason, kept.reason.code());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If a cast is invalid.
    pub fn fold(&mut self, options: &Options) -> Result<Report, Error> {
        self.run_passes(passes::DEFAULT, options)
    }

    /// Runs passes in order until they change nothing: those of this crate, or of another one. See
    /// [`passes`](crate::passes).
    ///
    /// # Errors
    /// If a node is invalid, or a pass plans edits that would break the model.
    pub fn run_passes(&mut self, passes: &[&dyn Pass], options: &Options) -> Result<Report, Error> {
        self.change(|model| run(model, passes, options).map_err(Error::caused_by))
    }

    /// Turns initializers that are also graph inputs into constants: callers can no longer override
    /// them. Returns their names.
    ///
    /// # Errors
    /// If a tensor is inconsistent.
    pub fn freeze_initializers(&mut self) -> Result<Vec<String>, Error> {
        let names: Vec<String> = self
            .overridable_initializers()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let edits = if names.is_empty() {
            Vec::new()
        } else {
            vec![Edit::FreezeInitializers]
        };
        self.apply(edits)?;
        Ok(names)
    }

    /// Removes entries of `metadata_props` at every level. Returns how many, by key.
    ///
    /// # Errors
    /// If a tensor is inconsistent.
    pub fn drop_metadata(&mut self, keys: &MetadataKeys) -> Result<BTreeMap<String, usize>, Error> {
        let counts = self.metadata(keys);
        let edits = if counts.is_empty() {
            Vec::new()
        } else {
            vec![Edit::DropMetadata(keys.clone())]
        };
        self.apply(edits)?;
        Ok(counts)
    }

    /// Applies a batch of edits atomically.
    ///
    /// # Errors
    /// If a value that is still used, is an output of a graph, has a
    /// [`NonNodeUse`](crate::graph::NonNodeUse) or is overridable would lose its definition; if a
    /// name would be defined twice or refer to another value than before; if the result violates an
    /// invariant of the model.
    pub fn apply(&mut self, edits: Vec<Edit>) -> Result<(), Error> {
        if edits.is_empty() {
            return self.check_tensors();
        }
        self.change(|model| Ok((model.with_edits(edits).map_err(Error::caused_by)?, ())))
    }
}
