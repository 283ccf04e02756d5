//! The places of the elements of a tensor: an index along each axis.

use std::ops::Range;

/// The shape of a tensor whose last axis varies fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    lengths: Vec<usize>,
    /// By axis: the distance of neighbours.
    pub steps: Vec<usize>,
}

impl Grid {
    /// The grid of valid dimensions. Axes of an empty tensor may be longer than memory: it has no
    /// places.
    pub fn of(dims: &[i64]) -> Grid {
        let lengths: Vec<usize> = dims.iter().map(|&dim| length(dim)).collect();
        let mut steps = vec![1_usize; lengths.len()];
        for axis in (1..lengths.len()).rev() {
            steps[axis - 1] = steps[axis].saturating_mul(lengths[axis]);
        }
        Grid { lengths, steps }
    }

    /// The index of the element at a place.
    pub fn index(&self, place: &[usize]) -> usize {
        place
            .iter()
            .zip(&self.steps)
            .map(|(at, step)| at * step)
            .sum()
    }

    /// The place of the element with an index.
    pub fn place(&self, index: usize) -> Vec<usize> {
        self.lengths
            .iter()
            .zip(&self.steps)
            .map(|(&length, &step)| index / step % length)
            .collect()
    }

    /// The results of a function for the places of a range of elements.
    pub fn each<T>(&self, range: Range<usize>, mut result: impl FnMut(&[usize]) -> T) -> Vec<T> {
        let mut results = Vec::with_capacity(range.len());
        if range.is_empty() {
            return results;
        }
        let mut place = self.place(range.start);
        for _ in range {
            results.push(result(&place));
            for (at, &length) in place.iter_mut().zip(&self.lengths).rev() {
                *at += 1;
                if *at < length {
                    break;
                }
                *at = 0;
            }
        }
        results
    }
}

/// The length of an axis.
pub fn length(dim: i64) -> usize {
    usize::try_from(dim).unwrap_or(usize::MAX)
}
