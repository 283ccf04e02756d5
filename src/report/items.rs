//! Text for each item of a list, made on all cores.

use std::io;

use crate::base::parallel;
use crate::base::printable::{Put, Shown};
use crate::base::threshold::Threshold;

/// The number of items per job of a thread.
const PART: Threshold = Threshold::new("part of printed items", 256);
/// The number of items whose texts exist at the same time.
const BATCH: Threshold = Threshold::new("batch of printed items", 16 * PART.usual());

/// Passes on what `write` adds for each item, in order.
pub fn put_all<T: Sync>(
    items: &[T],
    put: &mut Put,
    write: impl Fn(&mut Shown, &T) + Sync,
) -> io::Result<()> {
    let texts = |batch: &[T]| {
        let parts: Vec<&[T]> = batch.chunks(PART.get()).collect();
        parallel::map(&parts, |part| {
            let mut text = Shown::default();
            part.iter().for_each(|item| write(&mut text, item));
            text
        })
    };
    // The texts of a batch are written while those of the next one are made.
    let mut ready = Vec::new();
    for batch in items.chunks(BATCH.get()) {
        let (written, next) =
            parallel::join_here(|| ready.iter().try_for_each(&mut *put), || texts(batch));
        written?;
        ready = next;
    }
    ready.iter().try_for_each(put)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::printable::Parts;

    #[test]
    fn every_item_is_written_once_and_in_order() {
        for count in [0, 1, PART.usual(), BATCH.usual() + PART.usual() + 1] {
            let items: Vec<usize> = (0..count).collect();
            let parts = Parts::new(|put| {
                put_all(&items, put, |text, item| {
                    text.push_line(format_args!("{item}"))
                })
            });
            let mut written = Vec::new();
            parts.write_plain(&mut written).unwrap();
            let expected: String = items.iter().map(|item| format!("{item}\n")).collect();
            assert!(written == expected.as_bytes(), "{count} items");
        }
    }
}
