//! Elements of any width in `raw_data`: little-endian, the first element in the lowest bits, elements of 2, 4 and 6 bits
//! in one contiguous stream of bits.

/// The bits of one element, in the low bits of the result.
///
/// # Panics
/// When the element lies beyond the end of `bytes`.
#[must_use]
#[inline]
pub fn get(bits: usize, bytes: &[u8], index: usize) -> u64 {
    match bits {
        8 => return bytes[index].into(),
        16 => return u16::from_le_bytes(bytes.as_chunks().0[index]).into(),
        32 => return u32::from_le_bytes(bytes.as_chunks().0[index]).into(),
        64 => return u64::from_le_bytes(bytes.as_chunks().0[index]),
        _ => {}
    }
    let (first, last) = (index * bits / 8, (index * bits + bits).div_ceil(8));
    let mut word = [0; 8];
    word[..last - first].copy_from_slice(&bytes[first..last]);
    (u64::from_le_bytes(word) >> (index * bits % 8)) & mask(bits)
}

/// Writes one element into bytes that hold zeros at its place.
///
/// # Panics
/// When the element lies beyond the end of `bytes`.
#[inline]
pub fn put(bits: usize, bytes: &mut [u8], index: usize, element: u64) {
    match bits {
        8 => return bytes[index] = element as u8,
        16 => return bytes.as_chunks_mut().0[index] = (element as u16).to_le_bytes(),
        _ => {}
    }
    let (first, last) = (index * bits / 8, (index * bits + bits).div_ceil(8));
    let word = (element & mask(bits)) << (index * bits % 8);
    for (byte, addend) in bytes[first..last].iter_mut().zip(word.to_le_bytes()) {
        *byte |= addend;
    }
}

/// The bytes of some of the elements, of which the first begins on a byte.
#[must_use]
pub fn part(bits: usize, bytes: &[u8], first: usize, count: usize) -> &[u8] {
    &bytes[first * bits / 8..][..(count * bits).div_ceil(8)]
}

/// As [`part`], to write to.
#[must_use]
pub fn part_mut(bits: usize, bytes: &mut [u8], first: usize, count: usize) -> &mut [u8] {
    &mut bytes[first * bits / 8..][..(count * bits).div_ceil(8)]
}

/// The low bits set.
#[must_use]
pub const fn mask(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Spreads packed elements of 2, 4 or 6 bits to a byte each; fills `codes`.
///
/// # Panics
/// When the width is another one.
#[inline(always)]
pub fn unpack(bits: usize, bytes: &[u8], codes: &mut [u8]) {
    match bits {
        2 => unpack_groups::<1, 4>(bytes, codes, |[byte]| {
            let word = u32::from(byte);
            ((word | word << 6 | word << 12 | word << 18) & 0x0303_0303).to_le_bytes()
        }),
        4 => unpack_groups::<1, 2>(bytes, codes, |[byte]| {
            let word = u16::from(byte);
            ((word | word << 4) & 0x0F0F).to_le_bytes()
        }),
        6 => unpack_groups::<3, 4>(bytes, codes, |[low, middle, high]| {
            let word = u32::from_le_bytes([low, middle, high, 0]);
            ((word & 0x3F) | (word << 2 & 0x3F00) | (word << 4 & 0x3F_0000) | (word << 6 & 0x3F00_0000)).to_le_bytes()
        }),
        _ => unreachable!("elements of {bits} bits are not packed"),
    }
}

/// Packs the low 2, 4 or 6 bits of each byte of `codes`; fills `bytes`, the unused bits of the last with zeros.
///
/// # Panics
/// When the width is another one.
#[inline(always)]
pub fn pack(bits: usize, codes: &[u8], bytes: &mut [u8]) {
    match bits {
        2 => pack_groups::<4, 1>(codes, bytes, |group| {
            let word = u32::from_le_bytes(group) & 0x0303_0303;
            [(word | word >> 6 | word >> 12 | word >> 18) as u8]
        }),
        4 => pack_groups::<2, 1>(codes, bytes, |group| {
            let word = u16::from_le_bytes(group) & 0x0F0F;
            [(word | word >> 4) as u8]
        }),
        6 => pack_groups::<4, 3>(codes, bytes, |group| {
            let word = u32::from_le_bytes(group);
            let [low, middle, high, _] =
                ((word & 0x3F) | (word >> 2 & 0xFC0) | (word >> 4 & 0x3_F000) | (word >> 6 & 0xFC_0000)).to_le_bytes();
            [low, middle, high]
        }),
        _ => unreachable!("elements of {bits} bits are not packed"),
    }
}

/// Spreads groups that begin and end on a byte, and what is left of one.
#[inline(always)]
fn unpack_groups<const PACKED: usize, const SPREAD: usize>(
    bytes: &[u8],
    codes: &mut [u8],
    spread: impl Fn([u8; PACKED]) -> [u8; SPREAD],
) {
    let (groups, rest) = codes.as_chunks_mut::<SPREAD>();
    let whole = groups.len();
    for (group, &packed) in groups.iter_mut().zip(bytes.as_chunks::<PACKED>().0) {
        *group = spread(packed);
    }
    if !rest.is_empty() {
        let mut packed = [0; PACKED];
        for (byte, &source) in packed.iter_mut().zip(&bytes[whole * PACKED..]) {
            *byte = source;
        }
        rest.copy_from_slice(&spread(packed)[..rest.len()]);
    }
}

/// Packs groups that begin and end on a byte, and what is left of one.
#[inline(always)]
fn pack_groups<const SPREAD: usize, const PACKED: usize>(
    codes: &[u8],
    bytes: &mut [u8],
    join: impl Fn([u8; SPREAD]) -> [u8; PACKED],
) {
    let (groups, rest) = codes.as_chunks::<SPREAD>();
    for (&group, packed) in groups.iter().zip(bytes.as_chunks_mut::<PACKED>().0) {
        *packed = join(group);
    }
    if !rest.is_empty() {
        let mut group = [0; SPREAD];
        group[..rest.len()].copy_from_slice(rest);
        let tail = &mut bytes[groups.len() * PACKED..];
        tail.copy_from_slice(&join(group)[..tail.len()]);
    }
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
                if bits < 8 {
                    let codes: Vec<u8> = (0..count).map(|index| element(index) as u8).collect();
                    let mut unpacked = vec![0xFF; count];
                    unpack(bits, &bytes, &mut unpacked);
                    assert_eq!(unpacked, codes, "{bits} bits, {count} elements");
                    let mut packed = vec![0xFF; bytes.len()];
                    pack(bits, &codes, &mut packed);
                    assert_eq!(packed, bytes, "{bits} bits, {count} elements");
                }
            }
        }
    }
}
