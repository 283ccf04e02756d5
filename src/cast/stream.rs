//! Memory beyond the caches. Stores go past them: a result larger than they are is not worth keeping there, and the memory that it
//! replaces is not read first. Loads are asked for early: by themselves they would wait at every page and after every pause.
#![allow(unsafe_code)]

use super::level::Features;
#[cfg(target_arch = "x86_64")]
use super::level::Level;

/// The size and alignment of a cache line.
pub(super) const LINE: usize = 64;

/// Asks for the memory that a loop over long runs of bytes will read some iterations after these: for the second cache one group of
/// pages ahead, its pages in turns, which keeps more requests under way than page after page; from there soon before it is needed.
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
        let first = lines.as_ptr().wrapping_add(GROUP - address % GROUP + address % GROUP / (PAGES * LINE) * LINE);
        // Of fewer lines than there are pages, each stands for the page that it would stand for among all.
        let turn = if lines.len() == PAGES * LINE { 0 } else { address / LINE % PAGES };
        for (line, index) in lines.chunks(LINE).zip(0..) {
            // SAFETY: a hint reads nothing, whatever the address; every x86-64 machine has SSE.
            unsafe {
                _mm_prefetch::<_MM_HINT_T1>(first.wrapping_add((turn + index) % PAGES * PAGE).cast());
                _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().wrapping_add(NEAR).cast());
            }
        }
    }
}

/// Leaves it to the machine.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn fetch_ahead(_bytes: &[u8]) {}

/// Stores past the caches where the level can and the target begins at a multiple of its vectors' size.
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

/// Makes what was stored visible to other threads in the usual order. Comes after the last store.
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

    /// Stores whole vectors with an instruction that wants them aligned, and the rest, or all, as usual.
    #[inline(always)]
    fn each<const SIZE: usize>(source: &[u8], target: &mut [u8], store: impl Fn(&[u8; SIZE], &mut [u8; SIZE])) {
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
            // SAFETY: both arrays are as long as what is read or written, and the target is aligned.
            unsafe { _mm512_stream_si512(to.as_mut_ptr().cast(), _mm512_loadu_si512(from.as_ptr().cast())) };
        });
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(source: &[u8], target: &mut [u8]) {
        each::<32>(source, target, |from, to| {
            // SAFETY: both arrays are as long as what is read or written, and the target is aligned.
            unsafe { _mm256_stream_si256(to.as_mut_ptr().cast(), _mm256_loadu_si256(from.as_ptr().cast())) };
        });
    }
}
