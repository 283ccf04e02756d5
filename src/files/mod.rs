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
mod new_file;
mod open;
mod paths;
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
pub use data_folder::{BadLocation, DataFile as OpenDataFile, DataFolder, Located};
pub use new_file::NewFile;
pub use open::{Input, open, open_with_data, read_all};
pub use paths::{at, folder_of, identity, is_called_folder, is_stream};
pub use replaceable::{check_replaceable, lost_owner};
pub use save::{Reserved, Target, reserve, save};
pub use temporary::{is_temporary, tidy};
pub use together::{Inspect, Interim, save_together};
