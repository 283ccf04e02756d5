//! Bytes of a mapped file that go into another one as they are.

use std::fs;

use bytes::Bytes;
use onnx_recast::internals::files::{SaveTarget, open, save};
use onnx_recast::internals::protobuf::Layout;
use onnx_recast::proto::Piece;

use crate::support::expect_no_failures;

const PAGE: usize = 4 << 10;
const MIB: usize = 1 << 20;

/// The first byte that is moved, how many are, and the place of the first in the new file. Where
/// both begin with a page and there are enough bytes, they may go past the system's cache, 8 MiB at
/// a time.
const MOVES: [(usize, usize, usize); 11] = [
    (0, 17 * MIB + 5, 0),
    (PAGE, 16 * MIB, PAGE),
    (3 * PAGE, 8 * MIB + PAGE, 0),
    (PAGE, 8 * MIB - 1, 7 * PAGE),
    (0, MIB, PAGE),
    (0, MIB - 1, PAGE),
    (0, 1, 0),
    (1, 9 * MIB, 0),
    (0, 9 * MIB, 1),
    (512, 9 * MIB, 512),
    (PAGE, 9 * MIB, 512),
];

#[test]
fn moved_bytes_arrive_whatever_they_and_their_place_begin_with() {
    let folder = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (0..18 * MIB as u32 / 4)
        .flat_map(|index| index.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    let (source, target) = (folder.path().join("data"), folder.path().join("new"));
    fs::write(&source, &data).unwrap();
    let source = open(&source).unwrap().bytes;
    let mut failures = Vec::new();
    for (first, bytes, place) in MOVES {
        let before = Bytes::from(vec![1; place]);
        let after = Bytes::from_static(&[2; 3]);
        let moved = source.slice(first..first + bytes);
        let pieces = [&before, &moved, &after]
            .map(|piece| Piece::Bytes(piece.clone().into()))
            .to_vec();
        let layout = Layout::of_pieces(pieces);
        let progress = layout.progress();
        save(layout, &SaveTarget::File(target.clone())).unwrap();
        let found = fs::read(&target).unwrap();
        if found != [&before[..], &data[first..first + bytes], &after[..]].concat() {
            failures.push(format!(
                "{bytes} bytes from {first} to {place} are not the same there"
            ));
        }
        if progress.written() != found.len() as u64 {
            failures.push(format!(
                "{bytes} bytes from {first} to {place}: {} bytes are said to be written",
                progress.written()
            ));
        }
    }
    expect_no_failures(failures);
}
