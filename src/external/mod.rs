//! Where the values of a model's tensors go when it is written: into the model file, or into a data file beside it.
//!
//! [`Plan::new`] is the one way from a [`Model`] to files. The rules:
//!
//! - [`Placement::Keep`]: every tensor stays where it is. What was computed from a data file goes into a new one; so does every
//!   external tensor if the output stands in another folder. A model that nothing has changed takes its data files along as they are.
//! - [`Placement::Inline`]: all values go into the model file.
//! - [`Placement::File`]: the values of all initializers from a size on go into one new file, all others into the model.
//! - A model that would pass protobuf's 2 GiB gets a data file in any case, unless that is forbidden.
//! - A new data file holds the values of the model it is written for, and nothing else. No file is changed that some model may refer
//!   to: new data gets a new name, then the model is replaced.
//! - Nothing is deleted unless [`Options::prune_data`] asks for it, and then only what is shown to be data of the replaced model alone.
//! - A data file is copied along only under a name that means nothing else.

mod arrange;
mod data_name;
mod interim;
mod name;
mod names;
mod neighbours;
mod options;
mod place;
mod plan;
mod sort;
mod unplaceable;
mod unused;
mod write;

pub use options::{Options, Placement};
pub use plan::{DataFile, Plan};
pub use unplaceable::Unplaceable;
pub use unused::{OldFiles, UnusedFile};

#[cfg(test)]
mod tests;
