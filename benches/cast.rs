//! The most common casts in models, compared with `memcpy` of the same input and with a plain loop
//! over the elements.
//!
//! `cargo bench --bench cast`; an argument after `--` filters benchmarks by name.
//! `cargo bench --bench ratios` prints a table of all pairs.

mod pairs;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use onnx_cast::{Cast, Converter, DType, Rules};
use pairs::{NAMED, bytes, numbers};

/// Larger than the caches in every type of the list.
const ELEMENTS: usize = 1 << 26;

fn main() {
    divan::main();
}

/// The input, and a buffer for the result.
fn memory(from: DType, to: DType, elements: usize) -> (Vec<u8>, Vec<u8>) {
    (numbers(bytes(from, elements)), vec![1; bytes(to, elements)])
}

#[divan::bench(args = NAMED, sample_count = 5, sample_size = 1)]
fn kernel(bencher: Bencher, (from, to): (DType, DType)) {
    let (source, mut target) = memory(from, to, ELEMENTS);
    let converter = Converter::new(
        Cast::new(from, to, Rules::default()).expect("the newest opset supports all numeric types"),
    );
    let work = BytesCount::new(source.len() + target.len());
    bencher
        .counter(work)
        .bench_local(|| converter.convert(black_box(&source), ELEMENTS, black_box(&mut target)));
}

#[divan::bench(args = NAMED, sample_count = 5, sample_size = 1)]
fn memcpy_of_input(bencher: Bencher, (from, _): (DType, DType)) {
    let (source, mut target) = memory(from, from, ELEMENTS);
    let work = BytesCount::new(source.len() + target.len());
    bencher
        .counter(work)
        .bench_local(|| black_box(&mut target).copy_from_slice(black_box(&source)));
}

#[divan::bench(args = NAMED, sample_count = 5, sample_size = 1)]
fn plain_loop(bencher: Bencher, (from, to): (DType, DType)) {
    let elements = ELEMENTS / 64;
    let (source, mut target) = memory(from, to, elements);
    let cast =
        Cast::new(from, to, Rules::default()).expect("the newest opset supports all numeric types");
    let work = BytesCount::new(source.len() + target.len());
    bencher
        .counter(work)
        .bench_local(|| cast.convert_exactly(black_box(&source), elements, black_box(&mut target)));
}
