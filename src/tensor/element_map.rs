//! Which element of a tensor each element of another one is, as for Transpose, Slice, Gather,
//! Expand and Tile.

use std::sync::Arc;

/// Maps each element of a result to an element of its source: the element at some indices is the
/// source's element at `first` plus the offsets of all axes at these indices.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementMap {
    first: isize,
    axes: Vec<Axis>,
}

/// The offsets of the indices of one axis, in elements of the source.
#[derive(Clone, Debug, PartialEq)]
enum Axis {
    Steps { length: usize, step: isize },
    Table(Arc<[isize]>),
}

impl Axis {
    fn length(&self) -> usize {
        match self {
            Axis::Steps { length, .. } => *length,
            Axis::Table(offsets) => offsets.len(),
        }
    }

    fn offset(&self, index: usize) -> isize {
        match self {
            Axis::Steps { step, .. } => index as isize * step,
            Axis::Table(offsets) => offsets[index],
        }
    }
}

impl ElementMap {
    /// Every element of a tensor of this shape, in its order.
    #[must_use]
    pub fn of(dims: &[usize]) -> ElementMap {
        // The axes of an empty tensor can be longer than memory, and their steps are never taken.
        let mut step = isize::from(!dims.contains(&0));
        let mut axes = Vec::with_capacity(dims.len());
        for &length in dims.iter().rev() {
            axes.push(Axis::Steps { length, step });
            step *= length as isize;
        }
        axes.reverse();
        ElementMap { first: 0, axes }
    }

    /// The lengths of the axes.
    #[must_use]
    pub fn dims(&self) -> Vec<usize> {
        self.axes.iter().map(Axis::length).collect()
    }

    /// The number of elements of the result.
    #[must_use]
    pub fn elements(&self) -> usize {
        if self.axes.iter().any(|axis| axis.length() == 0) {
            0
        } else {
            self.axes.iter().map(Axis::length).product()
        }
    }

    /// With the axes in another order: axis `i` of the result is axis `order[i]`.
    #[must_use]
    pub fn transposed(&self, order: &[usize]) -> ElementMap {
        ElementMap {
            first: self.first,
            axes: order.iter().map(|&axis| self.axes[axis].clone()).collect(),
        }
    }

    /// With `length` indices of an axis: `start`, `start + step`, …
    #[must_use]
    pub fn sliced(&self, axis: usize, start: usize, step: isize, length: usize) -> ElementMap {
        match &self.axes[axis] {
            Axis::Steps { step: old, .. } if length > 0 => {
                let mut axes = self.axes.clone();
                // The step of a single index may be of any size.
                axes[axis] = Axis::Steps {
                    length,
                    step: if length > 1 { old * step } else { 0 },
                };
                ElementMap {
                    first: self.first + start as isize * old,
                    axes,
                }
            }
            _ => {
                let indices = (0..length as isize)
                    .map(|index| (start as isize + index * step).cast_unsigned());
                self.taken(axis, &indices.collect::<Vec<usize>>())
            }
        }
    }

    /// With these indices of an axis.
    #[must_use]
    pub fn taken(&self, axis: usize, indices: &[usize]) -> ElementMap {
        let mut axes = self.axes.clone();
        axes[axis] = Axis::Table(
            indices
                .iter()
                .map(|&index| self.axes[axis].offset(index))
                .collect(),
        );
        ElementMap {
            first: self.first,
            axes,
        }
    }

    /// With one more axis before another one, along which all elements are equal.
    #[must_use]
    pub fn repeated(&self, before: usize, length: usize) -> ElementMap {
        let mut axes = self.axes.clone();
        axes.insert(before, Axis::Steps { length, step: 0 });
        ElementMap {
            first: self.first,
            axes,
        }
    }

    /// With an axis of length one repeated.
    #[must_use]
    pub fn stretched(&self, axis: usize, length: usize) -> ElementMap {
        let mut axes = self.axes.clone();
        let offset = axes[axis].offset(0);
        axes[axis] = Axis::Steps { length, step: 0 };
        ElementMap {
            first: self.first + offset,
            axes,
        }
    }

    /// The first element, if the result is a run of elements of the source.
    #[must_use]
    pub fn run(&self) -> Option<usize> {
        let mut expected = 1;
        if self.elements() == 0 {
            return Some(0);
        }
        for axis in self.axes.iter().rev().filter(|axis| axis.length() != 1) {
            match axis {
                Axis::Steps { length, step } if *step == expected => expected *= *length as isize,
                _ => return None,
            }
        }
        let single: isize = self
            .axes
            .iter()
            .filter(|axis| axis.length() == 1)
            .map(|axis| axis.offset(0))
            .sum();
        Some((self.first + single).cast_unsigned())
    }

    /// Calls `visit` with the indices in the source of `count` elements of the result from `start`
    /// on.
    pub fn visit(&self, start: usize, count: usize, mut visit: impl FnMut(usize)) {
        if count == 0 {
            return;
        }
        let Some((last, outer)) = self.axes.split_last() else {
            return visit(self.first.cast_unsigned());
        };
        let mut indices = vec![0; outer.len()];
        let mut rest = start / last.length();
        for (index, axis) in indices.iter_mut().zip(outer).rev() {
            (*index, rest) = (rest % axis.length(), rest / axis.length());
        }
        let (mut at, mut left) = (start % last.length(), count);
        loop {
            let base = self.first
                + outer
                    .iter()
                    .zip(&indices)
                    .map(|(axis, &index)| axis.offset(index))
                    .sum::<isize>();
            let run = left.min(last.length() - at);
            (at..at + run).for_each(|index| visit((base + last.offset(index)).cast_unsigned()));
            (at, left) = (0, left - run);
            if left == 0 {
                return;
            }
            for (index, axis) in indices.iter_mut().zip(outer).rev() {
                *index += 1;
                if *index < axis.length() {
                    break;
                }
                *index = 0;
            }
        }
    }

    /// Fills `target` with the elements from `start` on; an element has `width` bytes: 1, 2, 4, 8
    /// or 16.
    pub fn copy(&self, width: usize, source: &[u8], start: usize, target: &mut [u8]) {
        match width {
            1 => self.copy_elements::<1>(source, start, target),
            2 => self.copy_elements::<2>(source, start, target),
            4 => self.copy_elements::<4>(source, start, target),
            8 => self.copy_elements::<8>(source, start, target),
            _ => self.copy_elements::<16>(source, start, target),
        }
    }

    fn copy_elements<const WIDTH: usize>(&self, source: &[u8], start: usize, target: &mut [u8]) {
        let (source, _) = source.as_chunks::<WIDTH>();
        let (target, _) = target.as_chunks_mut::<WIDTH>();
        let mut elements = target.iter_mut();
        let count = elements.len();
        self.visit(start, count, |index| {
            if let Some(element) = elements.next() {
                *element = source[index];
            }
        });
    }
}
