//! The casts that models need most, beside `memcpy` of the same input and beside a plain loop over the elements.
//!
//! `cargo bench --bench cast`; a word after `--` chooses benches by name. `cargo bench --bench ratios` prints all pairs as a table.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use onnx_recast::cast::{Cast, Converter, Rules};
use onnx_recast::dtype::DType::{self, *};

/// More than the caches hold, in every type of the list.
const ELEMENTS: usize = 1 << 25;

const PAIRS: [(DType, DType); 16] = [
    (Float, Float16),
    (Float, Bfloat16),
    (Float16, Float),
    (Double, Float),
    (Int64, Int32),
    (Float, Int8),
    (Float, Float8E4M3Fn),
    (Float, Float8E4M3Fnuz),
    (Float, Float8E5M2),
    (Float, Float8E5M2Fnuz),
    (Float8E4M3Fn, Float),
    (Float8E4M3Fnuz, Float),
    (Float8E5M2, Float),
    (Float8E5M2Fnuz, Float),
    (Float, Float4E2M1),
    (Float, Int4),
];

fn main() {
    divan::main();
}

/// Input bytes, none of which makes a special number, and room for the result.
fn memory(from: DType, to: DType, elements: usize) -> (Vec<u8>, Vec<u8>) {
    let bytes = |dtype: DType| dtype.raw_bytes(elements as u64).expect("numeric types have a size") as usize;
    let source = (0..bytes(from)).map(|index| (index as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] & 0xBF).collect();
    (source, vec![1; bytes(to)])
}

#[divan::bench(args = PAIRS, sample_count = 5, sample_size = 1)]
fn kernel(bencher: Bencher, (from, to): (DType, DType)) {
    let (source, mut target) = memory(from, to, ELEMENTS);
    let converter = Converter::new(Cast::new(from, to, Rules::default()).expect("the newest opset admits all numeric types"));
    let bytes = BytesCount::new(source.len() + target.len());
    bencher.counter(bytes).bench_local(|| converter.convert(black_box(&source), ELEMENTS, black_box(&mut target)));
}

#[divan::bench(args = PAIRS, sample_count = 5, sample_size = 1)]
fn memcpy_of_input(bencher: Bencher, (from, _): (DType, DType)) {
    let (source, mut target) = memory(from, from, ELEMENTS);
    let bytes = BytesCount::new(source.len() + target.len());
    bencher.counter(bytes).bench_local(|| black_box(&mut target).copy_from_slice(black_box(&source)));
}

#[divan::bench(args = PAIRS, sample_count = 5, sample_size = 1)]
fn plain_loop(bencher: Bencher, (from, to): (DType, DType)) {
    let elements = ELEMENTS / 64;
    let (source, mut target) = memory(from, to, elements);
    let cast = Cast::new(from, to, Rules::default()).expect("the newest opset admits all numeric types");
    let bytes = BytesCount::new(source.len() + target.len());
    bencher.counter(bytes).bench_local(|| cast.convert_exactly(black_box(&source), elements, black_box(&mut target)));
}
