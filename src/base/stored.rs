//! Bytes in memory, in a mapped file, or in a file that cannot be mapped and is read in ranges.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::ops::Range;
use std::panic::RefUnwindSafe;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::threshold::Threshold;

/// The number of bytes that are read at a time to be compared or hashed.
const CHUNK: Threshold = Threshold::new("chunk of stored bytes", 1 << 20);

/// A file that cannot be mapped, such as a file of a browser: its ranges are read when they are
/// needed.
pub trait ReadAt: Any + fmt::Debug + Send + Sync + RefUnwindSafe {
    /// The length of the file in bytes, which does not change.
    fn bytes(&self) -> u64;

    /// Reads all of `out` from an offset. `out` ends at the end of the file at the latest.
    ///
    /// # Errors
    /// If the range cannot be read.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
}

/// A run of bytes. Clones share them.
#[derive(Clone, Debug)]
pub struct Stored(StoredPlace);

#[derive(Clone, Debug)]
enum StoredPlace {
    /// In memory, or in a mapped file.
    Memory(Bytes),
    File(Arc<RangedFile>, Range<u64>),
}

#[derive(Debug)]
struct RangedFile {
    source: Box<dyn ReadAt>,
    /// Why a range could not be read.
    failure: OnceLock<String>,
}

impl Stored {
    /// All bytes of a file that is read in ranges.
    #[must_use]
    pub fn of_file(source: impl ReadAt) -> Stored {
        let range = 0..source.bytes();
        Stored(StoredPlace::File(
            Arc::new(RangedFile {
                source: Box::new(source),
                failure: OnceLock::new(),
            }),
            range,
        ))
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            StoredPlace::Memory(bytes) => bytes.len() as u64,
            StoredPlace::File(_, range) => range.end - range.start,
        }
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of the bytes, which is not read.
    ///
    /// # Panics
    /// If it begins or ends outside of them.
    #[must_use]
    pub fn slice(&self, part: Range<u64>) -> Stored {
        assert!(
            part.start <= part.end && part.end <= self.len(),
            "{part:?} is not a part of {} bytes",
            self.len()
        );
        Stored(match &self.0 {
            StoredPlace::Memory(bytes) => {
                StoredPlace::Memory(bytes.slice(part.start as usize..part.end as usize))
            }
            StoredPlace::File(file, range) => StoredPlace::File(
                Arc::clone(file),
                range.start + part.start..range.start + part.end,
            ),
        })
    }

    /// The bytes of a part: shared if they are in memory, read otherwise.
    ///
    /// # Panics
    /// If it begins or ends outside of them.
    #[must_use]
    pub fn part(&self, part: Range<u64>) -> Bytes {
        self.slice(part).to_bytes()
    }

    /// All bytes: shared if they are in memory, read otherwise. Bytes that cannot be read are zero,
    /// see [`Stored::failure`].
    ///
    /// # Panics
    /// If they exceed the address space, which tensors do not.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        match &self.0 {
            StoredPlace::Memory(bytes) => bytes.clone(),
            StoredPlace::File(..) => {
                let mut bytes = vec![
                    0;
                    usize::try_from(self.len())
                        .expect("what is read at once fits into memory")
                ];
                self.read(0, &mut bytes);
                bytes.into()
            }
        }
    }

    /// All bytes: shared if they are in memory, read otherwise.
    ///
    /// # Errors
    /// If they cannot be read, or exceed the address space.
    pub fn try_to_bytes(&self) -> io::Result<Bytes> {
        if usize::try_from(self.len()).is_err() {
            let what = format!(
                "has {} bytes, more than can be read into memory here",
                self.len()
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        let bytes = self.to_bytes();
        self.failure().map_or(Ok(bytes), Err)
    }

    /// Copies or reads the bytes from an offset into all of `out`. Bytes that cannot be read are
    /// zero, see [`Stored::failure`].
    ///
    /// # Panics
    /// If there are fewer bytes.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        match &self.0 {
            StoredPlace::Memory(bytes) => {
                out.copy_from_slice(&bytes[offset as usize..][..out.len()])
            }
            StoredPlace::File(file, range) => {
                let offset = range.start + offset;
                assert!(
                    offset + out.len() as u64 <= range.end,
                    "the bytes end before {}",
                    offset + out.len() as u64
                );
                if let Err(error) = file.source.read_at(offset, out) {
                    out.fill(0);
                    file.failure.get_or_init(|| error.to_string());
                }
            }
        }
    }

    /// The error of the first failed read of the file, if any. Results computed from the file are
    /// then wrong; discard them.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        match &self.0 {
            StoredPlace::Memory(_) => None,
            StoredPlace::File(file, _) => file
                .failure
                .get()
                .map(|error| io::Error::other(error.as_str())),
        }
    }

    /// The bytes, if they are in memory or in a mapped file.
    #[must_use]
    pub(crate) fn in_memory(&self) -> Option<&Bytes> {
        match &self.0 {
            StoredPlace::Memory(bytes) => Some(bytes),
            StoredPlace::File(..) => None,
        }
    }

    /// The file that is read in ranges, and the range that these bytes are.
    #[must_use]
    pub fn in_file(&self) -> Option<(&dyn ReadAt, Range<u64>)> {
        match &self.0 {
            StoredPlace::Memory(_) => None,
            StoredPlace::File(file, range) => Some((&*file.source, range.clone())),
        }
    }

    /// Where the bytes begin: 0 and an address, or a number of the file and an offset in it.
    pub(crate) fn place(&self) -> (usize, u64) {
        match &self.0 {
            StoredPlace::Memory(bytes) => (0, bytes.as_ptr().addr() as u64),
            StoredPlace::File(file, range) => (Arc::as_ptr(file).addr(), range.start),
        }
    }

    /// Whether these are the same bytes, which is more than equal ones.
    pub(crate) fn is_same(&self, other: &Stored) -> bool {
        self.place() == other.place() && self.len() == other.len()
    }

    /// Whether some bytes are a part of these: not equal, but at the same place.
    pub(crate) fn surrounds(&self, part: &Stored) -> bool {
        let ((place, start), (place_of_part, start_of_part)) = (self.place(), part.place());
        place == place_of_part
            && start <= start_of_part
            && start_of_part + part.len() <= start + self.len()
    }

    fn chunks(&self) -> impl Iterator<Item = Bytes> {
        let chunk = CHUNK.get();
        (0..self.len())
            .step_by(chunk)
            .map(move |start| self.part(start..self.len().min(start + chunk as u64)))
    }
}

