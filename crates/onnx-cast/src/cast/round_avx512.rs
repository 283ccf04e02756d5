//! `f32` to floats of at most 8 bits: the arithmetic of [`Rounding::round`] in fewer AVX-512
//! instructions.
#![allow(unsafe_code)]

use super::level::Features;
#[cfg(target_arch = "x86_64")]
use super::level::Level;
use super::number::map;
use super::round::Rounding;
use super::sink::Sink;

/// Rounds to nearest by the parameters of the rounding; one code per byte.
#[inline(always)]
pub(super) fn from_single<F: Features>(rounding: &Rounding, source: &[u8], sink: &mut Sink<F>) {
    match F::LEVEL {
        // SAFETY: the level has all AVX-512 features that this requires.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe {
            match (rounding.zero_sign, rounding.nan_sign) {
                (0, _) => x86::from_single::<false, false, F>(rounding, source, sink),
                (_, 0) => x86::from_single::<true, false, F>(rounding, source, sink),
                (_, _) => x86::from_single::<true, true, F>(rounding, source, sink),
            }
        },
        _ => map(source, sink, |number: u32| rounding.round(number) as u8),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Features, Rounding, Sink, map};
    use crate::cast::sink::BLOCK;
    use crate::cast::stream;
    use std::arch::x86_64::*;

    /// The parameters of a [`Rounding`], broadcast to all lanes.
    #[derive(Clone, Copy)]
    struct Lanes {
        limit: __m512,
        lowest: __m512i,
        lost: __m512i,
        addend: __m512i,
        /// Whether infinities also become NaN.
        infinite: bool,
        nan: __m512i,
        sign: __m512i,
        low_bytes: __m512i,
        high_bytes: __m512i,
    }

    impl Lanes {
        #[target_feature(enable = "avx512f")]
        fn new(rounding: &Rounding) -> Lanes {
            let all = |number: u32| _mm512_set1_epi32(number.cast_signed());
            let lost = rounding.lost >> 23;
            // The high bits of the sum are dropped in a byte. Its low bits subtract the code of the
            // lowest exponent from the next addend; they are even, so that ties round correctly.
            let correction = (rounding.lowest >> lost).wrapping_neg() & 0xFF;
            Lanes {
                limit: _mm512_castsi512_ps(all(rounding.limit)),
                lowest: all(rounding.lowest),
                lost: all(lost),
                addend: all(rounding.lost + correction),
                infinite: rounding.special == 0x7F80_0000,
                nan: _mm512_set1_epi8(rounding.nan as i8),
                sign: _mm512_set1_epi8(rounding.sign as i8),
                low_bytes: bytes(0),
                high_bytes: bytes(3),
            }
        }

        /// The codes of sixteen magnitudes in the low bytes; the other bytes are unspecified.
        #[inline]
        #[target_feature(enable = "avx512f,avx512dq")]
        fn round(self, numbers: __m512i) -> __m512i {
            // The smaller magnitude, without a sign.
            let cut = _mm512_range_ps::<0b1010>(_mm512_castsi512_ps(numbers), self.limit);
            let exponent =
                _mm512_and_si512(_mm512_castps_si512(cut), _mm512_set1_epi32(0x7F80_0000));
            let exponent = _mm512_max_epu32(exponent, self.lowest);
            let power = _mm512_castsi512_ps(_mm512_add_epi32(exponent, self.addend));
            let steps = _mm512_castps_si512(_mm512_add_ps(cut, power));
            _mm512_add_epi32(steps, _mm512_srlv_epi32(exponent, self.lost))
        }

        /// The codes of 64 numbers.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
        fn codes<const SIGNED_ZERO: bool, const SIGNED_NAN: bool>(
            self,
            numbers: &[u8; 256],
        ) -> __m512i {
            let (vectors, _) = numbers.as_chunks::<64>();
            // SAFETY: the arrays have the size that is read; the loads do not ask for alignment.
            let load = |index: usize| unsafe { _mm512_loadu_si512(vectors[index].as_ptr().cast()) };
            let numbers = [load(0), load(1), load(2), load(3)];
            let special = if self.infinite {
                self.classify::<0x99>(numbers)
            } else {
                self.classify::<0x81>(numbers)
            };
            // Unrolled by hand: a function with a closure parameter is not compiled with the
            // features of this one.
            let codes = [
                self.round(numbers[0]),
                self.round(numbers[1]),
                self.round(numbers[2]),
                self.round(numbers[3]),
            ];
            let code = self.gather(self.low_bytes, codes);
            let negative = _mm512_movepi8_mask(self.gather(self.high_bytes, numbers));
            let signed = if SIGNED_ZERO {
                negative
            } else {
                negative & _mm512_test_epi8_mask(code, code)
            };
            if SIGNED_NAN {
                // A NaN has the sign of the source, or the opposite sign.
                let code = _mm512_mask_mov_epi8(code, special, self.nan);
                _mm512_mask_blend_epi8(signed, code, _mm512_xor_si512(code, self.sign))
            } else {
                // The code of overflow may be that of the sign bit alone.
                let code = _mm512_mask_blend_epi8(signed, code, _mm512_or_si512(code, self.sign));
                _mm512_mask_mov_epi8(code, special, self.nan)
            }
        }

        /// A mask of the numbers, of 64, that are of these classes.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
        fn classify<const CLASSES: i32>(
            self,
            [first, second, third, fourth]: [__m512i; 4],
        ) -> __mmask64 {
            let first = _mm512_fpclass_ps_mask::<CLASSES>(_mm512_castsi512_ps(first));
            let second = _mm512_fpclass_ps_mask::<CLASSES>(_mm512_castsi512_ps(second));
            let third = _mm512_fpclass_ps_mask::<CLASSES>(_mm512_castsi512_ps(third));
            let fourth = _mm512_fpclass_ps_mask::<CLASSES>(_mm512_castsi512_ps(fourth));
            let (low, high) = (
                _mm512_kunpackw(second.into(), first.into()),
                _mm512_kunpackw(fourth.into(), third.into()),
            );
            _mm512_kunpackd(high.into(), low.into())
        }

        /// One byte of each of 64 lanes.
        #[inline]
        #[target_feature(enable = "avx512f,avx512vbmi")]
        fn gather(self, bytes: __m512i, lanes: [__m512i; 4]) -> __m512i {
            let low = _mm512_permutex2var_epi8(lanes[0], bytes, lanes[1]);
            let high = _mm512_permutex2var_epi8(lanes[2], bytes, lanes[3]);
            _mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high))
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
    pub(super) fn from_single<const SIGNED_ZERO: bool, const SIGNED_NAN: bool, F: Features>(
        rounding: &Rounding,
        source: &[u8],
        sink: &mut Sink<F>,
    ) {
        let lanes = Lanes::new(rounding);
        let (blocks, rest) = source.as_chunks::<{ BLOCK * 4 }>();
        for block in blocks {
            let mut codes = [0_u8; BLOCK];
            for (codes, numbers) in codes
                .as_chunks_mut::<64>()
                .0
                .iter_mut()
                .zip(block.as_chunks::<256>().0)
            {
                stream::fetch_ahead(numbers);
                let all = lanes.codes::<SIGNED_ZERO, SIGNED_NAN>(numbers);
                // SAFETY: the array has the size that is written; the store does not ask for
                // alignment.
                unsafe { _mm512_storeu_si512(codes.as_mut_ptr().cast(), all) };
            }
            sink.put(&codes);
        }
        map(rest, sink, |number: u32| rounding.round(number) as u8);
    }

    /// The indices of one byte of each of the 32 lanes of two vectors.
    #[target_feature(enable = "avx512f")]
    fn bytes(byte: u8) -> __m512i {
        let mut bytes = [0_u8; 64];
        bytes
            .iter_mut()
            .zip(0..)
            .for_each(|(place, index): (&mut u8, u8)| *place = index % 32 * 4 + byte);
        // SAFETY: the array has the size that is read; the load does not ask for alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }
}
