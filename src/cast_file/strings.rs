//! Strings as numpy stores them: all of the same length, the shorter ones filled with zeros.

use bytes::Bytes;

use super::elements::Failure;

/// Reads strings of so many characters of four bytes.
pub(super) fn from_wide(data: &[u8], characters: usize) -> Result<Vec<Bytes>, Failure> {
    let read = |(index, item): (usize, &[u8])| {
        let codes = item.as_chunks::<4>().0.iter().map(|&code| u32::from_le_bytes(code));
        let text: Option<String> = codes.map(char::from_u32).collect();
        let text = text.ok_or_else(|| Failure(format!("has an element that is no text, at index {index}")))?;
        Ok(Bytes::from(text.trim_end_matches('\0').to_owned()))
    };
    data.chunks_exact(characters * 4).enumerate().map(read).collect()
}

/// Reads strings of so many bytes.
pub(super) fn from_narrow(data: &Bytes, bytes: usize) -> Vec<Bytes> {
    let end = |item: &[u8]| item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    data.chunks_exact(bytes).map(|item| data.slice_ref(&item[..end(item)])).collect()
}

/// The longest string's characters, and the strings filled up to it.
pub(super) fn to_wide(strings: &[Bytes]) -> Result<(usize, Vec<u8>), Failure> {
    let read = |(index, string): (usize, &Bytes)| {
        let text =
            std::str::from_utf8(string).map_err(|_| Failure(format!("has an element that is not UTF-8, at index {index}")))?;
        Ok(text.chars().collect::<Vec<char>>())
    };
    let texts = strings.iter().enumerate().map(read).collect::<Result<Vec<Vec<char>>, Failure>>()?;
    let characters = texts.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut wide = Vec::with_capacity(texts.len() * characters * 4);
    for (place, text) in texts.iter().enumerate() {
        wide.extend(text.iter().flat_map(|&character| u32::from(character).to_le_bytes()));
        wide.resize((place + 1) * characters * 4, 0);
    }
    Ok((characters, wide))
}
