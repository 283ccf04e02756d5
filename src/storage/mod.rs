//! Placement of the values of a model's tensors: in the model file, or in a data file beside it.
//!
//! Every [`Model`](crate::graph::Model) is written through [`plan_of`]. The rules:
//!
//! - [`Placement::Keep`]: every tensor stays where it is. Values that were computed from a data
//!   file go into a new data file; so does every external tensor if the output is in another
//!   folder. The data files of an unchanged model are copied.
//! - [`Placement::Inline`]: all values go into the model file.
//! - [`Placement::File`]: the values of all initializers of at least a given size go into one new
//!   file, all others into the model.
//! - A model file that would exceed protobuf's limit of 2 GiB is an error; with
//!   [`Placement::Keep`], the model gets a data file instead, unless the output is a stream.
//! - A new data file contains the values of its model only. A file to which a model may refer is
//!   not changed: new data gets a new name, then the model is replaced.
//! - No data file is deleted. Those that the replaced model used and the new one does not are
//!   reported with their sizes.
//! - A data file is copied only under a name that [`accepted_name`] accepts.

mod accepted_name;
mod arrange;
mod data_file_name;
mod image;
mod interim;
mod neighbours;
mod options;
mod own_data_names;
mod pairs;
mod plan;
mod rewrite_paths;
mod saved;
mod sort;
mod tidy;
mod unplaceable;
mod unused;
mod write;

pub(crate) use crate::protobuf::WriteProgress;
#[cfg(feature = "cli")]
pub(crate) use neighbours::data_ranges;
pub use neighbours::reason_not_to_replace;
pub use options::{Options, Placement};
pub(crate) use own_data_names::path_below;
pub(crate) use pairs::OverInput;
pub use plan::{SavePlan, plan_of};
pub use saved::{Saved, UnusedFile, WrittenDataFile};
pub use tidy::tidy;
pub use unplaceable::Unplaceable;
pub(crate) use write::WrittenCheck;

#[cfg(test)]
mod tests;
