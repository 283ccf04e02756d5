//! The element type of a value from the nodes right before it, without inference of the whole
//! model.

use crate::graph::{Model, Origin, ValueId};
use crate::ops::schemas::{self, ValueType, canonical_domain};
use onnx_cast::DType;

/// The number of nodes on the way to a value of known type.
const MOST_STEPS: usize = 16;

/// The element type of a value, if the model states it, or states that of a value before it with
/// the same type variable.
pub(crate) fn nearby_element_type(model: &Model, value: ValueId) -> Option<DType> {
    let mut value = value;
    for _ in 0..MOST_STEPS {
        if let Some(dtype) = model.element_type(value) {
            return Some(dtype);
        }
        let Origin::Node { node: id, output } = model.origin(value) else {
            return None;
        };
        let node = model.node(id);
        let domain = canonical_domain(node.domain());
        let schema = match model.callee(id) {
            None => schemas::schema(domain, node.op_type(), model.opset(id.scope, domain)?)?,
            Some(_) => return None,
        };
        let formal = schema.output(output as usize)?;
        match formal.fixed_type() {
            Some(ValueType::Tensor(dtype)) => return Some(dtype),
            Some(_) => return None,
            None => {}
        }
        let is_same = |index: u32| {
            schema
                .input(index as usize)
                .is_some_and(|input| input.shares_variable(formal))
        };
        let inputs = || {
            model
                .inputs(id)
                .filter(|(index, _)| is_same(*index))
                .map(|(_, input)| input)
        };
        value = inputs()
            .find(|&input| model.element_type(input).is_some())
            .or_else(|| inputs().next())?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ScopeId;
    use crate::onnx_text::parse;
    use crate::ops::inference::infer;

    #[test]
    fn it_agrees_with_inference() {
        let text = r#"<ir_version: 10, opset_import: ["": 21]>
            g (float[2] x, bool c, int64[1] i) => (a) <float16[2] w = {1, 2}> {
                a = Neg (x)  b = Add (a, a)  s = Shape (b)  e = Equal (b, b)
                h = Neg (w)  k = Where (c, h, h)  l = CastLike (b, k)
                f, g = Split <num_outputs = 2> (k)
                q = If (c) <then_branch = t () => (u) { u = Neg (x) }, else_branch = e () => (v) { v = Neg (x) }>
                z = Sqrt (q)
            }"#;
        let model = Model::new(parse(text).unwrap()).unwrap();
        let inferred = infer(&model);
        let found =
            |name: &str| nearby_element_type(&model, model.lookup(ScopeId::MAIN, name).unwrap());
        for name in ["a", "b", "s", "e", "h", "k", "l", "f", "g"] {
            let value = model.lookup(ScopeId::MAIN, name).unwrap();
            assert!(found(name).is_some(), "{name}");
            assert_eq!(found(name), inferred.of(value).dtype(), "{name}");
        }
        // Types of branches are inferred only.
        assert_eq!(found("z"), None);
    }
}
