//! Taking a blob's old content and staged blocks out of use, inside the commit that replaces them.
//!
//! Must never do more work for a large blob than for a small one: what cannot be deleted on the spot
//! is named in an intent, and the background frees it when no reader is left.

use super::keys::Keys;
use super::records::{Content, Intent, Record, Retired, Shape, Staging};
use zaffre_base::BlobName;
use zaffre_store::{Interrupt, Tx};

/// Whether a commit left work for the background.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LeftOver {
    Nothing,
    Work,
}

/// Retires `content` and the staging area in favour of `successor`.
pub(crate) fn retire(
    tx: &mut Tx<'_>,
    keys: Keys,
    blob: &BlobName,
    content: Option<Content>,
    staging: Option<&Staging>,
    successor: Option<Content>,
) -> Result<LeftOver, Interrupt> {
    let content = match content {
        // Readers of inline bytes take them from the snapshot that showed them the head.
        Some(Content { id, shape: Shape::Inline, .. }) => {
            tx.delete(&keys.inline(id))?;
            None
        }
        other => other.filter(|content| content.shape != Shape::Empty),
    };
    if staging.is_some() {
        tx.delete(&keys.staging(blob))?;
    }
    if content.is_none() && staging.is_none() {
        return Ok(LeftOver::Nothing);
    }
    let intent = Intent::Retired(Retired {
        blob: blob.as_str().to_owned(),
        content,
        staging: staging.map(|staging| staging.id),
        successor: successor.filter(|content| matches!(content.shape, Shape::Blocks { .. })),
    });
    intent.store(tx, &keys.intent(tx.stamp()))?;
    Ok(LeftOver::Work)
}
