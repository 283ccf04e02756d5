//! Counts the elements that ONNX does not define, at memory bandwidth.
//!
//! An element is undefined or contested if its magnitude is in one of two ranges, which depend on
//! the sign, or if it has a fraction. The exact path determines the bounds of the ranges, and the
//! reason for the first element found.

use super::chain::{decode, to_single};
use super::level::{Features, Kernel, Level};
use super::number::lanes;
use super::pair::Cast;
use super::reference::convert_element;
use super::sink::Target;
use super::stage::Stage;
use super::summary::{Summary, Tally, Verdict};
use super::table::Table;
use crate::dtype::{Class, DType};
use crate::float_format::Format;
use crate::packed::{self, part};
use crate::threshold::Threshold;

/// Elements per chunk.
const CHUNK: Threshold = Threshold::new("chunk of a survey", 1024).multiple_of(8);

/// A prepared survey: see [`Cast::survey`].
pub(super) struct Survey {
    cast: Cast,
    level: Level,
    stages: Vec<Stage>,
    watch: Watch,
}

/// The representation of the elements when they are classified, and the classification.
enum Watch {
    /// One byte each: 1 for undefined, 2 for contested.
    Flags,
    Singles(Ranges),
    Doubles(Ranges),
}

impl Survey {
    pub(super) fn for_level(cast: Cast, level: Level) -> Survey {
        let from_bits = cast.from.bits();
        let is_integer = matches!(cast.to.class(), Class::Signed | Class::Unsigned);
        let (stages, watch) = if from_bits <= 8 {
            let unpack = (from_bits < 8).then_some(Stage::Unpack(from_bits));
            (
                Vec::from_iter(
                    unpack
                        .into_iter()
                        .chain([Stage::Table(Box::new(flags(&cast)))]),
                ),
                Watch::Flags,
            )
        } else {
            let (decode, machine) = decode(cast.from);
            match machine {
                DType::Double if is_integer => (
                    Vec::from_iter(decode),
                    Watch::Doubles(Ranges::new(DType::Double, &cast)),
                ),
                _ => (
                    Vec::from_iter(decode.into_iter().chain(to_single(machine))),
                    Watch::Singles(Ranges::new(DType::Float, &cast)),
                ),
            }
        };
        Survey {
            cast,
            level,
            stages,
            watch,
        }
    }

    /// Counts the elements; `source` must not be shorter than `elements` elements.
    pub(super) fn count(&self, source: &[u8], elements: usize) -> Summary {
        let mut summary = Summary::default();
        let mut buffers = [[0; CHUNK.usual() * 8]; 2];
        let chunk = CHUNK.get();
        for start in (0..elements).step_by(chunk) {
            let count = chunk.min(elements - start);
            let chunk = part(self.cast.from.bits(), source, start, count);
            let [undefined, contested] = self.count_chunk(chunk, count, &mut buffers);
            if undefined + contested > 0 {
                let found = Summary {
                    undefined: Tally::of(undefined),
                    contested: Tally::of(contested),
                };
                let is_first = summary.undefined.is_new(found.undefined)
                    || summary.contested.is_new(found.contested);
                let found = if is_first {
                    self.cast.survey_exactly(chunk, count)
                } else {
                    found
                };
                summary = summary.followed_by(start as u64, found);
            }
        }
        summary
    }

    fn count_chunk(
        &self,
        chunk: &[u8],
        count: usize,
        buffers: &mut [[u8; CHUNK.usual() * 8]; 2],
    ) -> [u32; 2] {
        let [first, second] = buffers;
        let surveyed = match self.stages.as_slice() {
            [] => chunk,
            [only] => {
                let held = &mut first[..count * only.bytes_out()];
                only.run(self.level, chunk, Target::Near(held));
                held
            }
            [one, two] => {
                let (held, surveyed) = (
                    &mut first[..count * one.bytes_out()],
                    &mut second[..count * two.bytes_out()],
                );
                one.run(self.level, chunk, Target::Near(held));
                two.run(self.level, held, Target::Near(surveyed));
                surveyed
            }
            _ => unreachable!("there are two stages at most"),
        };
        self.level.run_available(Count {
            watch: &self.watch,
            elements: surveyed,
        })
    }
}

/// A table of flags instead of results.
fn flags(cast: &Cast) -> Table {
    Table::of_bytes(
        |code| match convert_element(cast, code & packed::mask(cast.from.bits())).1 {
            Verdict::Defined => 0,
            Verdict::Undefined(_) => 1,
            Verdict::Contested(_) => 2,
        },
    )
}

/// The undefined and contested ranges of floats, for positive and for negative numbers.
struct Ranges {
    /// Magnitudes below this.
    below: [u64; 2],
    /// Magnitudes from the first to the second.
    between: [(u64, u64); 2],
    /// Whether those are contested rather than undefined.
    contested: bool,
    /// Whether, outside the ranges, fractions are contested.
    fractions: bool,
}

