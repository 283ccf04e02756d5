//! Ranges of numbers, as tables of runtimes write them: `7-12,14`.

/// The first and the last number of each range; none if the text is not one.
pub(super) fn ranges(text: &str) -> Option<Vec<(i64, i64)>> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    text.split(',').map(range).collect()
}

/// Whether a number is in one of the ranges.
pub(super) fn is_in(number: i64, ranges: &[(i64, i64)]) -> bool {
    ranges
        .iter()
        .any(|&(first, last)| (first..=last).contains(&number))
}
