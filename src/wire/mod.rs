//! The bytes of a model file: lossless protobuf messages, and files that are mapped for reading and written atomically.
//!
//! [`raw`] contains the structs that prost-build generates from `proto/onnx.proto`; [`schema`] contains the same names, each wrapped in
//! [`Kept`], for the rest of the crate. This module does not interpret models.

mod ahead;
mod before;
mod chunks;
mod context;
mod data_folder;
mod explained;
mod field;
mod kept;
mod last_words;
mod layout;
mod limit;
mod locate;
mod mapped;
mod new_file;
mod open;
pub mod outline;
mod paths;
mod piece;
mod progress;
mod part;
mod recipe;
mod replaceable;
mod save;
mod spans;
#[cfg(unix)]
#[path = "unix/mod.rs"]
mod system;
#[cfg(not(unix))]
#[path = "other.rs"]
mod system;
mod temporary;
mod together;

/// protobuf's limit for the length of a message: 31 bits.
pub const LARGEST_MESSAGE: u64 = i32::MAX as u64;

pub use before::Before;
pub use data_folder::{BadLocation, DataFolder, Located};
pub use field::{Field, Value, values_of};
pub use kept::{Kept, Known, Malformed, Reason};
pub(crate) use last_words::map as map_in_parallel;
pub use last_words::{LastWords, set_last_words};
pub use layout::Layout;
pub use limit::{Limited, defer_huge_pages, note_output, set_memory_limit};
pub use new_file::NewFile;
pub use open::{Input, open, open_with_data, read_all};
pub use paths::{at, folder_of, identity, is_called_folder, is_stream};
pub use piece::Piece;
pub use progress::Progress;
pub use recipe::{GRAIN, Recipe};
pub use replaceable::{check_replaceable, lost_owner};
pub use save::{Target, save};
pub use spans::Spans;
pub use system::{exit, install_signal_handlers, is_standard_output};
pub use temporary::{is_temporary, tidy};
pub use together::{Inspect, Interim, save_together};

/// prost's structs for `proto/onnx.proto`, without the fields of a tensor's values, which stay encoded, see [`Kept::rest`].
#[allow(clippy::all, clippy::pedantic, missing_docs)]
pub mod raw {
    include!(concat!(env!("OUT_DIR"), "/onnx.rs"));
}

/// Every message of `proto/onnx.proto` with its unknown fields: `schema::X` is `Kept<raw::X>`.
pub mod schema {
    include!(concat!(env!("OUT_DIR"), "/schema.rs"));
}

include!(concat!(env!("OUT_DIR"), "/known.rs"));
