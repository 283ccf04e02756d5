//! Elements of any width in `raw_data`: little-endian, the first element in the lowest bits,
//! elements of 2, 4 and 6 bits in one contiguous bit stream.

use super::dtype::{Class, DType};

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
    let (first, shift) = place(bits, index);
    let count = (shift + bits).div_ceil(8);
    let mut word = [0; 8];
    word[..count].copy_from_slice(&bytes[first..first + count]);
    (u64::from_le_bytes(word) >> shift) & mask(bits)
}

/// The integer with these bits, of an integer type or BOOL.
#[must_use]
pub fn integer(dtype: DType, bits: u64) -> i128 {
    let shift = 64 - dtype.bits();
    match dtype.class() {
        Class::Bool => i128::from(bits != 0),
        Class::Signed => i128::from((bits << shift).cast_signed() >> shift),
        _ => i128::from(bits),
    }
}

/// The integers in bytes of an integer type of at least a byte. `None` for other types, or if one
/// exceeds INT64.
#[must_use]
pub fn integers(dtype: DType, bytes: &[u8]) -> Option<Vec<i64>> {
    let bits = dtype.bits();
    if !matches!(dtype.class(), Class::Signed | Class::Unsigned) || bits < 8 {
        return None;
    }
    (0..elements(bits, bytes.len()))
        .map(|index| integer(dtype, get(bits, bytes, index)).try_into().ok())
        .collect()
}

/// Writes one element to bytes whose bits at its position are zero.
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
    let (first, shift) = place(bits, index);
    let word = (element & mask(bits)) << shift;
    for (byte, addend) in bytes[first..first + (shift + bits).div_ceil(8)]
        .iter_mut()
        .zip(word.to_le_bytes())
    {
        *byte |= addend;
    }
}

/// The size of this many elements in bytes. Intermediate results overflow only if the result does,
/// for any width of `usize`.
#[must_use]
#[inline]
pub const fn size(bits: usize, elements: usize) -> usize {
    elements / 8 * bits + (elements % 8 * bits).div_ceil(8)
}

/// The number of whole elements in this many bytes.
#[must_use]
#[inline]
pub const fn elements(bits: usize, bytes: usize) -> usize {
    bytes / bits * 8 + bytes % bits * 8 / bits
}

/// The byte in which an element starts, and the bit offset in that byte.
#[inline]
const fn place(bits: usize, index: usize) -> (usize, usize) {
    let bit = index % 8 * bits;
    (index / 8 * bits + bit / 8, bit % 8)
}

/// The bytes of a range of elements; the first must be byte-aligned.
#[must_use]
pub fn part(bits: usize, bytes: &[u8], first: usize, count: usize) -> &[u8] {
    &bytes[size(bits, first)..][..size(bits, count)]
}

/// Like [`part`], mutable.
#[must_use]
pub fn part_mut(bits: usize, bytes: &mut [u8], first: usize, count: usize) -> &mut [u8] {
    &mut bytes[size(bits, first)..][..size(bits, count)]
}

/// A mask of the low bits.
#[must_use]
pub const fn mask(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Unpacks elements of 2, 4 or 6 bits to one byte each; fills `codes`.
///
/// # Panics
/// For any other width.
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
            ((word & 0x3F)
                | (word << 2 & 0x3F00)
                | (word << 4 & 0x3F_0000)
                | (word << 6 & 0x3F00_0000))
                .to_le_bytes()
        }),
        _ => unreachable!("elements of {bits} bits are not packed"),
    }
}

/// Packs the low 2, 4 or 6 bits of each byte of `codes`; fills `bytes`, with zeros in the unused
/// bits of the last byte.
///
/// # Panics
/// For any other width.
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
            let [low, middle, high, _] = ((word & 0x3F)
                | (word >> 2 & 0xFC0)
                | (word >> 4 & 0x3_F000)
                | (word >> 6 & 0xFC_0000))
                .to_le_bytes();
            [low, middle, high]
        }),
        _ => unreachable!("elements of {bits} bits are not packed"),
    }
}

