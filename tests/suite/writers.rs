//! Every way in which a computed tensor leaves the program writes what its elements are: by direct writes, through the page cache, as a
//! stream, in memory, in ranges, and in comparison with an existing file. The tensors are those of real casts, of elements of each width,
//! and they begin at any offset of the file.

use std::fs;
use std::io;
use std::path::Path;

use onnx_recast::internals::elements::cast::{Cast, Rules, convert_element};
use onnx_recast::internals::elements::dtype::DType;
use onnx_recast::internals::elements::packed;
use onnx_recast::internals::files::{Target, save};
use onnx_recast::internals::protobuf::{Layout, Piece, Pieces};
use onnx_recast::internals::tensor::{Content, Data, Tensor};
use onnx_recast::{Array, CastOptions, Packing, ReadAt, Stored};

use crate::support::expect_no_failures;

/// Casts whose results have 1 to 64 bits in each packing, and a chain of two.
const CASTS: &[(DType, &[DType], Packing)] = &[
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
    (DType::Float, &[DType::Float16, DType::Double], Packing::Packed),
];

/// A file that is read in ranges.
#[derive(Debug)]
struct InRanges(Vec<u8>);

impl ReadAt for InRanges {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0[offset as usize..][..out.len()]);
        Ok(())
    }
}

/// Values of a type that every cast above defines, in an order that repeats after 251 elements only.
fn source(dtype: DType, elements: usize) -> Vec<u8> {
    let codes: [u64; 4] = match dtype {
        DType::Float => [0.0_f32, 1.0, 3.0, 0.5].map(|number| number.to_bits().into()),
        DType::Double => [1.0 / 3.0, 1e300, -2.5, 0.0].map(f64::to_bits),
        DType::Float16 => [0x3C01, 0x8001, 0x7BFF, 0],
        _ => [0, 1, 1, 0],
    };
    let mut bytes = vec![0; packed::size(dtype.bits(), elements)];
    for index in 0..elements {
        packed::put(dtype.bits(), &mut bytes, index, codes[index % 251 * 7 / 5 % 4]);
    }
    bytes
}

/// The results of casts in sequence, one element at a time.
fn results(casts: &[Cast], source: &[u8], elements: usize, packing: Packing) -> Vec<u8> {
    let (from, to) = (casts[0].from(), casts[casts.len() - 1].to());
    let bits = if packing == Packing::Byte { to.bits().max(8) } else { to.bits() };
    let mut bytes = vec![0; packed::size(bits, elements)];
    for index in 0..elements {
        let element = packed::get(from.bits(), source, index);
        let result = casts.iter().fold(element, |element, cast| convert_element(cast, element).0);
        packed::put(bits, &mut bytes, index, result);
    }
    bytes
}

/// A tensor of a cast, as a piece of a file, and its bytes.
fn computed((from, targets, packing): (DType, &[DType], Packing), elements: usize, in_ranges: bool) -> (Piece, Vec<u8>) {
    let numbers = source(from, elements);
    let (rules, options) = (Rules::default().opset(28), CastOptions::default().opset(28));
    let mut casts = Vec::new();
    let mut array = Array::from_bytes(from, &[elements as i64], numbers.clone(), Packing::Packed).unwrap();
    for &to in targets {
        casts.push(Cast::new(array.dtype(), to, rules).unwrap());
        array = array.cast(to, &options).unwrap();
    }
    let expected = results(&casts, &numbers, elements, packing);
    let piece = match (packing, in_ranges) {
        (Packing::Packed, true) => {
            let mut content = Content::new(from, &[elements as i64], Data::Numbers(Stored::of_file(InRanges(numbers)), Vec::new()));
            for &cast in &casts {
                content = content.cast(cast).unwrap().0;
            }
            Tensor::read(&content.into_tensor("")).unwrap().piece().unwrap()
        }
        (Packing::Packed, false) => Tensor::read(&array.into_tensor("")).unwrap().piece().unwrap(),
        // One byte per element is what arrays and `.npy` files have.
        (_, _) => Piece::Bytes(array.to_bytes(packing).unwrap().into()),
    };
    (piece, expected)
}

/// The ways out that differ from the expected bytes of a file.
fn wrong_ways(folder: &Path, pieces: &[Piece], expected: &[u8]) -> Vec<&'static str> {
    let layout = || Layout::of_pieces(pieces.to_vec());
    let path = folder.join("written");
    save(layout(), &Target::File(path.clone())).unwrap();
    let mut stream = Vec::new();
    layout().write_to(&mut stream).unwrap();
    let memory = Pieces::stored(&layout());
    let step = 1 + expected.len() / 7;
    let ranges = (0..expected.len()).step_by(step).map(|start| start as u64..(start + step).min(expected.len()) as u64);
    let mut other = expected.to_vec();
    other.last_mut().into_iter().for_each(|last| *last ^= 1);
    let ways = [
        ("file", fs::read(&path).unwrap() == expected),
        ("stream", stream == expected),
        ("memory", memory.to_bytes() == expected),
        ("memory in parts", ranges.flat_map(|range| memory.part(range)).eq(expected.iter().copied())),
        ("an equal file", layout().is_content_of(&expected.to_vec().into())),
        ("another file", !layout().is_content_of(&other.into())),
    ];
    ways.into_iter().filter(|(_, is_right)| !is_right).map(|(way, _)| way).collect()
}

#[test]
fn tensors_of_real_size_are_right_at_every_offset() {
    let folder = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    for (number, &case) in CASTS.iter().enumerate() {
        let bits = case.1[case.1.len() - 1].bits();
        // About 1.2 MiB, for narrow elements not a whole number of bytes.
        let elements = (1_250_000 + 1009 * number) * 8 / bits + 3;
        let (piece, numbers) = computed(case, elements, number % 2 == 1);
        // Each cast at other offsets, all of them together at all offsets modulo 8.
        for before in [number % 8, 4096, (1 << 20) + (number + 3) % 8 - 1] {
            let head: Vec<u8> = (0..before).map(|index| index as u8).collect();
            let expected = [&head, &*numbers, b"five5", &*numbers].concat();
            let pieces = [Piece::Bytes(head.into()), piece.clone(), Piece::Bytes(b"five5".to_vec().into()), piece.clone()];
            let wrong = wrong_ways(folder.path(), &pieces, &expected);
            if !wrong.is_empty() {
                failed.push(format!("{case:?}, {elements} elements at {before}: {}", wrong.join(", ")));
            }
        }
    }
    expect_no_failures(failed);
}
