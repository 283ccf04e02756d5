//! Casts from and to strings in parts, on all cores, which end when they are cancelled.

use bytes::Bytes;

use crate::base::parallel;
use crate::base::threshold::Threshold;
use onnx_cast::{BadLiteral, Cast, Summary, format_strings, parse_strings};

/// The number of elements per job of a thread: a multiple of 8, so that a part begins at a byte
/// boundary in every packing.
const PART: Threshold = Threshold::new("part of strings", 1 << 14).multiple_of(8);

/// Numbers in the layout of `raw_data`. If the operation is cancelled, the result is to be
/// discarded.
///
/// # Errors
/// If a string is not a number or does not fit an integer type: the first of them.
pub(super) fn parse(
    cast: &Cast,
    strings: &[Bytes],
    is_cancelled: impl Fn() -> bool + Sync,
) -> Result<(Vec<u8>, Summary), BadLiteral> {
    let of_part = PART.get();
    let parts: Vec<&[Bytes]> = strings.chunks(of_part).collect();
    let parsed = parallel::map(&parts, |part| {
        if is_cancelled() {
            Ok(Default::default())
        } else {
            parse_strings(cast, part)
        }
    });
    let length = cast
        .to()
        .raw_bytes(strings.len() as u64)
        .and_then(|bytes| usize::try_from(bytes).ok());
    let length = length.expect("the target is numeric and has no more elements than memory");
    let (mut numbers, mut summary) = (Vec::with_capacity(length), Summary::default());
    for (index, part) in parsed.into_iter().enumerate() {
        let first = (index * of_part) as u64;
        let (bytes, found) = part.map_err(|bad| BadLiteral {
            index: first + bad.index,
            ..bad
        })?;
        numbers.extend(bytes);
        summary = summary.followed_by(first, found);
    }
    numbers.resize(length, 0);
    Ok((numbers, summary))
}

/// Strings from numbers in the layout of `raw_data`. If the operation is cancelled, there are none.
pub(super) fn format(
    cast: &Cast,
    numbers: &[u8],
    elements: usize,
    is_cancelled: impl Fn() -> bool + Sync,
) -> (Vec<Bytes>, Summary) {
    let of_part = PART.get();
    let parts: Vec<usize> = (0..elements).step_by(of_part).collect();
    let formatted = parallel::map(&parts, |&first| {
        if is_cancelled() {
            Default::default()
        } else {
            let (strings, found) = format_strings(
                cast,
                &numbers[first / 8 * cast.from().bits()..],
                of_part.min(elements - first),
            );
            (
                strings.into_iter().map(Bytes::from).collect::<Vec<Bytes>>(),
                found,
            )
        }
    });
    let (mut strings, mut summary) = (Vec::with_capacity(elements), Summary::default());
    let mut formatted = parts.into_iter().zip(formatted);
    while !is_cancelled() {
        let Some((first, (part, found))) = formatted.next() else {
            return (strings, summary);
        };
        strings.extend(part);
        summary = summary.followed_by(first as u64, found);
    }
    // To free many strings takes as long as to make them.
    parallel::drop_in_background((strings, formatted));
    (Vec::new(), Summary::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use onnx_cast::{DType, Rules};

    fn cast(from: DType, to: DType) -> Cast {
        Cast::new(from, to, Rules::default()).unwrap()
    }

    /// More than two parts, the last of which is short.
    const ELEMENTS: usize = 2 * PART.usual() + 3;

    #[test]
    fn parts_are_joined() {
        for dtype in [DType::Int4, DType::Int2, DType::Int8, DType::Float] {
            let numbers: Vec<u8> = (0..dtype.raw_bytes(ELEMENTS as u64).unwrap())
                .map(|index| (index % 63) as u8)
                .collect();
            let (strings, summary) =
                format(&cast(dtype, DType::String), &numbers, ELEMENTS, || false);
            let (whole, expected) = format_strings(&cast(dtype, DType::String), &numbers, ELEMENTS);
            assert_eq!((strings.len(), summary), (ELEMENTS, expected), "{dtype}");
            assert!(
                strings
                    .iter()
                    .zip(&whole)
                    .all(|(part, whole)| part == whole.as_bytes()),
                "{dtype}"
            );
            let to = cast(DType::String, dtype);
            assert_eq!(
                parse(&to, &strings, || false),
                parse_strings(&to, &strings),
                "{dtype}"
            );
        }
    }

    #[test]
    fn undefined_elements_and_bad_literals_are_counted_from_the_start() {
        let mut strings = vec![Bytes::from("1"); ELEMENTS];
        strings[PART.usual() + 1] = "1.5".into();
        strings[2 * PART.usual() + 1] = "2.5".into();
        let to = cast(DType::String, DType::Int32);
        let undefined = parse(&to, &strings, || false).unwrap().1.undefined;
        assert_eq!(
            (undefined.count, undefined.first),
            (2, Some(PART.usual() as u64 + 1))
        );
        strings[2 * PART.usual() + 1] = "x".into();
        strings[PART.usual() + 2] = "y".into();
        assert_eq!(
            parse(&to, &strings, || false).unwrap_err().index,
            PART.usual() as u64 + 2
        );
    }

    #[test]
    fn cancelled_casts_look_at_no_element() {
        let strings = vec![Bytes::from("x"); ELEMENTS];
        let (numbers, summary) =
            parse(&cast(DType::String, DType::Int4), &strings, || true).unwrap();
        assert_eq!(
            (numbers, summary),
            (vec![0; ELEMENTS.div_ceil(2)], Summary::default())
        );
        let (strings, summary) = format(
            &cast(DType::Float, DType::String),
            &vec![0; 4 * ELEMENTS],
            ELEMENTS,
            || true,
        );
        assert_eq!((strings, summary), (Vec::new(), Summary::default()));
    }
}
