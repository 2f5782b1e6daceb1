//! Who reads a sparse content as of which commit: to the layers, a reader is a snapshot that ends.
//!
//! Must never be entered after the pin that covers everything was let go: whoever takes layers away
//! looks at those pins first and at these after.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zaffre_base::{ContentId, Stamp};
use zaffre_store::Placement;

type Counts = BTreeMap<(Placement, ContentId), BTreeMap<Stamp, usize>>;

/// The readers of all sparse contents. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Readers(Arc<Mutex<Counts>>);

/// One reader, until it is dropped.
pub(crate) struct ReaderGuard {
    readers: Readers,
    content: (Placement, ContentId),
    as_of: Stamp,
}

impl Readers {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a reader.
    #[must_use = "dropping the guard ends the reading"]
    pub(crate) fn enter(&self, at: &Placement, content: ContentId, as_of: Stamp) -> ReaderGuard {
        let content = (at.clone(), content);
        *self.counts().entry(content.clone()).or_default().entry(as_of).or_default() += 1;
        ReaderGuard { readers: self.clone(), content, as_of }
    }

    /// As of which commits a content is being read.
    pub(super) fn of(&self, at: &Placement, content: ContentId) -> Vec<Stamp> {
        let key = (at.clone(), content);
        self.counts().get(&key).map(|stamps| stamps.keys().copied().collect()).unwrap_or_default()
    }
}

impl ReaderGuard {
    /// The commit whose state is read.
    pub(crate) fn as_of(&self) -> Stamp {
        self.as_of
    }
}

impl Drop for ReaderGuard {
    fn drop(&mut self) {
        let mut counts = self.readers.counts();
        let Some(stamps) = counts.get_mut(&self.content) else { return };
        if let Some(count) = stamps.get_mut(&self.as_of) {
            *count -= 1;
            if *count == 0 {
                stamps.remove(&self.as_of);
            }
        }
        if stamps.is_empty() {
            counts.remove(&self.content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_counted() {
        let readers = Readers::default();
        let at = Placement::new(&b"p"[..]);
        let enter = |as_of| readers.enter(&at, ContentId(1), Stamp(as_of));
        let (first, second, other) = (enter(5), enter(5), enter(9));
        assert_eq!(readers.of(&at, ContentId(1)), [Stamp(5), Stamp(9)]);
        assert!(readers.of(&at, ContentId(2)).is_empty());
        drop((first, other));
        assert_eq!(readers.of(&at, ContentId(1)), [Stamp(5)]);
        drop(second);
        assert!(readers.of(&at, ContentId(1)).is_empty());
    }
}
