//! The rule `float16-clipped`.

use bytes::Bytes;

use crate::base::hash::HashSet;
use crate::base::parallel;
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;
use crate::graph::ValueId;
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::tensor::Data;
use onnx_cast::DType;

const DOCS: &str = r#"A FLOAT16 tensor has numbers that a converter replaced instead of rounding them.

## What it checks
FLOAT16 constants of more than one element with one of these marks, by which converters from FLOAT are known:

1. The largest magnitude is exactly 10000.
2. Both 65504 and -65504, the largest numbers of FLOAT16, occur with at least 3 other magnitudes, and no infinity or NaN. Masks have one sign
   or fewer magnitudes, and so have bounds.
3. At least 32 elements are ±5.96e-8, the smallest number of FLOAT16, at least 8 are ±1.19e-7, the next one, and none is zero. Where numbers are
   rounded, there is about one zero for two elements of the smallest number.
4. At least 32 elements are ±1.19e-7, at least 8 are ±1.79e-7, the next one, and none is ±5.96e-8, which is about as frequent where numbers are
   rounded.

The rule reads the values of FLOAT16 constants; those in data files that are not there are not checked.

## Why is this bad?
Widespread converters from FLOAT to FLOAT16 replace every value beyond 10000 by 10000, although FLOAT16 reaches 65504: 12345 and 65504
become 10000, and so does -65504 in a mask, with the other sign. Others replace values beyond 65504, infinity among them, by 65504. Values near
zero become 1.19e-7 or 5.96e-8, some with the other sign. The weights are wrong without any message.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
clipped (float16[3] x) => (float16[3] y) <float16[3] w = {10000, -10000, 1}> {
    y = Mul (x, w)
}
```
Use instead a model that was converted by `recast precision`, which rounds and lists what it cannot represent:
```onnx
<ir_version: 8, opset_import: ["": 18]>
whole (float16[3] x) => (float16[3] y) <float16[3] w = {12344, -65504, 1}> {
    y = Mul (x, w)
}
```
If the numbers are those of the original tensor, ignore the rule: `recast lint --ignore RC307`, or `recast.noqa` in the metadata of
the model.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC307", "float16-clipped", Severity::Warning, DOCS),
    check,
);

/// The code of 10000; the codes of larger magnitudes, infinity and NaN are larger.
const LIMIT: u16 = 0x70E2;

/// The code of 65504, the largest number.
const LARGEST: u16 = 0x7BFF;

/// Everything but the sign.
const MAGNITUDE: u16 = 0x7FFF;

/// The number of bytes per job of a thread: whole elements.
const PART: Threshold = Threshold::new("part of clipped numbers", 1 << 20).multiple_of(2);

/// The least numbers of elements of the smallest magnitude and of the next one that are a mark. In
/// a tensor of rounded numbers, these magnitudes and zero would all occur, up to a chance of less
/// than one in a million.
const FEWEST_SMALLEST: u64 = 32;
const FEWEST_NEXT: u64 = 8;

/// Magnitudes beside 65504 that masks and bounds do not have.
const FEWEST_OTHERS: usize = 3;

/// How often some codes occur.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// The largest magnitude.
    largest: u16,
    /// 10000 and -10000.
    limit: u64,
    /// 65504 and -65504.
    bounds: [u64; 2],
    /// The four smallest magnitudes: zero, 5.96e-8, 1.19e-7 and 1.79e-7.
    smallest: [u64; 4],
}

impl Counts {
    fn of(codes: &[[u8; 2]]) -> Counts {
        let mut counts = Counts::default();
        let (mut limit, mut bounds, mut smallest) = (0_u32, [0_u32; 2], [0_u32; 4]);
        for &code in codes {
            let code = u16::from_le_bytes(code);
            let magnitude = code & MAGNITUDE;
            counts.largest = counts.largest.max(magnitude);
            limit += u32::from(magnitude == LIMIT);
            bounds[0] += u32::from(code == LARGEST);
            bounds[1] += u32::from(code == LARGEST | !MAGNITUDE);
            for (small, count) in (0..).zip(&mut smallest) {
                *count += u32::from(magnitude == small);
            }
        }
        Counts {
            limit: limit.into(),
            bounds: bounds.map(u64::from),
            smallest: smallest.map(u64::from),
            ..counts
        }
    }

    fn and(self, other: Counts) -> Counts {
        let sum = |index: usize| self.smallest[index] + other.smallest[index];
        Counts {
            largest: self.largest.max(other.largest),
            limit: self.limit + other.limit,
            bounds: [0, 1].map(|sign| self.bounds[sign] + other.bounds[sign]),
            smallest: [0, 1, 2, 3].map(sum),
        }
    }
}

fn check(subject: &Subject) -> Vec<Finding> {
    subject
        .model
        .values()
        .filter_map(|value| check_constant(subject, value))
        .collect()
}

fn check_constant(subject: &Subject, value: ValueId) -> Option<Finding> {
    let model = subject.model;
    if model.constant(value).ok()?.tensor.data_type() != DType::Float16.number() {
        return None;
    }
    let constant = subject
        .constant(value)
        .filter(|constant| constant.elements() > 1)?;
    let Data::Numbers(bytes, _) = constant.content().data() else {
        return None;
    };
    let of_part = PART.get() as u64;
    let parts = bytes.len().div_ceil(of_part) as usize;
    let counts =
        |index: usize| Counts::of(part(bytes, index as u64 * of_part, of_part).as_chunks().0);
    let counts = parallel::map_and_join(parts, counts, Counts::and);
    let (count, number, others) = mark(&counts, bytes)?;
    let elements = if count == 1 {
        "one element is".to_owned()
    } else {
        format!("{count} elements are")
    };
    let name = model.name(value);
    let message = format!(
        "{elements} exactly {number} or -{number} in '{name}', and {others}: a converter to FLOAT16 may have clipped it"
    );
    Some(Finding::at_value(model, value, message))
}

/// The mark of a converter: a count of elements, their magnitude, and what the other elements are.
fn mark(counts: &Counts, bytes: &Stored) -> Option<(u64, &'static str, &'static str)> {
    let [zeros, smallest, second, third] = counts.smallest;
    if counts.largest == LIMIT {
        return Some((counts.limit, "10000", "none is larger"));
    }
    if counts.largest == LARGEST
        && counts.bounds.iter().all(|&count| count > 0)
        && has_others(bytes)
    {
        return Some((counts.bounds.iter().sum(), "65504", "none is infinite"));
    }
    if zeros == 0 && smallest >= FEWEST_SMALLEST && second >= FEWEST_NEXT {
        return Some((smallest, "5.96e-8", "none is zero"));
    }
    let is_lifted = smallest == 0 && second >= FEWEST_SMALLEST && third >= FEWEST_NEXT;
    is_lifted.then_some((second, "1.19e-7", "none is smaller except zeros"))
}

/// Whether there are several magnitudes beside 65504.
fn has_others(bytes: &Stored) -> bool {
    let mut others: HashSet<u16> = HashSet::default();
    let of_part = PART.get();
    (0..bytes.len()).step_by(of_part).any(|start| {
        let part = part(bytes, start, of_part as u64);
        let magnitudes = part
            .as_chunks()
            .0
            .iter()
            .map(|&code| u16::from_le_bytes(code) & MAGNITUDE);
        magnitudes
            .filter(|&magnitude| magnitude != LARGEST)
            .any(|magnitude| {
                others.insert(magnitude);
                others.len() >= FEWEST_OTHERS
            })
    })
}

/// The bytes of a unit of work.
fn part(bytes: &Stored, start: u64, length: u64) -> Bytes {
    bytes.part(start..bytes.len().min(start + length))
}
