//! Strings in NumPy's layout: fixed length, padded with zeros.

use bytes::Bytes;

use super::array::Failure;

/// Reads UTF-32 strings of this many characters.
pub(super) fn from_wide(data: &[u8], characters: usize) -> Result<Vec<Bytes>, Failure> {
    let read = |(index, item): (usize, &[u8])| {
        let codes = item
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&code| u32::from_le_bytes(code));
        let text: Option<String> = codes.map(char::from_u32).collect();
        let text = text.ok_or_else(|| {
            Failure::new(format!(
                "has an element that is not valid Unicode, at index {index}"
            ))
        })?;
        Ok(Bytes::from(text.trim_end_matches('\0').to_owned()))
    };
    data.chunks_exact(characters * 4)
        .enumerate()
        .map(read)
        .collect()
}

/// Reads strings of this many bytes.
pub(super) fn from_narrow(data: &Bytes, bytes: usize) -> Vec<Bytes> {
    let end = |item: &[u8]| {
        item.iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |last| last + 1)
    };
    data.chunks_exact(bytes)
        .map(|item| data.slice_ref(&item[..end(item)]))
        .collect()
}

/// The limits of padded strings: a total size in bytes, and a multiple of the size of the strings.
const LARGEST: usize = 1 << 28;
const TIMES: usize = 16;

/// The length of the longest string in characters, and the strings padded to it.
pub(super) fn to_wide(strings: &[Bytes]) -> Result<(usize, Vec<u8>), Failure> {
    let texts = (strings.iter().enumerate())
        .map(|(index, string)| {
            // A copy: other programs may change the mapped bytes, and a string must stay UTF-8.
            let text = String::from_utf8(string.to_vec());
            text.map_err(|_| {
                Failure::new(format!(
                    "has an element that is not UTF-8, at index {index}"
                ))
            })
        })
        .collect::<Result<Vec<String>, Failure>>()?;
    let characters = texts
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    let stored: usize = texts.iter().map(|text| text.len() + 1).sum();
    let needed = texts.len() as u128 * characters as u128 * 4;
    if needed > LARGEST.max(stored.saturating_mul(TIMES)) as u128 {
        return Err(Failure::new(format!(
            "has a string of {characters} characters, and a .npy file gives as many to each: it would have {needed} bytes; write a \
             TensorProto"
        )));
    }
    let mut wide = Vec::with_capacity(needed as usize);
    for (place, text) in texts.iter().enumerate() {
        wide.extend(
            text.chars()
                .flat_map(|character| u32::from(character).to_le_bytes()),
        );
        wide.resize((place + 1) * characters * 4, 0);
    }
    Ok((characters, wide))
}
