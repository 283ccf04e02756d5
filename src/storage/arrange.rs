//! The layout of a new data file.

use std::ops::Range;

use bytes::Bytes;

use crate::files::DataFolder;
use crate::protobuf::{Layout, Piece};

/// Alignment of tensors of at least this size: a page, so that they can be mapped.
const PAGE: u64 = 4096;
/// Alignment of smaller tensors, so that vectors of any width can be read from a map of the file.
const CACHE_LINE: u64 = 64;

/// A file of these pieces, in this order, and the range of each piece in it. Pieces that share
/// bytes of a file of `data` share them in the new file too.
pub(super) fn arrange(pieces: &[&Piece], data: &DataFolder) -> (Layout, Vec<Range<u64>>) {
    let mut sources: Vec<PieceSource> = Vec::with_capacity(pieces.len());
    sources.extend(pieces.iter().enumerate().map(|(index, piece)| PieceSource {
        first: index,
        offset: 0,
        piece: (*piece).clone(),
    }));
    join_overlapping(&mut sources, data);
    let mut file = Vec::with_capacity(2 * pieces.len());
    let mut length = 0_u64;
    let mut starts = vec![None; pieces.len()];
    let mut ranges = Vec::with_capacity(pieces.len());
    for (source, piece) in sources.into_iter().zip(pieces) {
        let start = *starts[source.first].get_or_insert_with(|| {
            let bytes = source.piece.bytes();
            let start = length.next_multiple_of(if bytes < PAGE { CACHE_LINE } else { PAGE });
            file.push(Piece::Bytes(zeros(start - length).into()));
            file.push(source.piece);
            length = start + bytes;
            start
        });
        let begin = start + source.offset;
        ranges.push(begin..begin + piece.bytes());
    }
    (Layout::of_pieces(file), ranges)
}

/// The source of a piece's bytes: they begin at `offset` of `piece`, which all pieces with the same
/// `first` share.
struct PieceSource {
    first: usize,
    offset: u64,
    piece: Piece,
}

/// Joins the sources that share bytes of a data file. Each byte is then written once, even if
/// several tensors contain it.
fn join_overlapping(sources: &mut [PieceSource], data: &DataFolder) {
    let place = |source: &PieceSource| source.piece.source().place();
    let mut slices: Vec<usize> = (0..sources.len())
        .filter(|&index| matches!(sources[index].piece, Piece::Bytes(_)))
        .collect();
    slices.sort_by_key(|&index| (place(&sources[index]), index));
    let mut begun = 0;
    while begun < slices.len() {
        let (file, start) = place(&sources[slices[begun]]);
        let mut end = start + sources[slices[begun]].piece.bytes();
        let mut next = begun + 1;
        while next < slices.len() && place(&sources[slices[next]]) < (file, end) {
            end = end.max(place(&sources[slices[next]]).1 + sources[slices[next]].piece.bytes());
            next += 1;
        }
        let group = &slices[begun..next];
        begun = next;
        if let (2.., Some(file)) = (
            group.len(),
            data.file_around(sources[group[0]].piece.source()),
        ) {
            let first = group.iter().copied().min().unwrap_or(group[0]);
            let base = file.place().1;
            let shared = Piece::Bytes(file.slice(start - base..end - base));
            for &index in group {
                sources[index] = PieceSource {
                    first,
                    offset: place(&sources[index]).1 - start,
                    piece: shared.clone(),
                };
            }
        }
    }
}

fn zeros(count: u64) -> Bytes {
    static ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];
    Bytes::from_static(&ZEROS[..count as usize])
}
