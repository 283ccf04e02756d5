//! Every target over its seeds, over some mutations of them, the same ones each time, and over what
//! was once found.

use std::fs;
use std::panic::catch_unwind;

use super::TARGETS;
use super::mutate::mutate;

/// The largest model to begin with: the rest is left to the fuzzer.
const LARGEST: usize = 1 << 14;

/// Runs of a target beside those of its seeds.
const MUTATIONS: usize = 400;

#[test]
fn load() {
    smoke("load");
}

#[test]
fn round_trip() {
    smoke("round_trip");
}

#[test]
fn fold() {
    smoke("fold");
}

#[test]
fn convert() {
    smoke("convert");
}

#[test]
fn precision() {
    smoke("precision");
}

#[test]
fn infer() {
    smoke("infer");
}

#[test]
fn lint() {
    smoke("lint");
}

#[test]
fn text() {
    smoke("text");
}

#[test]
fn cast() {
    smoke("cast");
}

#[test]
fn external() {
    smoke("external");
}

fn smoke(name: &str) {
    let target = TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("a target");
    let seeds = (target.seeds)(&models());
    // Where there are more seeds than that, some from everywhere among them.
    let step = seeds.len().div_ceil(MUTATIONS).max(1);
    let some = seeds
        .iter()
        .step_by(step)
        .cycle()
        .take(MUTATIONS)
        .enumerate();
    let mutations: Vec<Vec<u8>> = some.map(|(turn, seed)| mutate(seed, turn as u64)).collect();
    // The hook prints where each panic is.
    let failed = seeds
        .iter()
        .chain(&mutations)
        .filter(|input| catch_unwind(|| (target.run)(input)).is_err())
        .count();
    assert_eq!(failed, 0, "of {} inputs", seeds.len() + mutations.len());
}

fn models() -> Vec<Vec<u8>> {
    let entries = fs::read_dir("models")
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "onnx")
        })
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| fs::read(path).unwrap())
        .filter(|model| model.len() <= LARGEST)
        .collect()
}
