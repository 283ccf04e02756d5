//! Writing on systems other than Unix.

use std::fs::File;
use std::io;

use crate::protobuf::Layout;

/// Writes a layout sequentially.
pub(super) fn write_anywhere(
    layout: &Layout,
    mut file: &File,
    _is_read_again: bool,
) -> io::Result<()> {
    layout.write_to(&mut file)
}
