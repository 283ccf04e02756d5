//! The instruction sets that kernels are compiled for, and the choice among them at run time.
//!
//! Kernels are plain loops, inlined into one function for each instruction set and vectorized there by the compiler.
#![allow(unsafe_code)]

use super::stage::Stage;

/// An instruction set; each includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every machine of the architecture has (on AArch64, NEON).
    Portable,
    /// AVX2, FMA, BMI and F16C: x86-64 since 2013.
    Avx2,
    /// AVX-512 with byte permutes: Intel since Ice Lake, AMD since Zen 4.
    Avx512,
}

impl Level {
    /// All levels, the plainest first.
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// The best that this machine has.
    #[must_use]
    pub fn detect() -> Level {
        Level::ALL.into_iter().rfind(|level| level.is_available()).unwrap_or(Level::Portable)
    }

    /// Whether this machine has it.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn is_available(self) -> bool {
        let avx2 = || {
            is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("f16c")
        };
        match self {
            Level::Portable => true,
            Level::Avx2 => avx2(),
            Level::Avx512 => {
                avx2()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
            }
        }
    }

    /// Whether this machine has it.
    #[cfg(not(target_arch = "x86_64"))]
    #[must_use]
    pub fn is_available(self) -> bool {
        self == Level::Portable
    }
}

/// What a kernel may use, as a type, so that each instruction set gets its own copy of the loops.
pub(super) trait Features {
    const LEVEL: Level;
}

struct Portable;
impl Features for Portable {
    const LEVEL: Level = Level::Portable;
}

/// Runs one stage over a chunk.
///
/// # Panics
/// When this machine lacks the level: a [`Level`] that was not detected must not reach a kernel.
pub(super) fn run(level: Level, stage: &Stage, source: &[u8], target: &mut [u8]) {
    debug_assert!(level.is_available());
    match level {
        Level::Portable => stage.run::<Portable>(source, target),
        // SAFETY: a converter holds a level only after `is_available` said that the machine has all its features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(stage, source, target) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(stage, source, target) },
        #[cfg(not(target_arch = "x86_64"))]
        Level::Avx2 | Level::Avx512 => unreachable!("never available on this architecture"),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Features, Level, Stage};

    struct Avx2;
    impl Features for Avx2 {
        const LEVEL: Level = Level::Avx2;
    }

    struct Avx512;
    impl Features for Avx512 {
        const LEVEL: Level = Level::Avx512;
    }

    #[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c")]
    pub(super) fn avx2(stage: &Stage, source: &[u8], target: &mut [u8]) {
        stage.run::<Avx2>(source, target);
    }

    #[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) fn avx512(stage: &Stage, source: &[u8], target: &mut [u8]) {
        stage.run::<Avx512>(source, target);
    }
}
