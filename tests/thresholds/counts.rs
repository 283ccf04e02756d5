//! Elements are counted in parts: those of a cast whose result ONNX does not define, and those that
//! lint rules look for. The counts, and the index of the first one, are those of one element after
//! the other.

use onnx_cast::{convert_element, packed};
use onnx_recast::cast::{Cast, Rules, Verdict};
use onnx_recast::internals::lint::tally;
use onnx_recast::internals::tensor::{Content, Data};
use onnx_recast::{DType, Stored};

use crate::support::expect_no_failures;
use crate::{InRanges, with_thresholds};

/// Chains of casts, whose last one leaves the second number undefined and defines the first.
const CASTS: &[(&[DType], [f32; 2])] = &[
    (&[DType::Float, DType::Int8], [1.0, 1e9]),
    (&[DType::Double, DType::Int64], [-3.0, f32::NAN]),
    (&[DType::Float16, DType::Uint8], [2.0, -7.0]),
    (&[DType::Int4, DType::Float, DType::Uint4], [3.0, -5.0]),
    (
        &[DType::Float, DType::Bfloat16, DType::Int32],
        [1.0, f32::INFINITY],
    ),
    (
        &[DType::Double, DType::Float, DType::Float16, DType::Int2],
        [1.0, 100.0],
    ),
];

fn count(indices: impl Iterator<Item = usize>) -> (u64, Option<u64>) {
    let mut indices = indices.map(|index| index as u64).peekable();
    let first = indices.peek().copied();
    (indices.count() as u64, first)
}

#[test]
fn counts_are_those_of_one_element_after_the_other() {
    let mut failed = Vec::new();
    for seed in 0..8 {
        with_thresholds(Some(seed), || {
            for (types, numbers) in CASTS {
                let casts: Vec<Cast> = types
                    .windows(2)
                    .map(|pair| Cast::new(pair[0], pair[1], Rules::default()).unwrap())
                    .collect();
                let (last, earlier) = casts.split_last().unwrap();
                let to_first = Cast::new(DType::Float, types[0], Rules::default());
                let codes = numbers.map(|number| match &to_first {
                    Ok(cast) => convert_element(cast, number.to_bits().into()).0,
                    Err(error) => unreachable!("{error}"),
                });
                for elements in (0..60).chain([127, 128, 129, 383, 400]) {
                    // Every seventh element, from another one on for each length.
                    let is_undefined = |index: usize| index % 7 == elements % 11;
                    let bits = types[0].bits();
                    let mut source = vec![0; packed::size(bits, elements)];
                    for index in 0..elements {
                        packed::put(
                            bits,
                            &mut source,
                            index,
                            codes[usize::from(is_undefined(index))],
                        );
                    }
                    let stored = if elements % 2 == 0 {
                        source.clone().into()
                    } else {
                        Stored::of_file(InRanges(source.clone()))
                    };
                    let mut content = Content::new(
                        types[0],
                        &[elements as i64],
                        Data::Numbers(stored, Vec::new()),
                    );
                    for cast in earlier {
                        content = content.cast(*cast).unwrap().0;
                    }
                    let summary = content.cast(*last).unwrap().1;
                    let verdict = |code: u64| {
                        let code = earlier
                            .iter()
                            .fold(code, |code, cast| convert_element(cast, code).0);
                        matches!(convert_element(last, code).1, Verdict::Undefined(_))
                    };
                    assert_eq!(codes.map(verdict), [false, true], "{types:?}");
                    let expected = count((0..elements).filter(|&index| is_undefined(index)));
                    let found = (summary.undefined.count, summary.undefined.first);
                    if found != expected {
                        failed.push(format!("seed {seed}, {types:?}, {elements} elements: {found:?}, not {expected:?}"));
                    }

                    let constant = Content::new(
                        types[0],
                        &[elements as i64],
                        Data::Numbers(source.into(), Vec::new()),
                    );
                    let found = tally(&constant, &casts[0], |_| true, |code| code == codes[1]);
                    if (found.count, found.first) != expected {
                        failed.push(format!("seed {seed}, tally of {types:?}, {elements} elements: {found:?}, not {expected:?}"));
                    }
                }
            }
        });
    }
    expect_no_failures(failed);
}
