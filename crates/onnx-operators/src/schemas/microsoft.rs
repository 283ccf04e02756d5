//! The operators of com.microsoft, onnxruntime's own domain: `facts/microsoft.txt`.

use std::sync::OnceLock;

use super::ValueType;
use crate::hash::HashMap;

/// The name of the domain.
pub const DOMAIN: &str = "com.microsoft";

/// The types of an operator's inputs and outputs.
#[derive(Debug)]
pub struct Signature {
    inputs: Vec<&'static str>,
    outputs: Vec<&'static str>,
}

/// The signature of an operator of com.microsoft; none if onnxruntime has no such operator.
#[must_use]
pub fn signature(op: &str) -> Option<&'static Signature> {
    static SIGNATURES: OnceLock<HashMap<&str, Signature>> = OnceLock::new();
    let signatures = SIGNATURES.get_or_init(|| {
        let rows = include_str!("../../facts/microsoft.txt")
            .lines()
            .filter(|line| !line.starts_with('#'));
        let read = |row: &'static str| {
            let (inputs, outputs) = row.split_once(" -> ")?;
            let (op, inputs) = inputs.split_once(' ').unwrap_or((inputs, ""));
            Some((
                op,
                Signature {
                    inputs: inputs.split(' ').collect(),
                    outputs: outputs.split(' ').collect(),
                },
            ))
        };
        rows.filter_map(read).collect()
    });
    signatures.get(op)
}

impl Signature {
    /// The type or type variable of an input; a name that ends in `*` stands for any number of
    /// inputs.
    #[must_use]
    pub fn input(&self, index: usize) -> Option<&'static str> {
        self.inputs.get(index).copied()
    }

    /// The type or type variable of an output.
    #[must_use]
    pub fn output(&self, index: usize) -> Option<&'static str> {
        self.outputs.get(index).copied()
    }

    /// The type variable of an input or output; none if it has one type.
    #[must_use]
    pub fn variable(&self, is_output: bool, index: usize) -> Option<&'static str> {
        let names = if is_output {
            &self.outputs
        } else {
            &self.inputs
        };
        let name = names
            .get(index)
            .or_else(|| names.last().filter(|last| last.ends_with('*')))?
            .trim_end_matches('*');
        (!name.is_empty() && name != "-" && !name.contains('(')).then_some(name)
    }

    /// The type of an output, if it is that of an input or the only one.
    #[must_use]
    pub fn output_type(
        &self,
        index: usize,
        inputs: impl Fn(usize) -> Option<ValueType>,
    ) -> Option<ValueType> {
        let wanted = *self.outputs.get(index)?;
        if let Some(dtype) = wanted
            .strip_prefix("tensor(")
            .and_then(|name| name.strip_suffix(')'))
        {
            return dtype.parse().ok().map(ValueType::Tensor);
        }
        let same = self
            .inputs
            .iter()
            .enumerate()
            .filter(|(_, name)| name.trim_end_matches('*') == wanted && wanted != "-");
        same.filter_map(|(index, _)| inputs(index)).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onnx_cast::DType;

    #[test]
    fn outputs_have_the_type_of_an_input_or_the_only_one() {
        let float16 = |index: usize| (index == 0).then_some(ValueType::Tensor(DType::Float16));
        let tensor = |dtype| Some(ValueType::Tensor(dtype));
        let of = |op: &str, index| {
            signature(op).and_then(|signature| signature.output_type(index, float16))
        };
        assert_eq!(of("SkipLayerNormalization", 0), tensor(DType::Float16));
        assert_eq!(of("SkipLayerNormalization", 1), tensor(DType::Float));
        assert_eq!(of("EmbedLayerNormalization", 0), None);
        assert_eq!(of("EmbedLayerNormalization", 1), tensor(DType::Int32));
        assert_eq!(of("DequantizeWithOrder", 0), None);
        assert_eq!(of("Gelu", 1), None);
        assert!(signature("NoOperator").is_none());
    }

    #[test]
    fn every_type_is_known() {
        let rows = include_str!("../../facts/microsoft.txt").lines();
        let types = rows
            .filter(|row| !row.starts_with('#'))
            .flat_map(|row| row.split(' '))
            .filter(|word| word.contains('('));
        for word in types {
            let known = DType::ALL
                .iter()
                .any(|dtype| word == format!("tensor({})", dtype.name().to_lowercase()));
            assert!(known, "{word}");
        }
    }
}
