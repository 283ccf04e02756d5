//! Writing on systems other than Unix.

use std::fs::File;
use std::io;

use super::chunks::write_in_order;
use crate::protobuf::Layout;

/// Writes a layout sequentially.
pub(super) fn write_anywhere(layout: &Layout, mut file: &File) -> io::Result<()> {
    write_in_order(layout, &mut file)
}