impl Ranges {
    /// The ranges of a cast to `cast.to` from a float type that represents `cast.from` exactly or
    /// rounded to odd.
    fn new(lane: DType, cast: &Cast) -> Ranges {
        let format = Format::of(lane).expect("lanes are floats");
        let fractions =
            cast.to.bits() < 8 && matches!(cast.to.class(), Class::Signed | Class::Unsigned);
        let verdict = |bits: u64| {
            convert_element(
                &Cast {
                    from: lane,
                    ..*cast
                },
                bits,
            )
            .1
        };
        let (infinity, nan) = (format.infinity(), format.nan().expect("lanes have NaNs"));
        let contested = !fractions
            && [infinity, nan]
                .into_iter()
                .any(|code| matches!(verdict(code), Verdict::Contested(_)));
        let signs = [0, format.sign_bit()].map(|sign| {
            let flagged = |magnitude: u64| match verdict(magnitude | sign) {
                Verdict::Defined => false,
                Verdict::Undefined(_) => true,
                Verdict::Contested(_) => !fractions,
            };
            let one = (format.bias as u64) << format.mantissa_bits;
            let below = match (flagged(0), flagged(one)) {
                (true, false) => first_where(0, one, |magnitude| !flagged(magnitude)),
                _ => 0,
            };
            let start = match (flagged(0), flagged(one), flagged(infinity)) {
                (true, true, _) => 0,
                (_, false, true) => first_where(one, infinity, flagged),
                (false, true, true) => first_where(0, one, flagged),
                (_, _, false) => infinity + 1,
            };
            (
                below,
                (
                    start,
                    if flagged(nan) {
                        format.sign_bit() - 1
                    } else {
                        infinity
                    },
                ),
            )
        });
        Ranges {
            below: signs.map(|sign| sign.0),
            between: signs.map(|sign| sign.1),
            contested,
            fractions,
        }
    }

    fn counts(&self, flagged: u32, fractions: u32) -> [u32; 2] {
        if self.contested {
            [0, flagged]
        } else {
            [flagged, fractions]
        }
    }
}

/// The first number after `low` from which a monotonic condition holds up to `high`.
fn first_where(low: u64, high: u64, condition: impl Fn(u64) -> bool) -> u64 {
    let (mut without, mut with) = (low, high);
    while with - without > 1 {
        let middle = without.midpoint(with);
        if condition(middle) {
            with = middle
        } else {
            without = middle
        }
    }
    with
}

/// Counts the undefined and the contested elements of a chunk.
struct Count<'a> {
    watch: &'a Watch,
    elements: &'a [u8],
}

impl Kernel for Count<'_> {
    type Output = [u32; 2];

    #[inline(always)]
    fn run<F: Features>(self) -> [u32; 2] {
        /// Counts floats of one width.
        macro_rules! count {
            ($ranges:ident, $float:ident, $bits:ident) => {{
                let below = $ranges.below.map(|bits| bits as $bits);
                let from = $ranges.between.map(|range| range.0 as $bits);
                let to = $ranges.between.map(|range| range.1 as $bits);
                let is_flagged = |bits: $bits| {
                    let (magnitude, sign) =
                        (bits & $bits::MAX >> 1, bits >> ($bits::BITS - 1) == 1);
                    let pick = |pair: [$bits; 2]| if sign { pair[1] } else { pair[0] };
                    magnitude < pick(below) || (magnitude >= pick(from) && magnitude <= pick(to))
                };
                if $ranges.fractions {
                    let counts = lanes(self.elements).fold(
                        [0, 0],
                        |[flagged, fractions]: [$bits; 2], bits: $bits| {
                            let (number, is_flagged) = ($float::from_bits(bits), is_flagged(bits));
                            let is_fraction = !is_flagged && number.trunc() != number;
                            [
                                flagged + $bits::from(is_flagged),
                                fractions + $bits::from(is_fraction),
                            ]
                        },
                    );
                    $ranges.counts(counts[0] as u32, counts[1] as u32)
                } else {
                    let flagged: $bits = lanes(self.elements)
                        .map(|bits: $bits| $bits::from(is_flagged(bits)))
                        .sum();
                    $ranges.counts(flagged as u32, 0)
                }
            }};
        }
        match self.watch {
            Watch::Flags => [1, 2].map(|flag| {
                self.elements
                    .iter()
                    .map(|&byte| u32::from(byte == flag))
                    .sum()
            }),
            Watch::Singles(ranges) => count!(ranges, f32, u32),
            Watch::Doubles(ranges) => count!(ranges, f64, u64),
        }
    }
}
