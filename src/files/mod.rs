//! Files: recognised, mapped for reading, and written atomically.
//!
//! [`folders`] is the only module that opens, creates, renames or removes files by name.

mod before;
mod chunks;
mod data_folder;
mod explained;
pub mod folders;
pub mod formats;
mod mapped;
mod open;
mod paths;
mod pending_file;
mod replaceable;
mod save;
#[cfg(unix)]
#[path = "unix/mod.rs"]
mod system;
#[cfg(not(unix))]
#[path = "other.rs"]
mod system;
mod temporary;
mod together;

pub use before::Before;
pub use data_folder::{BadLocation, DataFolder, Located};
pub use open::{Input, open, open_with_data, read_all};
pub use paths::{at, folder_of, identity, is_stream, names_a_folder};
pub use pending_file::PendingFile;
pub use replaceable::{check_replaceable, owner_if_it_would_change};
pub use save::{Reserved, SaveTarget, reserve, save};
pub use temporary::{is_temporary, tidy};
pub use together::{Inspect, Interim, save_together};
