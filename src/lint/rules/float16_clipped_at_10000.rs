//! The rule `float16-clipped-at-10000`.

use crate::base::parallel;
use crate::elements::dtype::DType;
use crate::graph::ValueId;
use crate::lint::{Finding, Rule, Selected, Severity, Subject};
use crate::tensor::Data;

const DOCS: &str = r#"A FLOAT16 tensor is clipped at 10000.

## What it checks
FLOAT16 constants of more than one element whose largest magnitude is exactly 10000. The rule reads the values of FLOAT16 constants;
those in data files that are not there are not checked.

## Why is this bad?
A widespread converter from FLOAT to FLOAT16 replaces every value beyond 10000 by 10000, although FLOAT16 reaches 65504: 12345 and 65504
become 10000, and so does -65504 in a mask, with the other sign. The weights are wrong without any message.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
clipped (float16[3] x) => (float16[3] y) <float16[3] w = {10000, -10000, 1}> {
    y = Mul (x, w)
}
```
Use instead a model that was converted without clipping (the option `max_finite_val` of that converter):
```onnx
<ir_version: 8, opset_import: ["": 18]>
whole (float16[3] x) => (float16[3] y) <float16[3] w = {12344, -65504, 1}> {
    y = Mul (x, w)
}
```
If 10000 is the largest value of the original tensor, ignore the rule: `recast lint --ignore RC307`, or `recast.noqa` in the metadata of
the model.
"#;

pub(super) const RULE: Rule = Rule {
    code: "RC307",
    name: "float16-clipped-at-10000",
    severity: Severity::Warning,
    selected: Selected::ByDefault,
    docs: DOCS,
    check,
};

/// The code of 10000; the codes of larger magnitudes, infinity and NaN are larger.
const LIMIT: u16 = 0x70E2;

/// Everything but the sign.
const MAGNITUDE: u16 = 0x7FFF;

/// Bytes per unit of work of a thread.
const PART: usize = 1 << 20;

fn check(subject: &Subject) -> Vec<Finding> {
    subject.model.values().filter_map(|value| check_constant(subject, value)).collect()
}

fn check_constant(subject: &Subject, value: ValueId) -> Option<Finding> {
    let model = subject.model;
    if model.constant(value).ok()?.tensor.data_type() != DType::Float16.number() {
        return None;
    }
    let constant = subject.constant(value).filter(|constant| constant.elements() > 1)?;
    let Data::Numbers(bytes, _) = constant.data() else { return None };
    let part = |index: usize| {
        let bytes = &bytes[index * PART..bytes.len().min((index + 1) * PART)];
        let (codes, _) = bytes.as_chunks::<2>();
        let magnitudes = codes.iter().map(|&code| u16::from_le_bytes(code) & MAGNITUDE);
        magnitudes.fold((0, 0_u64), |(largest, count), magnitude| (largest.max(magnitude), count + u64::from(magnitude == LIMIT)))
    };
    let join = |(one, some): (u16, u64), (other, more): (u16, u64)| (one.max(other), some + more);
    let (largest, count) = parallel::map_and_join(bytes.len().div_ceil(PART), part, join);
    if largest != LIMIT {
        return None;
    }
    let elements = if count == 1 { "one element is".to_owned() } else { format!("{count} elements are") };
    let name = model.name(value);
    let message =
        format!("{elements} exactly 10000 or -10000 in '{name}', and none is larger: a converter to FLOAT16 may have clipped it");
    Some(Finding::at_value(model, value, message))
}
