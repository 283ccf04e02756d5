//! Opsets on the command line.

use crate::LATEST_OPSET;

/// Reads `21`, `v21`, `opset21` or `latest`.
pub fn parse_opset(text: &str) -> Result<i64, String> {
    let lower = text.trim().to_ascii_lowercase();
    if lower == "latest" {
        return Ok(LATEST_OPSET);
    }
    let mut digits = lower.as_str();
    for prefix in ["ai.onnx", ":", "opset", "-", "_", "v"] {
        // The sign of `-3` is part of the number.
        if digits.len() < lower.len() || prefix != "-" {
            digits = digits.strip_prefix(prefix).unwrap_or(digits);
        }
    }
    match digits.parse::<i64>() {
        Ok(opset) if (1..=LATEST_OPSET).contains(&opset) => Ok(opset),
        Ok(opset) => Err(format!(
            "there is no opset {opset}; expected 1 to {LATEST_OPSET}, or latest"
        )),
        Err(_) => Err(format!(
            "not an opset; expected 1 to {LATEST_OPSET}, or latest"
        )),
    }
}

/// As [`parse_opset`], for a cast.
pub fn parse_cast_opset(text: &str) -> Result<u32, String> {
    parse_opset(text).map(|opset| u32::try_from(opset).expect("opsets are few"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_spellings_of_opsets_are_accepted() {
        let accepted = [
            ("1", 1),
            ("21", 21),
            ("v21", 21),
            ("opset21", 21),
            ("Opset-13", 13),
            ("opset_v7", 7),
            ("ai.onnx:18", 18),
            ("latest", LATEST_OPSET),
        ];
        for (text, opset) in accepted {
            assert_eq!(parse_opset(text), Ok(opset), "{text}");
        }
        for text in [
            "",
            "0",
            "-3",
            "29",
            "21.0",
            "newest",
            "opset",
            "v",
            "99999999999999999999",
        ] {
            assert!(parse_opset(text).is_err(), "{text}");
        }
    }
}
