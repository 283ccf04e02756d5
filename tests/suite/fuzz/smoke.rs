//! Every target over its seeds, over some mutations of them, the same ones each time, and over what was once found.

use std::fs;

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
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let seeds = (target.seeds)(&models());
    seeds.iter().for_each(|seed| (target.run)(seed));
    // Where there are more seeds than that, some from everywhere among them.
    let step = seeds.len().div_ceil(MUTATIONS).max(1);
    for (turn, seed) in seeds.iter().step_by(step).cycle().take(MUTATIONS).enumerate() {
        (target.run)(&mutate(seed, turn as u64));
    }
}

fn models() -> Vec<Vec<u8>> {
    let entries = fs::read_dir("models").unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "onnx")).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).filter(|model| model.len() <= LARGEST).collect()
}
