//! Prints, for every pair of numeric types, the throughput of the cast relative to `memcpy` of the
//! same input: bytes read and written per second, one thread, tensors larger than the caches, the
//! median of five runs, all in one process. It also prints the speed-up of the cast and of `memcpy`
//! with a second thread, and the throughput of the exact path on one thread, the plain loop over
//! elements against which the kernels are tested.
//!
//! `cargo bench --bench ratios` prints all pairs, `cargo bench --bench ratios -- FLOAT FLOAT16` one
//! pair, `-- named` the pairs quoted in the README. `ELEMENTS` (default 2^27) sets the size,
//! `LEVEL` (portable, avx2, avx512) the instruction set. The benchmark fails if a pair is below its
//! threshold: 0.6 of `memcpy` for pairs quoted in the README, 0.1 for all others.

mod pairs;

use onnx_cast::{Cast, Class, Converter, DType, Level, Rules};
use pairs::{NAMED, bytes, numbers};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

const RUNS: usize = 5;

/// Shorter inputs would fit in the caches.
const SHORTEST_COPY: usize = 1 << 26;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let elements = std::env::var("ELEMENTS")
        .map_or(1 << 27, |text| text.parse().expect("ELEMENTS is a number"));
    let level = match std::env::var("LEVEL").as_deref() {
        Ok("portable") => Level::Portable,
        Ok("avx2") => Level::Avx2,
        Ok("avx512") => Level::Avx512,
        _ => Level::detect(),
    };
    let numeric = || {
        DType::ALL
            .iter()
            .copied()
            .filter(|dtype| !matches!(dtype.class(), Class::String | Class::Complex))
    };
    let pairs: Vec<(DType, DType)> = match arguments.as_slice() {
        [] => numeric()
            .flat_map(|from| numeric().map(move |to| (from, to)))
            .collect(),
        [word] if word == "named" => NAMED.to_vec(),
        [from, to] => vec![(from.parse().expect("a type"), to.parse().expect("a type"))],
        _ => panic!("expected no argument, 'named', or a pair of types"),
    };

    let mut bench = Bench::new(elements);
    println!(
        "{elements} elements, {level:?}; memcpy reads and writes {:.1} GB/s\n",
        bench.copy(4 * elements) / 1e9
    );
    println!(
        "| from | to | GB/s | of memcpy | two threads to one | of memcpy: two to one | plain loop, GB/s |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|");
    let mut slow = Vec::new();
    for pair in pairs {
        let (from, to) = pair;
        let cast = Cast::new(from, to, Rules::default())
            .expect("the newest opset supports all numeric types");
        let converter = Converter::for_level(cast, level);
        let input = bytes(from, elements).max(SHORTEST_COPY);
        let (memcpy, memcpy_two) = (bench.copy(input), bench.copy_on_two_threads(input));
        let one = bench.cast(&cast, 1, |_, source, elements, target| {
            converter.convert(source, elements, target)
        });
        let two = bench.cast(&cast, 1, |pool, source, elements, target| {
            pool.install(|| convert_halves(&converter, source, elements, target));
        });
        let plain = bench.cast(&cast, 256, |_, source, elements, target| {
            cast.convert_exactly(source, elements, target)
        });
        let (ratio, scaling, copy_scaling) = (one / memcpy, two / one, memcpy_two / memcpy);
        println!(
            "| {from} | {to} | {:.1} | {ratio:.2} | {scaling:.2} | {copy_scaling:.2} | {:.2} |",
            one / 1e9,
            plain / 1e9
        );
        let floor = if NAMED.contains(&pair) { 0.6 } else { 0.1 };
        if ratio < floor {
            slow.push(format!(
                "{from} to {to}: {ratio:.2} of memcpy, less than {floor}"
            ));
        }
    }
    slow.iter().for_each(|pair| eprintln!("{pair}"));
    if slow.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The size of a cache line.
const LINE: usize = 64;

/// Bytes aligned to a cache line.
macro_rules! on_a_line {
    ($memory:expr) => {{
        let before = $memory.as_ptr().align_offset(LINE);
        &mut $memory[before..]
    }};
}

/// Converts each half on a thread of its own. The second begins at a byte in any packing.
fn convert_halves(converter: &Converter, source: &[u8], elements: usize, target: &mut [u8]) {
    let first = (elements / 2).next_multiple_of(8);
    let cast = converter.cast();
    let (source, source_rest) = source.split_at(bytes(cast.from(), first));
    let (target, target_rest) = target.split_at_mut(bytes(cast.to(), first));
    rayon::join(
        || converter.convert(source, first, target),
        || converter.convert(source_rest, elements - first, target_rest),
    );
}

/// Memory shared by all runs, so that no run includes page faults. It is aligned to a cache line,
/// like arrays and data files.
struct Bench {
    elements: usize,
    source: Vec<u8>,
    target: Vec<u8>,
    two_threads: ThreadPool,
}

impl Bench {
    fn new(elements: usize) -> Bench {
        let two_threads = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .expect("two threads are available");
        let room = (elements * 8).max(SHORTEST_COPY) + LINE;
        Bench {
            elements,
            source: numbers(room),
            target: vec![1; room],
            two_threads,
        }
    }

    fn copy(&mut self, bytes: usize) -> f64 {
        let (source, target) = (
            &on_a_line!(self.source)[..bytes],
            &mut on_a_line!(self.target)[..bytes],
        );
        rate(2 * bytes, || {
            black_box(&mut *target).copy_from_slice(black_box(source))
        })
    }

    fn copy_on_two_threads(&mut self, bytes: usize) -> f64 {
        let (source, target, half) = (
            &on_a_line!(self.source)[..bytes],
            &mut on_a_line!(self.target)[..bytes],
            bytes.div_ceil(2),
        );
        let halves = |target: &mut [u8]| {
            let halves = black_box(target)
                .par_chunks_mut(half)
                .zip(black_box(source).par_chunks(half));
            halves.for_each(|(target, source)| target.copy_from_slice(source));
        };
        rate(2 * bytes, || self.two_threads.install(|| halves(target)))
    }

    /// The throughput of a function that casts a part of the elements.
    fn cast(
        &mut self,
        cast: &Cast,
        part: usize,
        convert: impl Fn(&ThreadPool, &[u8], usize, &mut [u8]),
    ) -> f64 {
        let elements = self.elements / part;
        let (read, written) = (bytes(cast.from(), elements), bytes(cast.to(), elements));
        let (source, target) = (
            &on_a_line!(self.source)[..read],
            &mut on_a_line!(self.target)[..written],
        );
        rate(read + written, || {
            convert(
                &self.two_threads,
                black_box(source),
                elements,
                black_box(&mut *target),
            )
        })
    }
}

/// Bytes per second: the median of the runs.
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
