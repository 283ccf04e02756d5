//! Memory access for data larger than the caches. Non-temporal stores do not evict other data, and
//! the overwritten memory is not read first. Loads are prefetched: the hardware prefetcher stops at
//! every page and after every pause.
#![allow(unsafe_code)]

use super::level::Features;
#[cfg(target_arch = "x86_64")]
use super::level::Level;

/// The size and alignment of a cache line.
pub(super) const LINE: usize = 64;

/// Prefetches the memory that a loop over long runs of bytes reads some iterations later: into L2
/// one group of pages ahead, with the pages interleaved, which keeps more requests in flight than
/// sequential pages; from there into L1 shortly before it is needed.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn fetch_ahead(bytes: &[u8]) {
    use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
    const PAGE: usize = 4 << 10;
    const PAGES: usize = 4;
    const GROUP: usize = PAGES * PAGE;
    const NEAR: usize = 1 << 10;
    for lines in bytes.chunks(PAGES * LINE) {
        let address = lines.as_ptr().addr();
        let first = lines
            .as_ptr()
            .wrapping_add(GROUP - address % GROUP + address % GROUP / (PAGES * LINE) * LINE);
        // With fewer lines than pages, each line is mapped to the page that it would have among all
        // lines.
        let turn = if lines.len() == PAGES * LINE {
            0
        } else {
            address / LINE % PAGES
        };
        for (line, index) in lines.chunks(LINE).zip(0..) {
            // SAFETY: a prefetch does not access memory, whatever the address; every x86-64 machine
            // has SSE.
            unsafe {
                _mm_prefetch::<_MM_HINT_T1>(
                    first.wrapping_add((turn + index) % PAGES * PAGE).cast(),
                );
                _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().wrapping_add(NEAR).cast());
            }
        }
    }
}

/// Does nothing; the hardware prefetcher is used.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn fetch_ahead(_bytes: &[u8]) {}

/// Stores past the caches if the level supports it and the target is aligned to its vector size.
#[inline(always)]
pub(super) fn store<F: Features>(bytes: &[u8], target: &mut [u8]) {
    match F::LEVEL {
        // SAFETY: the level has AVX-512F.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(bytes, target) },
        // SAFETY: the level has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(bytes, target) },
        _ => target.copy_from_slice(bytes),
    }
}

/// Orders the non-temporal stores before later stores, as seen by other threads. Call it after the
/// last store.
pub(super) fn finish() {
    // SAFETY: every x86-64 machine has SSE.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Stores whole aligned vectors with a non-temporal instruction, and the rest, or everything,
    /// with ordinary stores.
    #[inline(always)]
    fn each<const SIZE: usize>(
        source: &[u8],
        target: &mut [u8],
        store: impl Fn(&[u8; SIZE], &mut [u8; SIZE]),
    ) {
        let (to, after) = target.as_chunks_mut::<SIZE>();
        if !to.as_ptr().addr().is_multiple_of(SIZE) {
            return target.copy_from_slice(source);
        }
        let (from, source_after) = source.as_chunks::<SIZE>();
        from.iter().zip(to).for_each(|(from, to)| store(from, to));
        after.copy_from_slice(source_after);
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512(source: &[u8], target: &mut [u8]) {
        each::<64>(source, target, |from, to| {
            // SAFETY: both arrays are as long as what is read or written, and the target is
            // aligned.
            unsafe {
                _mm512_stream_si512(
                    to.as_mut_ptr().cast(),
                    _mm512_loadu_si512(from.as_ptr().cast()),
                )
            };
        });
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(source: &[u8], target: &mut [u8]) {
        each::<32>(source, target, |from, to| {
            // SAFETY: both arrays are as long as what is read or written, and the target is
            // aligned.
            unsafe {
                _mm256_stream_si256(
                    to.as_mut_ptr().cast(),
                    _mm256_loadu_si256(from.as_ptr().cast()),
                )
            };
        });
    }
}
