//! `FLOAT16` from and to `f32`, with hardware instructions if available, otherwise with arithmetic.
#![allow(unsafe_code)]

use super::level::Features;
#[cfg(target_arch = "x86_64")]
use super::level::Level;
use super::number::{map, quiet};
use super::round::Rounding;
use super::sink::Sink;
#[cfg(target_arch = "x86_64")]
use super::stream;

/// Exactly; NaNs become quiet.
#[inline(always)]
pub(super) fn to_single<F: Features>(source: &[u8], sink: &mut Sink<F>) {
    match F::LEVEL {
        // SAFETY: the level has AVX2 and F16C.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2_to_single(source, sink) },
        // SAFETY: the level has AVX-512F.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512_to_single(source, sink) },
        _ => map(source, sink, single_from_half),
    }
}

/// To nearest; NaNs become quiet and keep their high payload bits.
#[inline(always)]
pub(super) fn from_single<F: Features>(rounding: &Rounding, source: &[u8], sink: &mut Sink<F>) {
    match F::LEVEL {
        // SAFETY: the level has AVX2 and F16C.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2_from_single(rounding, source, sink) },
        // SAFETY: the level has AVX-512F.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512_from_single(rounding, source, sink) },
        _ => map(source, sink, |number| half_from_single(rounding, number)),
    }
}

#[inline(always)]
fn single_from_half(code: u16) -> u32 {
    let (sign, magnitude) = (u32::from(code & 0x8000) << 16, u32::from(code & 0x7FFF));
    // The exponent biases differ by 112; the multiplication also normalizes subnormal numbers.
    let scaled = (f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23)).to_bits();
    let bits = if magnitude >= 0x7C00 {
        magnitude << 13 | 0x7F80_0000
    } else {
        scaled
    };
    quiet(sign | bits)
}

#[inline(always)]
fn half_from_single(rounding: &Rounding, number: u32) -> u16 {
    let nan = number >> 16 & 0x8000 | 0x7E00 | number >> 13 & 0x01FF;
    (if number & 0x7FFF_FFFF > 0x7F80_0000 {
        nan
    } else {
        rounding.round(number)
    }) as u16
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Features, Rounding, Sink, half_from_single, map, single_from_half, stream};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn avx2_to_single<F: Features>(source: &[u8], sink: &mut Sink<F>) {
        let (halves, rest) = source.as_chunks::<16>();
        for half in halves {
            let mut single = [0_u8; 32];
            stream::fetch_ahead(half);
            // SAFETY: both arrays have the size that is read or written; neither instruction asks
            // for alignment.
            unsafe {
                _mm256_storeu_ps(
                    single.as_mut_ptr().cast(),
                    _mm256_cvtph_ps(_mm_loadu_si128(half.as_ptr().cast())),
                )
            };
            sink.put(&single);
        }
        map(rest, sink, single_from_half);
    }

    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn avx2_from_single<F: Features>(
        rounding: &Rounding,
        source: &[u8],
        sink: &mut Sink<F>,
    ) {
        let (singles, rest) = source.as_chunks::<64>();
        for singles in singles {
            stream::fetch_ahead(singles);
            let mut halves = [0_u8; 32];
            for (single, half) in singles
                .as_chunks::<32>()
                .0
                .iter()
                .zip(halves.as_chunks_mut::<16>().0)
            {
                // SAFETY: both arrays have the size that is read or written; neither instruction
                // asks for alignment.
                unsafe {
                    let rounded = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(
                        single.as_ptr().cast(),
                    ));
                    _mm_storeu_si128(half.as_mut_ptr().cast(), rounded);
                }
            }
            sink.put(&halves);
        }
        map(rest, sink, |number| half_from_single(rounding, number));
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512_to_single<F: Features>(source: &[u8], sink: &mut Sink<F>) {
        let (halves, rest) = source.as_chunks::<32>();
        for half in halves {
            let mut single = [0_u8; 64];
            stream::fetch_ahead(half);
            // SAFETY: both arrays have the size that is read or written; neither instruction asks
            // for alignment.
            unsafe {
                _mm512_storeu_ps(
                    single.as_mut_ptr().cast(),
                    _mm512_cvtph_ps(_mm256_loadu_si256(half.as_ptr().cast())),
                )
            };
            sink.put(&single);
        }
        map(rest, sink, single_from_half);
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512_from_single<F: Features>(
        rounding: &Rounding,
        source: &[u8],
        sink: &mut Sink<F>,
    ) {
        let (singles, rest) = source.as_chunks::<128>();
        for singles in singles {
            stream::fetch_ahead(singles);
            let mut halves = [0_u8; 64];
            for (single, half) in singles
                .as_chunks::<64>()
                .0
                .iter()
                .zip(halves.as_chunks_mut::<32>().0)
            {
                // SAFETY: both arrays have the size that is read or written; neither instruction
                // asks for alignment.
                unsafe {
                    let rounded = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(
                        single.as_ptr().cast(),
                    ));
                    _mm256_storeu_si256(half.as_mut_ptr().cast(), rounded);
                }
            }
            sink.put(&halves);
        }
        map(rest, sink, |number| half_from_single(rounding, number));
    }
}
