//! `FLOAT16` from and to `f32`: by the instructions that machines have for it, or by arithmetic.
#![allow(unsafe_code)]

use super::level::{Features, Level};
use super::number::{map, quiet};
use super::round::Rounding;
#[cfg(target_arch = "x86_64")]
use super::stream;

/// Exactly; NaNs become quiet.
#[inline(always)]
pub(super) fn to_single<F: Features>(source: &[u8], target: &mut [u8]) {
    match F::LEVEL {
        Level::Portable => map(source, target, single_from_half),
        // SAFETY: the level has F16C.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2_to_single(source, target) },
        // SAFETY: the level has AVX-512F.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512_to_single(source, target) },
        #[cfg(not(target_arch = "x86_64"))]
        Level::Avx2 | Level::Avx512 => unreachable!("never available on this architecture"),
    }
}

/// To nearest; NaNs become quiet and keep their high payload bits.
#[inline(always)]
pub(super) fn from_single<F: Features>(rounding: &Rounding, source: &[u8], target: &mut [u8]) {
    match F::LEVEL {
        Level::Portable => map(source, target, |number| half_from_single(rounding, number)),
        // SAFETY: the level has F16C.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2_from_single(rounding, source, target) },
        // SAFETY: the level has AVX-512F.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512_from_single(rounding, source, target) },
        #[cfg(not(target_arch = "x86_64"))]
        Level::Avx2 | Level::Avx512 => unreachable!("never available on this architecture"),
    }
}

#[inline(always)]
fn single_from_half(code: u16) -> u32 {
    let (sign, magnitude) = (u32::from(code & 0x8000) << 16, u32::from(code & 0x7FFF));
    // The exponent fields differ by 112; the multiplication also makes normal numbers of subnormal ones.
    let scaled = (f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23)).to_bits();
    let bits = if magnitude >= 0x7C00 { magnitude << 13 | 0x7F80_0000 } else { scaled };
    quiet(sign | bits)
}

#[inline(always)]
fn half_from_single(rounding: &Rounding, number: u32) -> u16 {
    let nan = number >> 16 & 0x8000 | 0x7E00 | number >> 13 & 0x01FF;
    (if number & 0x7FFF_FFFF > 0x7F80_0000 { nan } else { rounding.round(number) }) as u16
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Rounding, half_from_single, map, single_from_half, stream};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn avx2_to_single(source: &[u8], target: &mut [u8]) {
        let (halves, rest) = source.as_chunks::<16>();
        let (singles, rest_of_target) = target.split_at_mut(halves.len() * 32);
        for (half, single) in halves.iter().zip(singles.as_chunks_mut::<32>().0) {
            stream::fetch_ahead(half);
            // SAFETY: both arrays have the size that is read or written; neither instruction asks for alignment.
            unsafe { _mm256_storeu_ps(single.as_mut_ptr().cast(), _mm256_cvtph_ps(_mm_loadu_si128(half.as_ptr().cast()))) };
        }
        map(rest, rest_of_target, single_from_half);
    }

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn avx2_from_single(rounding: &Rounding, source: &[u8], target: &mut [u8]) {
        let (singles, rest) = source.as_chunks::<32>();
        let (halves, rest_of_target) = target.split_at_mut(singles.len() * 16);
        for (single, half) in singles.iter().zip(halves.as_chunks_mut::<16>().0) {
            stream::fetch_ahead(single);
            // SAFETY: both arrays have the size that is read or written; neither instruction asks for alignment.
            unsafe {
                let rounded = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(single.as_ptr().cast()));
                _mm_storeu_si128(half.as_mut_ptr().cast(), rounded);
            }
        }
        map(rest, rest_of_target, |number| half_from_single(rounding, number));
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512_to_single(source: &[u8], target: &mut [u8]) {
        let (halves, rest) = source.as_chunks::<32>();
        let (singles, rest_of_target) = target.split_at_mut(halves.len() * 64);
        for (half, single) in halves.iter().zip(singles.as_chunks_mut::<64>().0) {
            stream::fetch_ahead(half);
            // SAFETY: both arrays have the size that is read or written; neither instruction asks for alignment.
            unsafe { _mm512_storeu_ps(single.as_mut_ptr().cast(), _mm512_cvtph_ps(_mm256_loadu_si256(half.as_ptr().cast()))) };
        }
        map(rest, rest_of_target, single_from_half);
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512_from_single(rounding: &Rounding, source: &[u8], target: &mut [u8]) {
        let (singles, rest) = source.as_chunks::<64>();
        let (halves, rest_of_target) = target.split_at_mut(singles.len() * 32);
        for (single, half) in singles.iter().zip(halves.as_chunks_mut::<32>().0) {
            stream::fetch_ahead(single);
            // SAFETY: both arrays have the size that is read or written; neither instruction asks for alignment.
            unsafe {
                let rounded = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(single.as_ptr().cast()));
                _mm256_storeu_si256(half.as_mut_ptr().cast(), rounded);
            }
        }
        map(rest, rest_of_target, |number| half_from_single(rounding, number));
    }
}
