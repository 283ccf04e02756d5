//! Blocks of elements, which are compared together before they are compared one by one.

/// Sources, and what is found as their results.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'b> {
    pub source: &'b [u8],
    pub found: &'b [u8],
    /// The bytes of an element of the source, and of a result.
    pub widths: (usize, usize),
    /// The number of elements of a block; the last one may have fewer.
    pub length: usize,
}

/// The number of leading blocks that are shown to be right. What follows need not be wrong.
pub(super) type LeadingShown = Box<dyn Fn(Blocks) -> usize + Send + Sync>;

impl<'b> Blocks<'b> {
    /// The elements without those of leading blocks.
    pub fn after(self, blocks: usize) -> Blocks<'b> {
        let [source, found] = self.bytes_of(blocks);
        Blocks {
            source: self.source.get(source..).unwrap_or_default(),
            found: self.found.get(found..).unwrap_or_default(),
            ..self
        }
    }

    /// The first block, if there is one.
    #[inline(always)]
    pub fn first(self) -> Option<(&'b [u8], &'b [u8])> {
        let [source, found] = self.bytes_of(1);
        (!self.source.is_empty()).then(|| {
            (
                &self.source[..source.min(self.source.len())],
                &self.found[..found.min(self.found.len())],
            )
        })
    }

    /// The number of leading blocks for which a condition holds.
    #[inline(always)]
    pub fn leading(self, holds: impl Fn(&[u8], &[u8]) -> bool) -> usize {
        let [source, found] = self.bytes_of(1);
        let blocks = self.source.chunks(source).zip(self.found.chunks(found));
        let mut count = 0;
        for (source, found) in blocks {
            if !holds(source, found) {
                break;
            }
            count += 1;
        }
        count
    }

    /// The bytes of blocks of the source, and of what is found.
    #[inline(always)]
    fn bytes_of(self, blocks: usize) -> [usize; 2] {
        let (from, to) = self.widths;
        [from, to].map(|width| blocks * self.length * width)
    }
}
