//! The rows of the Blob service; how rows become bytes is in `crate::records`.

mod container;
mod content;
mod copy;
mod head;
mod history;
mod intent;
mod manifest;
mod staging;

pub(crate) use crate::records::{HeldName, Record, fields};
pub(crate) use container::Container;
pub(crate) use content::{Content, Shape};
pub(crate) use copy::{CopyFrom, CopyState, Elsewhere, Equals, Incremental, Origin, PendingCopy};
pub(crate) use head::{Deleted, Head, StoredProperties};
pub(crate) use history::{Cut, Fate, History, Leftover, PastKind, Sweep};
pub(crate) use intent::{Intent, Retired};
pub(crate) use manifest::{APPENDED_PER_PAGE, BLOCKS_PER_PAGE, Block, Page};
pub(crate) use staging::{StagedBlock, Staging};
