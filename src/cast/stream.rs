//! Memory beyond the caches. Stores go past them: a result larger than they are is not worth keeping there, and the memory that it
//! replaces is not read first. Loads are asked for early: by themselves they would wait at every page and after every pause.
#![allow(unsafe_code)]

use super::level::Level;

/// The size and alignment of a cache line.
pub(super) const LINE: usize = 64;

/// Asks for the memory that a loop over long runs of bytes will read some iterations after these: far ahead for the second cache, from
/// there soon before it is needed.
#[inline(always)]
pub(super) fn fetch_ahead(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        const FAR: usize = 16 << 10;
        const NEAR: usize = 1 << 10;
        // SAFETY: a hint reads nothing, whatever the address; every x86-64 machine has SSE.
        unsafe {
            _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().wrapping_add(FAR).cast());
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().wrapping_add(NEAR).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// Copies past the caches where the level can.
pub(super) fn copy(level: Level, source: &[u8], target: &mut [u8]) {
    match level {
        // SAFETY: a converter holds a level only after `is_available` said that the machine has all its features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(source, target) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(source, target) },
        _ => target.copy_from_slice(source),
    }
}

/// Makes what was copied visible to other threads in the usual order. Comes after the last copy.
pub(super) fn finish() {
    // SAFETY: every x86-64 machine has SSE.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::LINE;
    use std::arch::x86_64::*;

    /// The whole lines of `target` with what goes there. What stands before the first and after the last is copied.
    #[inline]
    fn lines<'a>(source: &'a [u8], target: &'a mut [u8]) -> impl Iterator<Item = (&'a [u8; LINE], &'a mut [u8; LINE])> {
        let (source_before, source) = source.split_at(target.as_ptr().align_offset(LINE).min(target.len()));
        let (before, target) = target.split_at_mut(source_before.len());
        before.copy_from_slice(source_before);
        let (from, source_after) = source.as_chunks::<LINE>();
        let (to, after) = target.as_chunks_mut::<LINE>();
        after.copy_from_slice(source_after);
        from.iter().zip(to)
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512(source: &[u8], target: &mut [u8]) {
        for (from, to) in lines(source, target) {
            // SAFETY: both arrays are a line long, and the target's lines begin on multiples of a line.
            unsafe { _mm512_stream_si512(to.as_mut_ptr().cast(), _mm512_loadu_si512(from.as_ptr().cast())) };
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(source: &[u8], target: &mut [u8]) {
        for (from, to) in lines(source, target) {
            let (from, to): (*const __m256i, *mut __m256i) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
            // SAFETY: both arrays are a line long, and the target's lines begin on multiples of a line.
            unsafe {
                _mm256_stream_si256(to, _mm256_loadu_si256(from));
                _mm256_stream_si256(to.add(1), _mm256_loadu_si256(from.add(1)));
            }
        }
    }
}
