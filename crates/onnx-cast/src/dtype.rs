//! The element types of ONNX tensors: one row each, the single source of all properties of a type.
//!
//! Source: `TensorProto.DataType` (names, numbers), the `Cast` schema history (`cast_since`),
//! ONNX's IR changelog (`ir`).

use std::fmt;
use std::str::FromStr;

/// The class of an element type: the interpretation of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Zero or one, in one byte.
    Bool,
    /// Two's complement.
    Signed,
    /// Unsigned binary.
    Unsigned,
    /// Sign, exponent, mantissa: see [`Format`](crate::float_format::Format).
    Float,
    /// UTF-8 bytes of any length.
    String,
    /// Two floats; not supported by `Cast`.
    Complex,
}

macro_rules! dtypes {
    ($($variant:ident $name:literal = $number:literal, $bits:literal bits, $class:ident, cast $cast:literal, ir $ir:literal;)*) => {
        /// An element type of ONNX.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType {
            $(#[doc = concat!("`", $name, "`")] $variant = $number,)*
        }

        impl DType {
            /// All types, ordered by number.
            pub const ALL: &[DType] = &[$(DType::$variant),*];

            /// The type with this number in `TensorProto.DataType`.
            #[must_use]
            pub fn from_number(number: i32) -> Option<DType> {
                match number { $($number => Some(DType::$variant),)* _ => None }
            }

            /// The type with this ONNX name, in any letter case.
            #[must_use]
            pub fn from_name(name: &str) -> Option<DType> {
                DType::ALL.iter().copied().find(|dtype| dtype.name().eq_ignore_ascii_case(name))
            }

            /// The ONNX name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }

            /// Bits of one element in `raw_data`; zero for strings, whose elements have no fixed
            /// size.
            #[must_use]
            pub const fn bits(self) -> usize {
                match self { $(DType::$variant => $bits,)* }
            }

            /// The interpretation of the bits.
            #[must_use]
            pub const fn class(self) -> Class {
                match self { $(DType::$variant => Class::$class,)* }
            }

            /// The first version of `Cast` that supports the type; `None` for complex numbers.
            #[must_use]
            pub const fn cast_since(self) -> Option<u32> {
                match self { $(DType::$variant => if $cast == 0 { None } else { Some($cast) },)* }
            }

            /// The first IR version whose `TensorProto` has the type.
            #[must_use]
            pub const fn ir_since(self) -> i64 {
                match self { $(DType::$variant => $ir,)* }
            }
        }
    };
}

dtypes! {
    Float          "FLOAT"          =  1, 32 bits, Float,    cast  1, ir  1;
    Uint8          "UINT8"          =  2,  8 bits, Unsigned, cast  1, ir  1;
    Int8           "INT8"           =  3,  8 bits, Signed,   cast  1, ir  1;
    Uint16         "UINT16"         =  4, 16 bits, Unsigned, cast  1, ir  1;
    Int16          "INT16"          =  5, 16 bits, Signed,   cast  1, ir  1;
    Int32          "INT32"          =  6, 32 bits, Signed,   cast  1, ir  1;
    Int64          "INT64"          =  7, 64 bits, Signed,   cast  1, ir  1;
    String         "STRING"         =  8,  0 bits, String,   cast  9, ir  1;
    Bool           "BOOL"           =  9,  8 bits, Bool,     cast  1, ir  1;
    Float16        "FLOAT16"        = 10, 16 bits, Float,    cast  1, ir  1;
    Double         "DOUBLE"         = 11, 64 bits, Float,    cast  1, ir  1;
    Uint32         "UINT32"         = 12, 32 bits, Unsigned, cast  1, ir  1;
    Uint64         "UINT64"         = 13, 64 bits, Unsigned, cast  1, ir  1;
    Complex64      "COMPLEX64"      = 14, 64 bits, Complex,  cast  0, ir  1;
    Complex128     "COMPLEX128"     = 15, 128 bits, Complex, cast  0, ir  1;
    Bfloat16       "BFLOAT16"       = 16, 16 bits, Float,    cast 13, ir  4;
    Float8E4M3Fn   "FLOAT8E4M3FN"   = 17,  8 bits, Float,    cast 19, ir  9;
    Float8E4M3Fnuz "FLOAT8E4M3FNUZ" = 18,  8 bits, Float,    cast 19, ir  9;
    Float8E5M2     "FLOAT8E5M2"     = 19,  8 bits, Float,    cast 19, ir  9;
    Float8E5M2Fnuz "FLOAT8E5M2FNUZ" = 20,  8 bits, Float,    cast 19, ir  9;
    Uint4          "UINT4"          = 21,  4 bits, Unsigned, cast 21, ir 10;
    Int4           "INT4"           = 22,  4 bits, Signed,   cast 21, ir 10;
    Float4E2M1     "FLOAT4E2M1"     = 23,  4 bits, Float,    cast 23, ir 11;
    Float8E8M0     "FLOAT8E8M0"     = 24,  8 bits, Float,    cast 24, ir 12;
    Uint2          "UINT2"          = 25,  2 bits, Unsigned, cast 25, ir 13;
    Int2           "INT2"           = 26,  2 bits, Signed,   cast 25, ir 13;
    Float6E2M3     "FLOAT6E2M3"     = 27,  6 bits, Float,    cast 28, ir 14;
    Float6E3M2     "FLOAT6E3M2"     = 28,  6 bits, Float,    cast 28, ir 14;
}

