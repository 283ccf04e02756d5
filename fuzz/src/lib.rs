//! The properties of `tests/suite/fuzz/` as targets of libFuzzer.

#[path = "../../tests/suite/fuzz/mod.rs"]
pub mod properties;

/// A target that runs a property. Half of the mutations are libFuzzer's own, half keep protobuf
/// messages whole.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::properties::$name::run(bytes));

        libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8],
                                      size: usize,
                                      max_size: usize,
                                      seed: u32| {
            let mutated = $crate::properties::mutate::mutate(&bytes[..size], seed.into());
            if seed % 2 == 0 && (1..=max_size).contains(&mutated.len()) {
                bytes[..mutated.len()].copy_from_slice(&mutated);
                mutated.len()
            } else {
                libfuzzer_sys::fuzzer_mutate(bytes, size, max_size)
            }
        });
    };
}
