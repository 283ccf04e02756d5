//! Every way in which a computed tensor leaves the program writes what its elements are: by direct
//! writes, through the page cache, as a stream, in memory, in ranges, as parts of a page of a
//! browser or of Python's bytes, and in comparison with an existing file. The tensors are those of
//! real casts, of elements of each width, and they begin at any offset of the file.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use onnx_cast::{Cast, DType, Rules, convert_element, packed};
use onnx_recast::internals::files::{SaveTarget, save};
use onnx_recast::internals::protobuf::{Layout, Pieces};
use onnx_recast::internals::tensor::{Content, Data, Tensor};
use onnx_recast::internals::tensor_files::{self, Form, layout};
use onnx_recast::proto::Piece;
use onnx_recast::{Array, CastOptions, Packing, Stored};

use crate::support::expect_no_failures;
use crate::{InRanges, with_thresholds};

type Case = (DType, &'static [DType], Packing);

/// Casts whose results have 1 to 64 bits in each packing, and chains of several.
const CASTS: &[Case] = &[
    (DType::Float, &[DType::Bool], Packing::Packed),
    (DType::Int8, &[DType::Int2], Packing::Packed),
    (DType::Int8, &[DType::Int2], Packing::Byte),
    (DType::Float, &[DType::Float4E2M1], Packing::Packed),
    (DType::Uint4, &[DType::Float6E2M3], Packing::Packed),
    (DType::Uint4, &[DType::Float6E2M3], Packing::Byte),
    (DType::Float, &[DType::Float8E4M3Fn], Packing::Packed),
    (DType::Float, &[DType::Float16], Packing::Packed),
    (DType::Double, &[DType::Bfloat16], Packing::Packed),
    (DType::Int64, &[DType::Int32], Packing::Packed),
    (DType::Float16, &[DType::Float], Packing::Packed),
    (DType::Float, &[DType::Double], Packing::Packed),
    (DType::Int4, &[DType::Int64], Packing::Packed),
    (
        DType::Float,
        &[DType::Float16, DType::Double],
        Packing::Packed,
    ),
    (
        DType::Int2,
        &[DType::Float, DType::Int4, DType::Float6E3M2],
        Packing::Byte,
    ),
];

/// A tensor of casts.
struct Computed {
    array: Array,
    piece: Piece,
    expected: Vec<u8>,
}

/// Codes of a type that every cast above defines.
fn codes(dtype: DType) -> [u64; 4] {
    match dtype {
        DType::Float => [0.0_f32, 1.0, 3.0, 0.5].map(|number| number.to_bits().into()),
        DType::Double => [1.0 / 3.0, 1e300, -2.5, 0.0].map(f64::to_bits),
        DType::Float16 => [0x3C01, 0x8001, 0x7BFF, 0],
        _ => [0, 1, 1, 0],
    }
}

/// Elements with these codes, in an order that repeats after 251 elements only.
fn elements_of(bits: usize, elements: usize, codes: [u64; 4]) -> Vec<u8> {
    let mut bytes = vec![0; packed::size(bits, elements)];
    for index in 0..elements {
        packed::put(bits, &mut bytes, index, codes[index % 251 * 7 / 5 % 4]);
    }
    bytes
}

fn computed((from, targets, packing): Case, elements: usize, in_ranges: bool) -> Computed {
    let numbers = elements_of(from.bits(), elements, codes(from));
    let options = CastOptions::default().opset(28);
    let mut array =
        Array::from_bytes(from, &[elements as i64], numbers.clone(), Packing::Packed).unwrap();
    let stored = if in_ranges {
        Stored::of_file(InRanges(numbers))
    } else {
        numbers.into()
    };
    let mut content = Content::new(from, &[elements as i64], Data::Numbers(stored, Vec::new()));
    let mut results = codes(from);
    for &to in targets {
        let cast = Cast::new(array.dtype(), to, Rules::default().opset(28)).unwrap();
        results = results.map(|code| convert_element(&cast, code).0);
        content = content.cast(cast).unwrap().0;
        array = array.cast(to, &options).unwrap();
    }
    let (bits, piece) = match packing {
        Packing::Byte => {
            let array = tensor_files::Array {
                content,
                fortran_order: false,
                message: None,
            };
            // The header of the file is before the numbers.
            (
                array.dtype().bits().max(8),
                layout(array, Form::Npy)
                    .unwrap()
                    .pieces()
                    .into_iter()
                    .skip(1)
                    .last(),
            )
        }
        _ => (
            array.dtype().bits(),
            Tensor::read(&content.into_tensor("")).unwrap().piece(),
        ),
    };
    Computed {
        array,
        piece: piece.unwrap_or(Piece::Bytes(Vec::new().into())),
        expected: elements_of(bits, elements, results),
    }
}

/// The ways out that differ from the expected bytes of a file, each with the place of the first
/// difference.
fn wrong_ways(folder: &Path, pieces: &[Piece], expected: &[u8]) -> Vec<(&'static str, usize)> {
    let layout = || Layout::of_pieces(pieces.to_vec());
    let path = folder.join("written");
    save(layout(), &SaveTarget::File(path.clone())).unwrap();
    let mut stream = Vec::new();
    layout().write_to(&mut stream).unwrap();
    let memory = Pieces::stored(&layout());
    let step = 1 + expected.len() / 7;
    let ranges = (0..expected.len())
        .step_by(step)
        .map(|start| start as u64..(start + step).min(expected.len()) as u64);
    let found = [
        ("file", fs::read(&path).unwrap()),
        ("stream", stream),
        ("memory", memory.to_bytes().to_vec()),
        (
            "memory in parts",
            ranges.flat_map(|range| memory.part(range)).collect(),
        ),
    ];
    let is_wrong = |(_, bytes): &(&str, Vec<u8>)| bytes != expected;
    let place = |bytes: &[u8]| {
        bytes
            .iter()
            .zip(expected)
            .take_while(|(found, expected)| found == expected)
            .count()
    };
    let mut wrong: Vec<_> = found
        .into_iter()
        .filter(is_wrong)
        .map(|(way, bytes)| (way, place(&bytes)))
        .collect();
    if !layout().is_content_of(&expected.to_vec().into()) {
        wrong.push(("an equal file", 0));
    }
    if let Some(last) = expected.len().checked_sub(1) {
        let mut other = expected.to_vec();
        other[last] ^= 1;
        if layout().is_content_of(&other.into()) {
            wrong.push(("another file", last));
        }
    }
    wrong
}

/// The ways out of one tensor that differ from its elements: a page of a browser fills parts of any
/// length, Python's bytes are written into memory.
fn wrong_parts(packing: Packing, tensor: &Computed) -> Vec<String> {
    let Computed {
        array,
        piece,
        expected,
    } = tensor;
    let mut wrong = Vec::new();
    for length in [1, 7, 64, 383, 384, 385] {
        if expected.len() > 60 * length {
            continue;
        }
        // A byte that is not filled differs from the expected one.
        let mut filled: Vec<u8> = expected.iter().map(|byte| !byte).collect();
        let mut start = 0;
        for part in filled.chunks_mut(length) {
            piece.fill(start, part);
            start += part.len() as u64;
        }
        if filled != *expected {
            wrong.push(format!("parts of {length} bytes"));
        }
    }
    if array.to_bytes(packing).unwrap() != *expected {
        wrong.push("an array's bytes".to_owned());
    }
    wrong
}

/// Bytes that are not computed; they begin at a multiple of `alignment` in memory.
fn moved(bytes: usize, alignment: usize) -> Piece {
    let all: Vec<u8> = (0..alignment + bytes)
        .map(|index| (index % 241) as u8)
        .collect();
    let all = Bytes::from(all);
    let first = all.as_ptr().addr().next_multiple_of(alignment) - all.as_ptr().addr();
    Piece::Bytes(all.slice(first..first + bytes).into())
}

fn bytes_of(pieces: &[Piece]) -> Vec<u8> {
    let bytes = |piece: &Piece| match piece {
        Piece::Bytes(bytes) => bytes.to_bytes(),
        Piece::Made(recipe) => unreachable!("{recipe:?} is computed"),
    };
    pieces.iter().flat_map(bytes).collect()
}

#[test]
fn tensors_of_real_size_are_right_at_every_offset() {
    let folder = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    with_thresholds(None, || {
        for (number, &case) in CASTS.iter().enumerate() {
            let bits = case.1[case.1.len() - 1].bits();
            // About 1.2 MiB, for narrow elements not a whole number of bytes.
            let elements = (1_250_000 + 1009 * number) * 8 / bits + 3;
            let Computed {
                piece,
                expected: numbers,
                ..
            } = computed(case, elements, number % 2 == 1);
            // Each cast at other offsets, all of them together at all offsets modulo 8.
            for before in [number % 8, 4096, (1 << 20) + (number + 3) % 8 - 1] {
                let head = moved(before, 1);
                let expected = [
                    &bytes_of(std::slice::from_ref(&head)),
                    &*numbers,
                    b"five5",
                    &*numbers,
                ]
                .concat();
                let pieces = [
                    head,
                    piece.clone(),
                    Piece::Bytes(b"five5".to_vec().into()),
                    piece.clone(),
                ];
                let wrong = wrong_ways(folder.path(), &pieces, &expected);
                failed.extend(
                    wrong.into_iter().map(|wrong| {
                        format!("{case:?}, {elements} elements at {before}: {wrong:?}")
                    }),
                );
            }
        }
    });
    expect_no_failures(failed);
}

/// A part of a file: bytes in memory, some of which begin at a block, or the elements of a cast.
enum Part {
    Moved(usize),
    Aligned(usize),
    Made(usize),
}

/// Pieces that begin at pages of the file and between them, and end there, below and beyond the
/// length of a direct write.
#[test]
fn direct_writes_of_real_size_leave_nothing_out() {
    use Part::{Aligned, Made, Moved};

    let (page, least, most) = (1 << 16, 1 << 20, 8 << 20);
    let files = [
        vec![Moved(1)],
        vec![Made(3 * least + 17), Moved(5), Made(2 * least)],
        vec![Moved(page - 1), Made(least), Moved(1), Made(least + 2)],
        vec![
            Moved(page + 1),
            Moved(least - 1),
            Made(3 * least),
            Made(2 * least),
        ],
        vec![
            Moved(page),
            Aligned(2 * most + 3),
            Aligned(least),
            Made(384),
        ],
        vec![Made(page - 7), Moved(7), Aligned(most), Made(least - 1)],
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    with_thresholds(None, || {
        for (number, parts) in files.iter().enumerate() {
            let (mut pieces, mut expected) = (Vec::new(), Vec::new());
            for part in parts {
                let piece = match *part {
                    Moved(bytes) => moved(bytes, 1),
                    Aligned(bytes) => moved(bytes, 4096),
                    Made(bytes) => {
                        // The widest elements that such a number of bytes has.
                        let casts = [(8, 11), (4, 10), (2, 7), (1, 6)];
                        let (width, cast) = casts
                            .into_iter()
                            .find(|(width, _)| bytes % width == 0)
                            .unwrap();
                        let tensor = computed(CASTS[cast], bytes / width, number % 2 == 1);
                        expected.extend(tensor.expected);
                        pieces.push(tensor.piece);
                        continue;
                    }
                };
                expected.extend(bytes_of(std::slice::from_ref(&piece)));
                pieces.push(piece);
            }
            let wrong = wrong_ways(folder.path(), &pieces, &expected);
            failed.extend(
                wrong
                    .into_iter()
                    .map(|wrong| format!("file {number}: {wrong:?}")),
            );
        }
    });
    expect_no_failures(failed);
}

/// Numbers of elements around small thresholds, their multiples and blocks of kernels, and, if
/// asked for, around one grain of 384 bytes and two.
fn lengths(bits: usize, has_grains: bool) -> Vec<usize> {
    let grain = 384 * 8 / bits;
    let edges = [24, 64, 128, grain, 2 * grain];
    let edges = edges.into_iter().take(if has_grains { 5 } else { 3 });
    (0..18)
        .chain(edges.flat_map(|edge| edge - 1..edge + 2))
        .collect()
}

/// The seeds of small thresholds: each gives a threshold one of its small values.
const SEEDS: u64 = 4;

#[test]
fn small_tensors_are_right_at_every_length_and_offset_with_small_thresholds() {
    let folder = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    for seed in 0..SEEDS {
        // All casts and lengths in one file, at the offsets that result.
        let (mut pieces, mut expected, mut places) = (Vec::new(), Vec::new(), Vec::new());
        with_thresholds(Some(seed), || {
            for (number, &case) in CASTS.iter().enumerate() {
                let bits = case.1[case.1.len() - 1].bits();
                for (index, elements) in lengths(bits, (seed as usize + number).is_multiple_of(3))
                    .into_iter()
                    .enumerate()
                {
                    let tensor = computed(case, elements, (index + number) % 3 == 0);
                    let name = format!("seed {seed}, {case:?}, {elements} elements");
                    failed.extend(
                        wrong_parts(case.2, &tensor)
                            .into_iter()
                            .map(|wrong| format!("{name}: {wrong}")),
                    );
                    let before = moved((index * 5 + seed as usize) % 13, 1 + index % 9);
                    expected.extend(bytes_of(std::slice::from_ref(&before)));
                    places.push((expected.len(), name));
                    expected.extend(tensor.expected);
                    pieces.extend([before, tensor.piece]);
                }
            }
            for (way, place) in wrong_ways(folder.path(), &pieces, &expected) {
                let (start, name) = &places[places
                    .partition_point(|(start, _)| *start <= place)
                    .saturating_sub(1)];
                failed.push(format!("{name}, at {start}: {way} differs at {place}"));
            }
        });
    }
    expect_no_failures(failed);
}
