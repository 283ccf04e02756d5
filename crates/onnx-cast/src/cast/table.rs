//! Casts of elements of at most a byte: a lookup table, filled with the reference path.
#![allow(unsafe_code)]

use super::level::Features;
#[cfg(target_arch = "x86_64")]
use super::level::Level;
use super::number::map;
use super::pair::Cast;
use super::reference::convert_element;
use super::sink::Sink;
use crate::packed::mask;

/// The results for all 256 codes, of 1, 2, 4 or 8 bytes each.
#[derive(Clone, Debug)]
pub(super) struct Table {
    entries: [u64; 256],
    /// The bytes of the entries in planes, the low bytes first.
    #[cfg(target_arch = "x86_64")]
    planes: [[u8; 256]; 4],
    bytes: usize,
}

impl Table {
    /// The table of a cast whose source has at most eight bits; targets narrower than a byte are
    /// not packed.
    pub(super) fn new(cast: &Cast) -> Table {
        let codes = mask(cast.from.bits());
        Table::filled(cast.to.bits().div_ceil(8), |code| {
            convert_element(cast, code & codes).0
        })
    }

    /// A table of arbitrary bytes.
    pub(super) fn of_bytes(entry: impl Fn(u64) -> u64) -> Table {
        Table::filled(1, entry)
    }

    fn filled(bytes: usize, entry: impl Fn(u64) -> u64) -> Table {
        let entries: [u64; 256] = std::array::from_fn(|code| entry(code as u64));
        Table {
            entries,
            #[cfg(target_arch = "x86_64")]
            planes: std::array::from_fn(|byte| entries.map(|entry| entry.to_le_bytes()[byte])),
            bytes,
        }
    }

    /// The size of an entry.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Looks up every byte of `source`.
    #[inline(always)]
    pub(super) fn look_up<F: Features>(&self, source: &[u8], sink: &mut Sink<F>) {
        match (F::LEVEL, self.bytes) {
            // SAFETY: the level has AVX-512 with byte permutes.
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, 1) => unsafe { x86::look_up_1(self, source, sink) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, 2) => unsafe { x86::look_up_2(self, source, sink) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, 4) => unsafe { x86::look_up_4(self, source, sink) },
            (_, 1) => map(source, sink, |code| self.entry(code) as u8),
            (_, 2) => map(source, sink, |code| self.entry(code) as u16),
            (_, 4) => map(source, sink, |code| self.entry(code) as u32),
            (_, _) => map(source, sink, |code| self.entry(code)),
        }
    }

    #[inline(always)]
    fn entry(&self, code: u8) -> u64 {
        self.entries[usize::from(code)]
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Features, Sink, Table, map};
    use crate::cast::sink::BLOCK;
    use crate::cast::stream;
    use std::arch::x86_64::*;

    /// One byte of each of the 256 entries.
    #[derive(Clone, Copy)]
    struct Plane([__m512i; 4]);

    impl Plane {
        #[target_feature(enable = "avx512f")]
        fn new(table: &Table, byte: usize) -> Plane {
            // SAFETY: each quarter of the array has 64 bytes; the load does not ask for alignment.
            let quarter = |index: usize| unsafe {
                _mm512_loadu_si512(table.planes[byte][index * 64..][..64].as_ptr().cast())
            };
            Plane([quarter(0), quarter(1), quarter(2), quarter(3)])
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
        fn look_up(self, codes: __m512i) -> __m512i {
            let lower = _mm512_permutex2var_epi8(self.0[0], codes, self.0[1]);
            let upper = _mm512_permutex2var_epi8(self.0[2], codes, self.0[3]);
            _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(codes), upper)
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(codes: &[u8; 64]) -> __m512i {
        // SAFETY: the array has the size that is read; the load does not ask for alignment.
        unsafe { _mm512_loadu_si512(codes.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store<const PART: usize, const BYTES: usize>(target: &mut [u8; BYTES], vector: __m512i) {
        let part: &mut [u8; 64] = target[PART * 64..][..64]
            .as_mut_array()
            .expect("64 bytes were taken");
        // SAFETY: the part has the size that is written; the store does not ask for alignment.
        unsafe { _mm512_storeu_si512(part.as_mut_ptr().cast(), vector) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn look_up_1<F: Features>(table: &Table, source: &[u8], sink: &mut Sink<F>) {
        let plane = Plane::new(table, 0);
        let (blocks, rest) = source.as_chunks::<BLOCK>();
        for codes in blocks {
            stream::fetch_ahead(codes);
            let mut result = [0; BLOCK];
            for (codes, result) in codes
                .as_chunks()
                .0
                .iter()
                .zip(result.as_chunks_mut::<64>().0)
            {
                store::<0, 64>(result, plane.look_up(load(codes)));
            }
            sink.put(&result);
        }
        map(rest, sink, |code| table.entry(code) as u8);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn look_up_2<F: Features>(table: &Table, source: &[u8], sink: &mut Sink<F>) {
        let planes = [Plane::new(table, 0), Plane::new(table, 1)];
        // Interleaving works within lanes of 16 bytes; this order of the codes yields the results
        // in order.
        let order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
        let (blocks, rest) = source.as_chunks::<64>();
        for codes in blocks {
            stream::fetch_ahead(codes);
            let mut result = [0; 128];
            let codes = _mm512_permutexvar_epi64(order, load(codes));
            let (low, high) = (planes[0].look_up(codes), planes[1].look_up(codes));
            store::<0, 128>(&mut result, _mm512_unpacklo_epi8(low, high));
            store::<1, 128>(&mut result, _mm512_unpackhi_epi8(low, high));
            sink.put(&result);
        }
        map(rest, sink, |code| table.entry(code) as u16);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn look_up_4<F: Features>(table: &Table, source: &[u8], sink: &mut Sink<F>) {
        let planes = [
            Plane::new(table, 0),
            Plane::new(table, 1),
            Plane::new(table, 2),
            Plane::new(table, 3),
        ];
        let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        let (blocks, rest) = source.as_chunks::<64>();
        for codes in blocks {
            stream::fetch_ahead(codes);
            let mut result = [0; 256];
            let codes = _mm512_permutexvar_epi32(order, load(codes));
            // Unrolled by hand: a function with a closure parameter is not compiled with the
            // features of the lookup.
            let bytes = [
                planes[0].look_up(codes),
                planes[1].look_up(codes),
                planes[2].look_up(codes),
                planes[3].look_up(codes),
            ];
            let (first, second) = (
                _mm512_unpacklo_epi8(bytes[0], bytes[1]),
                _mm512_unpackhi_epi8(bytes[0], bytes[1]),
            );
            let (third, fourth) = (
                _mm512_unpacklo_epi8(bytes[2], bytes[3]),
                _mm512_unpackhi_epi8(bytes[2], bytes[3]),
            );
            store::<0, 256>(&mut result, _mm512_unpacklo_epi16(first, third));
            store::<1, 256>(&mut result, _mm512_unpackhi_epi16(first, third));
            store::<2, 256>(&mut result, _mm512_unpacklo_epi16(second, fourth));
            store::<3, 256>(&mut result, _mm512_unpackhi_epi16(second, fourth));
            sink.put(&result);
        }
        map(rest, sink, |code| table.entry(code) as u32);
    }
}
