//! The types that wider ones carry.

use crate::ops::kernels::Table;
use crate::ops::runtimes::Runtime;
use crate::ops::schemas::{self, ValueType};
use onnx_cast::DType::{
    self, Bfloat16, Float, Float4E2M1, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz,
    Float8E8M0, Float16, Int2, Int4, Int8, Uint2, Uint4, Uint8,
};

/// A type and the wider one that carries it.
#[derive(Debug, PartialEq, Eq)]
pub struct Wider {
    pub from: DType,
    /// A type that holds each value of `from`, and that all opsets have which lack `from`.
    pub to: DType,
}

const fn wider(from: DType, to: DType) -> Wider {
    Wider { from, to }
}

/// The types that are carried.
const TYPES: &[Wider] = &[
    wider(Int4, Int8),
    wider(Uint4, Uint8),
    wider(Int2, Int8),
    wider(Uint2, Uint8),
    wider(Float4E2M1, Float16),
    wider(Float8E4M3Fn, Float16),
    wider(Float8E4M3Fnuz, Float16),
    wider(Float8E5M2, Float16),
    wider(Float8E5M2Fnuz, Float16),
    // The powers of two from 2^-127 to 2^127.
    wider(Float8E8M0, Float),
    wider(Bfloat16, Float),
];

/// The types that are carried in an opset: those that its `Cast` lacks, which admits every element
/// type of its opset, and those that the runtime lacks that has to run the result.
pub fn carried_in(opset: i64, runtime: Option<&Runtime>) -> Vec<&'static Wider> {
    let table = runtime.and_then(Table::of_runtime);
    let has = |dtype: DType| {
        has(opset, dtype) && !table.is_some_and(|(table, version)| table.lacks(dtype, version))
    };
    let carried = |wider: &&Wider| !has(wider.from) && has(wider.to);
    TYPES.iter().filter(carried).collect()
}

fn has(opset: i64, dtype: DType) -> bool {
    schemas::schema("", "Cast", opset)
        .and_then(|cast| cast.output(0))
        .is_some_and(|output| output.types.contains(ValueType::Tensor(dtype)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use onnx_cast::{Cast, Rules, Verdict, convert_element};

    fn cast(from: DType, to: DType) -> impl Fn(u64) -> (u64, Verdict) {
        let cast = Cast::new(from, to, Rules::default()).unwrap();
        move |code| convert_element(&cast, code)
    }

    #[test]
    fn the_wider_type_holds_each_number_of_the_type() {
        for &Wider { from, to } in TYPES {
            let (there, back) = (cast(from, to), cast(to, from));
            let number = cast(from, DType::Double);
            for code in 0..1u64 << from.bits() {
                let is_finite = f64::from_bits(number(code).0).is_finite();
                assert!(back(there(code).0).0 == code || !is_finite, "{from} {code}");
            }
        }
    }

    /// Wherever the result is defined.
    #[test]
    fn a_cast_of_the_wider_type_has_the_result_of_a_cast_of_the_type() {
        for &Wider { from, to } in TYPES {
            let wide = cast(from, to);
            let others = DType::ALL.iter().filter(|&&other| {
                Cast::new(from, other, Rules::default()).is_ok() && other != DType::String
            });
            for &other in others {
                let (one, two) = (cast(from, other), cast(to, other));
                for code in 0..1u64 << from.bits() {
                    let (expected, found) = (one(code), two(wide(code).0));
                    assert!(
                        found.0 == expected.0 || expected.1 != Verdict::Defined || from == other,
                        "{from} {code} to {other}: {expected:?}, {found:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_type_is_carried_below_the_opset_that_introduces_it() {
        let introduced = [
            (Bfloat16, 13),
            (Float8E4M3Fn, 19),
            (Int4, 21),
            (Uint4, 21),
            (Float4E2M1, 23),
            (Float8E8M0, 24),
            (Int2, 25),
            (Uint2, 25),
        ];
        for (from, since) in introduced {
            let is_carried = |opset| {
                carried_in(opset, None)
                    .iter()
                    .any(|wider| wider.from == from)
            };
            assert!(is_carried(since - 1) && !is_carried(since), "{from}");
        }
    }
}
