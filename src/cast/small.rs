//! Floats of 8 bits and fewer from `f32`: by the arithmetic of [`Rounding::round`], which AVX-512 can do in fewer steps.
#![allow(unsafe_code)]

use super::level::{Features, Level};
use super::number::map;
use super::round::Rounding;

/// To nearest, as the rounding says; a code a byte.
#[inline(always)]
pub(super) fn from_single<F: Features>(rounding: &Rounding, source: &[u8], target: &mut [u8]) {
    match F::LEVEL {
        // SAFETY: the level has all of AVX-512 that this asks for.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe {
            match (rounding.zero_sign, rounding.nan_sign) {
                (0, _) => x86::from_single::<false, false>(rounding, source, target),
                (_, 0) => x86::from_single::<true, false>(rounding, source, target),
                (_, _) => x86::from_single::<true, true>(rounding, source, target),
            }
        },
        _ => map(source, target, |number: u32| rounding.round(number) as u8),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Rounding, map};
    use crate::cast::stream;
    use std::arch::x86_64::*;

    /// The numbers of a [`Rounding`], each in every lane.
    #[derive(Clone, Copy)]
    struct Lanes {
        limit: __m512,
        lowest: __m512i,
        lost: __m512i,
        addend: __m512i,
        nan: __m512i,
        sign: __m512i,
        sign_shift: __m512i,
    }

    impl Lanes {
        #[target_feature(enable = "avx512f")]
        fn new(rounding: &Rounding) -> Lanes {
            let all = |number: u32| _mm512_set1_epi32(number.cast_signed());
            let lost = rounding.lost >> 23;
            // The sum's high bits are lost in a byte. Its low bits take the code of the lowest exponent away from what is added
            // next; they are even, so that ties go where they should.
            let correction = (rounding.lowest >> lost).wrapping_neg() & 0xFF;
            Lanes {
                limit: _mm512_castsi512_ps(all(rounding.limit)),
                lowest: all(rounding.lowest),
                lost: all(lost),
                addend: all(rounding.lost + correction),
                nan: all(rounding.nan),
                sign: all(rounding.sign),
                sign_shift: all(rounding.sign.leading_zeros()),
            }
        }

        /// The codes of sixteen numbers, in the low bytes; other bytes mean nothing. `special` tells which numbers become NaN.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
        fn round<const SIGNED_ZERO: bool, const SIGNED_NAN: bool>(self, numbers: __m512i, special: __mmask16) -> __m512i {
            // The smaller magnitude, without a sign.
            let cut = _mm512_range_ps::<0b1010>(_mm512_castsi512_ps(numbers), self.limit);
            let exponent = _mm512_and_si512(_mm512_castps_si512(cut), _mm512_set1_epi32(0x7F80_0000));
            let exponent = _mm512_max_epu32(exponent, self.lowest);
            let power = _mm512_castsi512_ps(_mm512_add_epi32(exponent, self.addend));
            let steps = _mm512_castps_si512(_mm512_add_ps(cut, power));
            let code = _mm512_add_epi32(steps, _mm512_srlv_epi32(exponent, self.lost));
            let sign = _mm512_and_si512(_mm512_srlv_epi32(numbers, self.sign_shift), self.sign);
            let is_signed = if SIGNED_ZERO { u16::MAX } else { _mm512_test_epi32_mask(code, _mm512_set1_epi32(0xFF)) };
            match SIGNED_NAN {
                // A NaN has the sign, or the other one.
                true => _mm512_mask_xor_epi32(code, is_signed, _mm512_mask_mov_epi32(code, special, self.nan), sign),
                // Overflow may have the code that a sign alone would have.
                false => _mm512_mask_mov_epi32(_mm512_mask_or_epi32(code, is_signed, code, sign), special, self.nan),
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
    pub(super) fn from_single<const SIGNED_ZERO: bool, const SIGNED_NAN: bool>(
        rounding: &Rounding,
        source: &[u8],
        target: &mut [u8],
    ) {
        let lanes = Lanes::new(rounding);
        let low_bytes = low_bytes();
        let (numbers, rest) = source.as_chunks::<256>();
        let (codes, rest_of_target) = target.split_at_mut(numbers.len() * 64);
        for (numbers, codes) in numbers.iter().zip(codes.as_chunks_mut::<64>().0) {
            stream::fetch_ahead(numbers);
            let (vectors, _) = numbers.as_chunks::<64>();
            let round = |index: usize| {
                // SAFETY: the array has the size that is read; the load does not ask for alignment.
                let numbers = unsafe { _mm512_loadu_si512(vectors[index].as_ptr().cast()) };
                let special = match rounding.special {
                    0x7F80_0000 => _mm512_fpclass_ps_mask::<0x99>(_mm512_castsi512_ps(numbers)),
                    _ => _mm512_fpclass_ps_mask::<0x81>(_mm512_castsi512_ps(numbers)),
                };
                lanes.round::<SIGNED_ZERO, SIGNED_NAN>(numbers, special)
            };
            let pairs =
                [_mm512_permutex2var_epi8(round(0), low_bytes, round(1)), _mm512_permutex2var_epi8(round(2), low_bytes, round(3))];
            let all = _mm512_inserti64x4::<1>(pairs[0], _mm512_castsi512_si256(pairs[1]));
            // SAFETY: the array has the size that is written; the store does not ask for alignment.
            unsafe { _mm512_storeu_si512(codes.as_mut_ptr().cast(), all) };
        }
        map(rest, rest_of_target, |number: u32| rounding.round(number) as u8);
    }

    /// Where the low bytes of the 32 lanes of two vectors are.
    #[target_feature(enable = "avx512f")]
    fn low_bytes() -> __m512i {
        let mut bytes = [0_u8; 64];
        bytes.iter_mut().zip(0..).for_each(|(byte, index): (&mut u8, u8)| *byte = index % 32 * 4);
        // SAFETY: the array has the size that is read; the load does not ask for alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }
}
