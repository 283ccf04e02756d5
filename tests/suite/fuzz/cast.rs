//! For any types, rules and bytes, the kernels of every instruction set give what the exact path
//! gives; a tensor may be cast in parts; strings that numbers become read back as the same numbers.

use onnx_cast::{
    Cast, Class, Contested, Converter, DType, Level, RoundMode, Rules, float_format::Format,
    format_strings, packed, parse_strings,
};
use onnx_recast::internals::tensor::{Tensor, Values};

/// The versions of `Cast`.
const OPSETS: [u32; 10] = [1, 6, 9, 13, 19, 21, 23, 24, 25, 28];

/// Enough for some chunks of the kernels; the exact path is slow.
const MOST_BYTES: usize = 1 << 15;

/// The first bytes say what cast it is, how often the others are repeated, and where the parts
/// meet.
pub fn run(bytes: &[u8]) {
    let Some((&[from, to, choices, times, middle], bytes)) = bytes.split_first_chunk() else {
        return;
    };
    let dtype = |byte: u8| DType::ALL[usize::from(byte) % DType::ALL.len()];
    let round_mode = [
        RoundMode::Up,
        RoundMode::Down,
        RoundMode::Nearest,
        RoundMode::Up,
    ][usize::from(choices >> 1 & 3)];
    let contested = if choices & 8 == 0 {
        Contested::Text
    } else {
        Contested::Runtime
    };
    let opset = OPSETS[usize::from(choices >> 4) % OPSETS.len()];
    let rules = Rules::default()
        .saturate(choices & 1 == 0)
        .round_mode(round_mode)
        .contested(contested)
        .opset(opset);
    let Ok(cast) = Cast::new(dtype(from), dtype(to), rules) else {
        return;
    };
    if cast.from() == DType::String {
        let strings: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
        if cast.to() != DType::String {
            let _ = parse_strings(&cast, &strings);
        }
        return;
    }
    let source: Vec<u8> = bytes
        .iter()
        .copied()
        .cycle()
        .take(MOST_BYTES.min(bytes.len() * usize::from(times)))
        .collect();
    let elements = source.len() * 8 / cast.from().bits();
    match cast.to() {
        DType::String => reads_back(&cast, &source, elements.min(1000)),
        _ => is_exact(&cast, &source, elements, usize::from(middle)),
    }
}

fn is_exact(cast: &Cast, source: &[u8], elements: usize, middle: usize) {
    let bytes =
        |elements: usize| cast.to().raw_bytes(elements as u64).expect("few elements") as usize;
    let mut expected = vec![0xFF; bytes(elements)];
    cast.convert_exactly(source, elements, &mut expected);
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let mut found = vec![0xFF; expected.len()];
        Converter::for_level(*cast, level).convert(source, elements, &mut found);
        assert!(
            found == expected,
            "{cast:?} of {elements} elements with {level:?}"
        );
    }
    assert_eq!(
        cast.survey(source, elements),
        cast.survey_exactly(source, elements),
        "{cast:?} of {elements} elements"
    );
    // Parts of a multiple of eight elements begin on a byte.
    let first = elements.min(middle * 8);
    let mut found = vec![0xFF; expected.len()];
    let (head, tail) = found.split_at_mut(bytes(first));
    cast.convert(source, first, head);
    cast.convert(
        &source[(first * cast.from().bits()).div_ceil(8)..],
        elements - first,
        tail,
    );
    assert!(
        found == expected,
        "{cast:?} of {elements} elements in two parts"
    );
}

fn reads_back(cast: &Cast, source: &[u8], elements: usize) {
    let (strings, _) = format_strings(cast, source, elements);
    // Infinities come back as such.
    let rules = cast.rules().saturate(false);
    let Ok(back) = Cast::new(DType::String, cast.from(), rules) else {
        return;
    };
    if cast.from().class() == Class::Bool {
        return;
    }
    let (numbers, _) = parse_strings(&back, &strings).unwrap_or_else(|error| panic!("{error}"));
    for (index, string) in strings.iter().enumerate() {
        let [before, after] =
            [source, &numbers].map(|raw| packed::get(cast.from().bits(), raw, index));
        let is_nan = Format::of(cast.from()).is_some_and(|format| format.is_nan(before));
        assert!(
            before == after || is_nan,
            "{cast:?} of {before:#x}: '{string}' reads back as {after:#x}"
        );
    }
}

/// The initializers of the models, each cast to some types; strings, and what they look like.
pub fn seeds(models: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let types = 0..DType::ALL.len() as u8;
    for model in models.iter().filter_map(|bytes| super::model(bytes)) {
        for (_, tensor) in model.tensors() {
            let Ok(tensor) = Tensor::read(tensor) else {
                continue;
            };
            let Ok(Values::Raw(raw)) = tensor.values() else {
                continue;
            };
            let raw = &raw[..raw.len().min(256)];
            let from = DType::ALL
                .iter()
                .position(|&dtype| dtype == tensor.dtype())
                .expect("one of all") as u8;
            let turn = seeds.len() as u8;
            seeds.push(
                [
                    &[
                        from,
                        turn % types.end,
                        turn.wrapping_mul(7) | 0x90,
                        1 + turn % 40,
                        turn,
                    ],
                    raw,
                ]
                .concat(),
            );
        }
    }
    let literals = b"1\n-2.5\n1e-7\nNaN\n-INF\n448.5\n18446744073709551615\n0x1\n";
    seeds.extend(
        types
            .clone()
            .map(|to| [&[7, to, 0x90, 1, 0], literals.as_slice()].concat()),
    );
    let numbers: Vec<u8> = (0..=255).collect();
    seeds.extend(types.clone().flat_map(|from| {
        let numbers = &numbers;
        types
            .clone()
            .map(move |to| [&[from, to, 0x90, 3, 2], numbers.as_slice()].concat())
    }));
    seeds
}
