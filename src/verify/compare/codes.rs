//! The elements of a tensor as codes in whole bytes.

use bytes::Bytes;

use crate::base::stored::Stored;
#[cfg(test)]
use crate::elements::dtype::DType;
use crate::process::system::release;

/// Stored elements, and which of them are meant.
pub(in crate::verify) struct Elements<'e> {
    /// The stored elements.
    pub bytes: &'e Stored,
    /// The bits of an element.
    pub bits: usize,
    /// The bits that it takes in the stored bytes: its own, or 8 for a narrow one in a byte of its own.
    pub stored_bits: usize,
    /// Writes the stored positions of elements, of those from a number on; without it, each element is at its own position.
    pub positions: Option<&'e Positions<'e>>,
}

/// Writes the stored positions of the elements from a number on.
pub(in crate::verify) type Positions<'p> = dyn Fn(usize, &mut [usize]) + Sync + 'p;

impl<'e> Elements<'e> {
    /// Elements in the layout of `raw_data`.
    #[cfg(test)]
    pub fn packed(bytes: &'e Stored, dtype: DType) -> Elements<'e> {
        Elements { bytes, bits: dtype.bits(), stored_bits: dtype.bits(), positions: None }
    }

    /// The bytes of an element in what [`Elements::read`] returns.
    pub fn width(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// Some elements in whole bytes each, the high bits of which are zero.
    pub fn read(&self, first: usize, count: usize) -> Bytes {
        let is_narrow = self.bits < 8;
        match self.positions {
            None if !is_narrow => self.bytes.part((first * self.width()) as u64..((first + count) * self.width()) as u64),
            None => {
                let begin = first * self.stored_bits;
                let end = (first + count) * self.stored_bits;
                let stored = self.bytes.part((begin / 8) as u64..end.div_ceil(8) as u64);
                let code = |index| self.narrow(&stored, begin % 8 + index * self.stored_bits);
                (0..count).map(code).collect::<Vec<u8>>().into()
            }
            Some(positions) => {
                let mut places = vec![0; count];
                positions(first, &mut places);
                let stored = self.bytes.to_bytes();
                if is_narrow {
                    return places
                        .into_iter()
                        .map(|place| self.narrow(&stored, place * self.stored_bits))
                        .collect::<Vec<u8>>()
                        .into();
                }
                let mut codes = Vec::with_capacity(count * self.width());
                for place in places {
                    codes.extend_from_slice(&stored[place * self.width()..][..self.width()]);
                }
                codes.into()
            }
        }
    }

    /// The code of a narrow element that begins at a bit.
    fn narrow(&self, stored: &[u8], bit: usize) -> u8 {
        let low = u16::from(stored[bit / 8]);
        let high = stored.get(bit / 8 + 1).map_or(0, |&byte| u16::from(byte) << 8);
        ((low | high) >> (bit % 8)) as u8 & (0xFF >> (8 - self.bits))
    }

    /// Releases the memory of mapped elements that were read.
    pub fn release(&self, first: usize, count: usize) {
        if let (None, Some(bytes)) = (self.positions, self.bytes.in_memory()) {
            let (begin, end) = (first * self.stored_bits / 8, ((first + count) * self.stored_bits).div_ceil(8));
            release(&bytes[begin..end]);
        }
    }
}

/// A code of at most 64 bits in whole bytes.
pub(super) fn code(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
