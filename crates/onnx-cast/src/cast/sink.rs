//! The output of a kernel: written in pieces, packed if elements are narrower than a byte, with
//! non-temporal stores if large.
//!
//! A cast is one kernel, or two with a chunk between them that stays in the cache.

use super::level::Features;
use super::stream;
use crate::packed;
use crate::threshold::Threshold;
use std::marker::PhantomData;

/// The number of results that a loop writes at a time.
pub(super) const PIECE: Threshold = Threshold::new("piece of a kernel", 1024).multiple_of(8);

/// The number of codes that a kernel writes at a time: whole cache lines even when packed to the
/// narrowest width.
#[cfg(target_arch = "x86_64")]
pub(super) const BLOCK: usize = 256;

/// The maximum number of bytes that a loop writes at a time.
const PIECE_BYTES: usize = PIECE.usual() * 8;

/// Buffers for a piece that is not written directly: unpacked and packed.
#[repr(align(64))]
pub(super) struct Spare {
    results: [u8; PIECE_BYTES],
    packed: [u8; PIECE.usual()],
}

impl Spare {
    pub(super) fn new() -> Spare {
        Spare {
            results: [0; PIECE_BYTES],
            packed: [0; PIECE.usual()],
        }
    }
}

/// The target of a kernel.
pub(super) enum Target<'a> {
    /// Written directly: intermediate or unpacked results.
    Near(&'a mut [u8]),
    /// Final results, packed or streamed.
    Far {
        results: &'a mut [u8],
        spare: &'a mut Spare,
        packing: Option<usize>,
        past_caches: bool,
    },
}

impl<'a> Target<'a> {
    /// A target for final results, with an optional packed width and optional non-temporal stores.
    pub(super) fn new(
        results: &'a mut [u8],
        spare: &'a mut Spare,
        packing: Option<usize>,
        past_caches: bool,
    ) -> Target<'a> {
        match (packing, past_caches) {
            (None, false) => Target::Near(results),
            _ => Target::Far {
                results,
                spare,
                packing,
                past_caches,
            },
        }
    }
}

/// Fills a target sequentially.
pub(super) struct Sink<'a, F> {
    target: Target<'a>,
    features: PhantomData<F>,
}

impl<'a, F: Features> Sink<'a, F> {
    pub(super) fn new(target: Target<'a>) -> Self {
        Sink {
            target,
            features: PhantomData,
        }
    }

    /// The whole target between two kernels.
    pub(super) fn between(&mut self) -> &mut [u8] {
        match &mut self.target {
            Target::Near(results) => results,
            Target::Far { .. } => unreachable!("the last kernel writes piece by piece"),
        }
    }

    /// Writes this many bytes with `fill`, at most a piece.
    #[inline(always)]
    pub(super) fn fill(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        fill(match &mut self.target {
            Target::Near(results) => take(results, bytes),
            Target::Far { spare, .. } => &mut spare.results[..bytes],
        });
        let Target::Far {
            results,
            spare,
            packing,
            past_caches,
        } = &mut self.target
        else {
            return;
        };
        match *packing {
            None => write::<F>(&spare.results[..bytes], results, *past_caches),
            Some(bits) => {
                let packed = &mut spare.packed[..(bytes * bits).div_ceil(8)];
                packed::pack(bits, &spare.results[..bytes], packed);
                write::<F>(packed, results, *past_caches);
            }
        }
    }

    /// Writes a block. For packed elements, its length is [`BLOCK`] codes.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn put<const BYTES: usize>(&mut self, block: &[u8; BYTES]) {
        let (results, packing, past_caches) = match &mut self.target {
            Target::Near(results) => (results, None, false),
            Target::Far {
                results,
                packing,
                past_caches,
                ..
            } => (results, *packing, *past_caches),
        };
        let pack = |bits: usize, results: &mut &mut [u8]| {
            let mut packed = [0; BYTES];
            let packed = &mut packed[..BYTES * bits / 8];
            packed::pack(bits, block, packed);
            write::<F>(packed, results, past_caches);
        };
        // Each width has its own copy of the loop.
        match packing {
            None => write::<F>(block, results, past_caches),
            Some(2) => pack(2, results),
            Some(4) => pack(4, results),
            Some(_) => pack(6, results),
        }
    }
}

#[inline(always)]
fn write<F: Features>(bytes: &[u8], results: &mut &mut [u8], past_caches: bool) {
    let results = take(results, bytes.len());
    if past_caches {
        stream::store::<F>(bytes, results)
    } else {
        results.copy_from_slice(bytes)
    }
}

#[inline(always)]
fn take<'a>(results: &mut &'a mut [u8], bytes: usize) -> &'a mut [u8] {
    results
        .split_off_mut(..bytes)
        .expect("the results of a kernel fit the target")
}
