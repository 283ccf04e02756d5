//! The elements of a tensor as codes in whole bytes.

use bytes::Bytes;

use crate::base::stored::Stored;
use crate::base::threshold::Threshold;
use crate::process::system::release;

/// The number of bytes before a part that are released once more.
const BEHIND: Threshold = Threshold::new("bytes behind a compared part", 8 << 20).or_zero();

/// Elements in the layout of `raw_data`, and the bits of each.
pub(super) struct Elements<'e> {
    pub bytes: &'e Stored,
    pub bits: usize,
}

impl Elements<'_> {
    /// Some elements in whole bytes each, the high bits of which are zero.
    pub fn read(&self, first: usize, count: usize) -> Bytes {
        let begin = first * self.bits;
        let end = (first + count) * self.bits;
        let stored = self.bytes.part((begin / 8) as u64..end.div_ceil(8) as u64);
        if self.bits >= 8 {
            return stored;
        }
        let code = |index| narrow(self.bits, &stored, begin % 8 + index * self.bits);
        (0..count).map(code).collect::<Vec<u8>>().into()
    }

    /// Releases the memory of mapped elements that were read, and once more that of those before
    /// them: a system may map whole blocks of the page cache when the next pages are read.
    pub fn release(&self, first: usize, count: usize) {
        if let Some(bytes) = self.bytes.in_memory() {
            let begin = (first * self.bits / 8).saturating_sub(BEHIND.get());
            release(&bytes[begin..((first + count) * self.bits).div_ceil(8)]);
        }
    }
}

/// The code of a narrow element that begins at a bit.
fn narrow(bits: usize, stored: &[u8], first: usize) -> u8 {
    let low = u16::from(stored[first / 8]);
    let high = stored
        .get(first / 8 + 1)
        .map_or(0, |&byte| u16::from(byte) << 8);
    ((low | high) >> (first % 8)) as u8 & (0xFF >> (8 - bits))
}

/// A code of at most 64 bits in whole bytes.
pub(super) fn code(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