impl From<Bytes> for Stored {
    fn from(bytes: Bytes) -> Stored {
        Stored(StoredPlace::Memory(bytes))
    }
}

impl From<Vec<u8>> for Stored {
    fn from(bytes: Vec<u8>) -> Stored {
        Bytes::from(bytes).into()
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Stored) -> bool {
        self.is_same(other) || (self.len() == other.len() && self.chunks().eq(other.chunks()))
    }
}

impl Eq for Stored {}

impl Hash for Stored {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.chunks().for_each(|chunk| chunk.hash(state));
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use super::*;

    /// The numbers of the bytes; beyond `readable`, nothing can be read.
    #[derive(Debug)]
    struct Numbered {
        bytes: u64,
        readable: u64,
    }

    impl ReadAt for Numbered {
        fn bytes(&self) -> u64 {
            self.bytes
        }

        fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            if offset + out.len() as u64 > self.readable {
                return Err(io::Error::other("has changed"));
            }
            out.iter_mut()
                .zip(offset..)
                .for_each(|(out, number)| *out = number as u8);
            Ok(())
        }
    }

    fn file(bytes: u64) -> Stored {
        Stored::of_file(Numbered {
            bytes,
            readable: bytes,
        })
    }

    fn memory(bytes: u64) -> Stored {
        (0..bytes)
            .map(|number| number as u8)
            .collect::<Vec<u8>>()
            .into()
    }

    #[test]
    fn a_file_that_is_read_in_ranges_has_the_bytes_of_one_in_memory() {
        let chunk = CHUNK.usual() as u64;
        let long = 2 * chunk + 100;
        let (file, memory, hasher) = (file(long), memory(long), RandomState::new());
        assert!(file == memory && hasher.hash_one(&file) == hasher.hash_one(&memory));
        let (part, in_memory) = (file.slice(7..chunk + 300), memory.slice(7..chunk + 300));
        assert_eq!((part.len(), &part), (chunk + 293, &in_memory));
        assert_eq!(part.part(3..9), in_memory.part(3..9));
        let (mut read, mut copied) = ([0; 40], [0; 40]);
        part.slice(50..200).read(9, &mut read);
        in_memory.slice(50..200).read(9, &mut copied);
        assert_eq!(read, copied);
        assert!(
            file.surrounds(&part)
                && !part.surrounds(&file)
                && !memory.surrounds(&part)
                && memory.surrounds(&in_memory)
        );
        assert!(
            file != file.slice(0..long - 1)
                && part != file.slice(8..chunk + 301)
                && file.slice(5..5).is_empty()
        );
    }

    #[test]
    fn what_cannot_be_read_is_known_for_all_parts() {
        let file = Stored::of_file(Numbered {
            bytes: 20,
            readable: 10,
        });
        assert_eq!(file.slice(0..10).try_to_bytes().unwrap().len(), 10);
        let part = file.slice(5..15);
        assert_eq!(part.to_bytes(), vec![0; 10]);
        for stored in [&file, &part, &file.slice(0..1)] {
            assert_eq!(stored.failure().unwrap().to_string(), "has changed");
            assert!(stored.try_to_bytes().is_err());
        }
    }
}
