//! Elements of any width in `raw_data`: little-endian, the first element in the lowest bits, elements of 2, 4 and 6 bits
//! in one contiguous stream of bits.

/// The bits of one element, in the low bits of the result.
///
/// # Panics
/// When the element lies beyond the end of `bytes`.
#[must_use]
pub fn get(bits: usize, bytes: &[u8], index: usize) -> u64 {
    let (first, last) = (index * bits / 8, (index * bits + bits).div_ceil(8));
    let mut word = [0; 8];
    word[..last - first].copy_from_slice(&bytes[first..last]);
    (u64::from_le_bytes(word) >> (index * bits % 8)) & mask(bits)
}

/// Writes one element into bytes that hold zeros at its place.
///
/// # Panics
/// When the element lies beyond the end of `bytes`.
pub fn put(bits: usize, bytes: &mut [u8], index: usize, element: u64) {
    let (first, last) = (index * bits / 8, (index * bits + bits).div_ceil(8));
    let word = (element & mask(bits)) << (index * bits % 8);
    for (byte, addend) in bytes[first..last].iter_mut().zip(word.to_le_bytes()) {
        *byte |= addend;
    }
}

/// The low bits set.
#[must_use]
pub const fn mask(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_onnx() {
        let mut nibbles = [0; 2];
        for (index, element) in [1, 2, 3].into_iter().enumerate() {
            put(4, &mut nibbles, index, element);
        }
        assert_eq!(nibbles, [0x21, 0x03]);
        let mut pairs = [0; 2];
        for (index, element) in [1, 2, 3, 0, 2].into_iter().enumerate() {
            put(2, &mut pairs, index, element);
        }
        assert_eq!(pairs, [0b00_11_10_01, 0b10]);
        let mut sixes = [0; 3];
        for (index, element) in [0b000001, 0b000010, 0b000011, 0b100000].into_iter().enumerate() {
            put(6, &mut sixes, index, element);
        }
        assert_eq!(sixes, [0b1000_0001, 0b0011_0000, 0b1000_0000]);
    }

    #[test]
    fn what_is_put_is_read_back() {
        for bits in [2, 4, 6, 8, 16, 32, 64] {
            for count in 1..20_usize {
                let element = |index: usize| (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3 & mask(bits);
                let mut bytes = vec![0; (count * bits).div_ceil(8)];
                (0..count).for_each(|index| put(bits, &mut bytes, index, element(index)));
                (0..count).for_each(|index| assert_eq!(get(bits, &bytes, index), element(index), "{bits} bits, {count} elements"));
            }
        }
    }
}
