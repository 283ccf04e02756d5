//! The instruction sets that kernels are compiled for, and their selection at run time.
//!
//! Kernels are plain loops, inlined into one function per instruction set and vectorized there by
//! the compiler.
#![allow(unsafe_code)]

/// An instruction set; each includes the previous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The baseline of the architecture (on AArch64, NEON).
    Portable,
    /// AVX2, FMA, BMI and F16C: x86-64 since 2013.
    Avx2,
    /// AVX-512 with byte permutes: Intel since Ice Lake, AMD since Zen 4.
    Avx512,
}

impl Level {
    /// All levels in ascending order.
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// The best level that this machine supports.
    #[must_use]
    pub fn detect() -> Level {
        Level::ALL
            .into_iter()
            .rfind(|level| level.is_available())
            .unwrap_or(Level::Portable)
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

/// An instruction set as a type, so that each gets its own copy of the loops.
pub trait Features {
    /// The instruction set.
    const LEVEL: Level;
}

/// A function over a chunk. Implementations must be `#[inline(always)]` to be compiled for the
/// instruction set.
pub trait Kernel {
    /// What the function returns.
    type Output;
    /// The function, compiled for an instruction set.
    fn run<F: Features>(self) -> Self::Output;
}

struct Portable;
impl Features for Portable {
    const LEVEL: Level = Level::Portable;
}

impl Level {
    /// Runs a kernel with the level's instructions.
    ///
    /// # Panics
    /// If the machine does not support the level.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        assert!(self.is_available(), "this machine does not have {self:?}");
        self.run_available(kernel)
    }

    /// Like [`Level::run`], without its check, which takes as long as a short chunk: for levels
    /// whose availability was confirmed when the cast was prepared.
    pub(super) fn run_available<K: Kernel>(self, kernel: K) -> K::Output {
        debug_assert!(self.is_available());
        match self {
            // SAFETY: callers hold a level only after `is_available` confirmed that the machine
            // supports it.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::avx2(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::avx512(kernel) },
            _ => kernel.run::<Portable>(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Features, Kernel, Level};

    struct Avx2;
    impl Features for Avx2 {
        const LEVEL: Level = Level::Avx2;
    }

    struct Avx512;
    impl Features for Avx512 {
        const LEVEL: Level = Level::Avx512;
    }

    #[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c")]
    pub(super) fn avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx2>()
    }

    #[target_feature(
        enable = "avx2,fma,bmi1,bmi2,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi"
    )]
    pub(super) fn avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx512>()
    }
}