/// Unpacks byte-aligned groups, then the incomplete last group.
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

/// Packs byte-aligned groups, then the incomplete last group.
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
    fn integers_have_the_sign_and_range_of_their_type() {
        type Case = (DType, &'static [u8], Option<&'static [i64]>);
        let cases: [Case; 9] = [
            (DType::Int8, &[0xff, 0x7f], Some(&[-1, 127])),
            (DType::Uint8, &[0xff, 0x7f], Some(&[255, 127])),
            (DType::Int32, &[0xfe, 0xff, 0xff, 0xff], Some(&[-2])),
            (DType::Int64, &[0xff; 8], Some(&[-1])),
            (DType::Uint64, &[1, 0, 0, 0, 0, 0, 0, 0], Some(&[1])),
            (DType::Uint64, &[0xff; 8], None),
            (DType::Int4, &[0x21], None),
            (DType::Bool, &[1], None),
            (DType::Float, &[0; 4], None),
        ];
        for (dtype, bytes, expected) in cases {
            assert_eq!(integers(dtype, bytes).as_deref(), expected, "{dtype}");
        }
        assert_eq!(
            (
                integer(DType::Int4, 0xf),
                integer(DType::Uint4, 0xf),
                integer(DType::Bool, 2)
            ),
            (-1, 15, 1)
        );
    }

    #[test]
    fn the_element_order_matches_onnx() {
        let cases: [(usize, &[u64], &[u8]); 3] = [
            (4, &[1, 2, 3], &[0x21, 0x03]),
            (2, &[1, 2, 3, 0, 2], &[0b00_11_10_01, 0b10]),
            (
                6,
                &[0b000001, 0b000010, 0b000011, 0b100000],
                &[0b1000_0001, 0b0011_0000, 0b1000_0000],
            ),
        ];
        for (bits, elements, expected) in cases {
            let mut bytes = vec![0; expected.len()];
            elements
                .iter()
                .enumerate()
                .for_each(|(index, &element)| put(bits, &mut bytes, index, element));
            assert_eq!(bytes, expected, "{bits} bits");
        }
    }

    #[test]
    fn sizes_near_the_maximum_do_not_overflow() {
        for bits in [2, 4, 6, 8, 16, 32, 64] {
            let most = usize::MAX as u128 * 8 / bits as u128;
            for elements in (0..20).chain((0..20).map(|less| most - less)) {
                let Ok(count) = usize::try_from(elements) else {
                    continue;
                };
                let bytes = (elements * bits as u128).div_ceil(8);
                if bytes > usize::MAX as u128 {
                    continue;
                }
                assert_eq!(
                    size(bits, count) as u128,
                    bytes,
                    "{count} elements of {bits} bits"
                );
                let whole = bytes * 8 / bits as u128;
                if whole <= usize::MAX as u128 {
                    assert_eq!(
                        super::elements(bits, bytes as usize) as u128,
                        whole,
                        "{bytes} bytes of {bits} bits"
                    );
                }
                let (byte, bit) = place(bits, count);
                assert_eq!(
                    byte as u128 * 8 + bit as u128,
                    elements * bits as u128,
                    "element {count} of {bits} bits"
                );
            }
            assert_eq!(
                size(bits, usize::MAX / bits),
                (usize::MAX / bits * bits).div_ceil(8),
                "{bits} bits"
            );
        }
    }

    #[test]
    fn put_and_get_round_trip() {
        for bits in [2, 4, 6, 8, 16, 32, 64] {
            for count in 1..20_usize {
                let element = |index: usize| {
                    (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3 & mask(bits)
                };
                let mut bytes = vec![0; size(bits, count)];
                (0..count).for_each(|index| put(bits, &mut bytes, index, element(index)));
                (0..count).for_each(|index| {
                    assert_eq!(
                        get(bits, &bytes, index),
                        element(index),
                        "{bits} bits, {count} elements"
                    )
                });
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
