//! Prints, for every pair of numeric types, how fast the cast is beside `memcpy`: bytes read and written in a second, one
//! thread, tensors larger than the caches, the median of five runs, all in one process. Beside it: the cast on two threads, and on
//! one along the exact path, which is the plain loop over elements that the kernels are tested against.
//!
//! `cargo bench --bench ratios` prints all pairs; `cargo bench --bench ratios -- FLOAT FLOAT16` one; `-- named` those that the
//! README quotes. `ELEMENTS` (default 2^26) sets the size, `LEVEL` (portable, avx2, avx512) the instruction set.

use onnx_recast::cast::{Cast, Converter, Level, Rules};
use onnx_recast::dtype::{Class, DType};
use std::hint::black_box;
use std::time::Instant;

const RUNS: usize = 5;

/// The pairs that the README quotes.
const NAMED: &[(DType, DType)] = &[
    (DType::Float, DType::Float16),
    (DType::Float, DType::Bfloat16),
    (DType::Float16, DType::Float),
    (DType::Double, DType::Float),
    (DType::Int64, DType::Int32),
    (DType::Float, DType::Int8),
    (DType::Float, DType::Float8E4M3Fn),
    (DType::Float, DType::Float8E4M3Fnuz),
    (DType::Float, DType::Float8E5M2),
    (DType::Float, DType::Float8E5M2Fnuz),
    (DType::Float8E4M3Fn, DType::Float),
    (DType::Float8E4M3Fnuz, DType::Float),
    (DType::Float8E5M2, DType::Float),
    (DType::Float8E5M2Fnuz, DType::Float),
    (DType::Float, DType::Float4E2M1),
    (DType::Float, DType::Int4),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let elements = std::env::var("ELEMENTS").map_or(1 << 26, |text| text.parse().expect("ELEMENTS is a number"));
    let level = match std::env::var("LEVEL").as_deref() {
        Ok("portable") => Level::Portable,
        Ok("avx2") => Level::Avx2,
        Ok("avx512") => Level::Avx512,
        _ => Level::detect(),
    };
    let numeric = || DType::ALL.iter().copied().filter(|dtype| !matches!(dtype.class(), Class::String | Class::Complex));
    let pairs: Vec<(DType, DType)> = match arguments.as_slice() {
        [] => numeric().flat_map(|from| numeric().map(move |to| (from, to))).collect(),
        [word] if word == "named" => NAMED.to_vec(),
        [from, to] => vec![(from.parse().expect("a type"), to.parse().expect("a type"))],
        _ => panic!("give nothing, 'named', or a pair of types"),
    };

    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads can be had");
    let mut bench = Bench::new(elements);
    println!("{elements} elements, {level:?}; memcpy reads and writes {:.1} GB/s\n", bench.memcpy() / 1e9);
    println!("| from | to | GB/s | of memcpy | two threads to one | plain loop, GB/s |\n|---|---|---:|---:|---:|---:|");
    for (from, to) in pairs {
        let cast = Cast::new(from, to, Rules::default()).expect("the newest opset admits all numeric types");
        let converter = Converter::for_level(cast, level);
        let memcpy = bench.memcpy();
        let one = bench.run(&cast, 1, |source, elements, target| converter.convert(source, elements, target));
        let two =
            bench.run(&cast, 1, |source, elements, target| pool.install(|| converter.convert_parallel(source, elements, target)));
        let plain = bench.run(&cast, 256, |source, elements, target| cast.convert_exactly(source, elements, target));
        println!("| {from} | {to} | {:.1} | {:.2} | {:.2} | {:.2} |", one / 1e9, one / memcpy, two / one, plain / 1e9);
    }
}

/// Memory that all runs share, so that none of them pays for fresh pages.
struct Bench {
    elements: usize,
    source: Vec<u8>,
    target: Vec<u8>,
}

impl Bench {
    fn new(elements: usize) -> Bench {
        // Numbers around one in every format, of either sign, none of them special.
        let source = (0..elements * 8).map(|index| (index as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] & 0xBF).collect();
        Bench { elements, source, target: vec![1; elements * 8] }
    }

    fn memcpy(&mut self) -> f64 {
        let bytes = self.elements * 4;
        let (source, target) = (&self.source[..bytes], &mut self.target[..bytes]);
        rate(2 * bytes, || black_box(&mut *target).copy_from_slice(black_box(source)))
    }

    /// The rate of a way to cast a part of the elements.
    fn run(&mut self, cast: &Cast, part: usize, convert: impl Fn(&[u8], usize, &mut [u8])) -> f64 {
        let elements = self.elements / part;
        let bytes = |dtype: DType| dtype.raw_bytes(elements as u64).expect("numeric types have a size") as usize;
        let (read, written) = (bytes(cast.from()), bytes(cast.to()));
        let (source, target) = (&self.source[..read], &mut self.target[..written]);
        rate(read + written, || convert(black_box(source), elements, black_box(&mut *target)))
    }
}

/// Bytes in a second: the median of the runs.
fn rate(bytes: usize, mut run: impl FnMut()) -> f64 {
    let mut seconds = [0.0; RUNS];
    for slot in &mut seconds {
        let start = Instant::now();
        run();
        *slot = start.elapsed().as_secs_f64();
    }
    seconds.sort_by(f64::total_cmp);
    bytes as f64 / seconds[RUNS / 2]
}