impl DType {
    /// The number in `TensorProto.DataType`.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Whether this is one of the four float8 types of opset 19: every 8-bit float except
    /// FLOAT8E8M0.
    #[must_use]
    pub const fn is_float8(self) -> bool {
        matches!(
            self,
            DType::Float8E4M3Fn | DType::Float8E4M3Fnuz | DType::Float8E5M2 | DType::Float8E5M2Fnuz
        )
    }

    /// Whether `saturate` has an effect on casts to this type: to the four float8 types, and to
    /// FLOAT8E8M0 (`Cast-24`).
    #[must_use]
    pub const fn obeys_saturate(self) -> bool {
        self.is_float8() || matches!(self, DType::Float8E8M0)
    }

    /// Like [`DType::raw_bytes`], as a `usize`; `None` if it overflows.
    #[must_use]
    pub fn addressable_bytes(self, elements: u64) -> Option<usize> {
        usize::try_from(self.raw_bytes(elements)?).ok()
    }

    /// The size of `elements` elements in `raw_data`: elements of 2, 4 and 6 bits are packed, the
    /// last byte is padded with zeros. `None` for strings, and if the product overflows.
    #[must_use]
    pub fn raw_bytes(self, elements: u64) -> Option<u64> {
        match self.bits() {
            0 => None,
            bits if bits % 8 == 0 => elements.checked_mul(bits as u64 / 8),
            bits => {
                let (groups, left) = (elements / 8, elements % 8);
                groups
                    .checked_mul(bits as u64)?
                    .checked_add((left * bits as u64).div_ceil(8))
            }
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for DType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The name is not one of ONNX's element types.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not an ONNX element type; {hint}", hint = hint(.0))]
pub struct UnknownType(pub String);

/// Names of the types in other software, in lower case and without `_` and `-`.
const OTHER_NAMES: &[(DType, &[&str])] = &[
    (DType::Float, &["float32", "fp32", "f32", "single"]),
    (DType::Double, &["float64", "fp64", "f64"]),
    (DType::Float16, &["fp16", "f16", "half"]),
    (DType::Bfloat16, &["bf16", "brain"]),
    (
        DType::Float8E4M3Fn,
        &[
            "fp8",
            "float8",
            "f8",
            "e4m3",
            "e4m3fn",
            "fp8e4m3",
            "fp8e4m3fn",
            "f8e4m3fn",
            "float8e4m3",
            "f8e4m3",
        ],
    ),
    (
        DType::Float8E4M3Fnuz,
        &["e4m3fnuz", "fp8e4m3fnuz", "f8e4m3fnuz"],
    ),
    (DType::Float8E5M2, &["e5m2", "fp8e5m2", "f8e5m2"]),
    (
        DType::Float8E5M2Fnuz,
        &["e5m2fnuz", "fp8e5m2fnuz", "f8e5m2fnuz"],
    ),
    (
        DType::Float8E8M0,
        &[
            "e8m0",
            "e8m0fnu",
            "fp8e8m0",
            "fp8e8m0fnu",
            "f8e8m0fnu",
            "float8e8m0fnu",
        ],
    ),
    (
        DType::Float6E2M3,
        &["fp6", "float6", "e2m3", "e2m3fn", "fp6e2m3", "float6e2m3fn"],
    ),
    (
        DType::Float6E3M2,
        &["e3m2", "e3m2fn", "fp6e3m2", "float6e3m2fn"],
    ),
    (
        DType::Float4E2M1,
        &[
            "fp4",
            "float4",
            "e2m1",
            "e2m1fn",
            "fp4e2m1",
            "float4e2m1fn",
            "float4e2m1fnx2",
        ],
    ),
    (DType::Int8, &["i8", "s8", "char", "qint8"]),
    (DType::Uint8, &["u8", "byte", "uchar", "quint8"]),
    (DType::Int16, &["i16", "s16", "short"]),
    (DType::Uint16, &["u16", "ushort"]),
    (DType::Int32, &["i32", "s32", "int", "qint32"]),
    (DType::Uint32, &["u32", "uint"]),
    (DType::Int64, &["i64", "s64", "long"]),
    (DType::Uint64, &["u64", "ulong"]),
    (DType::Int4, &["i4", "s4"]),
    (DType::Uint4, &["u4"]),
    (DType::Int2, &["i2", "s2"]),
    (DType::Uint2, &["u2"]),
    (DType::Bool, &["boolean", "i1", "bit"]),
    (DType::String, &["str", "text", "object"]),
    (DType::Complex64, &["c64", "cfloat"]),
    (DType::Complex128, &["c128", "cdouble", "complex"]),
];

/// The hint for an unknown name: the ONNX type that it names in other software, or examples.
fn hint(name: &str) -> String {
    match meant(name) {
        Some(dtype) => format!("did you mean {dtype}?"),
        None => "examples: FLOAT16, FLOAT8E4M3FN, INT4".to_owned(),
    }
}

fn meant(name: &str) -> Option<DType> {
    let unqualified = name.rsplit(['.', ':']).next().unwrap_or(name);
    let plain = unqualified.replace(['_', '-', ' '], "").to_lowercase();
    let number = plain.parse().ok().and_then(DType::from_number);
    let by_other_name = || {
        OTHER_NAMES
            .iter()
            .find(|(_, names)| names.contains(&plain.as_str()))
            .map(|&(dtype, _)| dtype)
    };
    number
        .or_else(|| DType::from_name(&plain))
        .or_else(by_other_name)
}

impl FromStr for DType {
    type Err = UnknownType;

    /// Parses an ONNX name, ignoring case.
    fn from_str(name: &str) -> Result<DType, UnknownType> {
        DType::from_name(name).ok_or_else(|| UnknownType(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_round_trip() {
        for (index, &dtype) in DType::ALL.iter().enumerate() {
            assert_eq!(
                dtype.number(),
                i32::try_from(index).unwrap() + 1,
                "{dtype} is out of order"
            );
            assert_eq!(DType::from_number(dtype.number()), Some(dtype));
            assert_eq!(dtype.name().to_lowercase().parse(), Ok(dtype));
        }
        assert_eq!(DType::from_number(0), None);
        assert_eq!(DType::from_number(29), None);
        assert!("FLOAT7".parse::<DType>().is_err());
    }

    #[test]
    fn names_of_other_software_are_hinted_at() {
        let cases = [
            ("fp16", "FLOAT16"),
            ("half", "FLOAT16"),
            ("f32", "FLOAT"),
            ("torch.float32", "FLOAT"),
            ("bf16", "BFLOAT16"),
            ("e4m3", "FLOAT8E4M3FN"),
            ("float8_e4m3fn", "FLOAT8E4M3FN"),
            ("torch.float8_e5m2fnuz", "FLOAT8E5M2FNUZ"),
            ("TensorProto.INT4", "INT4"),
            ("10", "FLOAT16"),
        ];
        for (name, expected) in cases {
            let message = name.parse::<DType>().unwrap_err().to_string();
            assert_eq!(
                message,
                format!("'{name}' is not an ONNX element type; did you mean {expected}?")
            );
        }
        assert!(
            "float7"
                .parse::<DType>()
                .unwrap_err()
                .to_string()
                .ends_with("; examples: FLOAT16, FLOAT8E4M3FN, INT4")
        );
    }

    #[test]
    fn aliases_are_unique_and_not_onnx_names() {
        let names: Vec<&str> = OTHER_NAMES
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        for (index, name) in names.iter().enumerate() {
            assert!(!names[index + 1..].contains(name), "{name} is a duplicate");
            assert!(name.parse::<DType>().is_err(), "{name} is an ONNX name");
        }
    }

    #[test]
    fn packed_sizes_round_up_to_a_byte() {
        use DType::*;
        for (dtype, elements, bytes) in [
            (Int4, 3, 2),
            (Uint2, 5, 2),
            (Float6E2M3, 3, 3),
            (Float6E3M2, 5, 4),
            (Double, 2, 16),
        ] {
            assert_eq!(
                dtype.raw_bytes(elements),
                Some(bytes),
                "{elements} of {dtype}"
            );
        }
        assert_eq!(
            (Double.raw_bytes(u64::MAX), String.raw_bytes(1)),
            (None, None)
        );
    }
}
