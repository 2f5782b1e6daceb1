//! Page blobs in tests: operations, and a plain model of one blob.

use super::model::Random;
use super::{CONTEXT, World, body, must, path};
use std::ops::Range;
use zaffre_core::Error;
use zaffre_core::blob::op::{
    CreateBlob, ExpectedChecksum, GetPageRanges, NewBlob, PageWrite, PutPage, SetPageProperties,
};
use zaffre_core::blob::reply::{Change, PageReply, PropertiesSet, Written};
use zaffre_core::blob::{self};
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::pages::{SequenceAction, SequenceConditions};
use zaffre_domain::blob::{HttpProperties, Metadata};
use zaffre_domain::conditions::Conditions;

pub const PAGE: u64 = 512;

pub fn create(at: &str, length: u64) -> CreateBlob {
    CreateBlob {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        new: NewBlob::Page { length, sequence_number: 0 },
        properties: HttpProperties::default(),
        metadata: Metadata::new(),
        lease: None,
        conditions: Conditions::default(),
        tier: None,
        protection: Protection::default(),
        tags: std::collections::BTreeMap::default(),
        context: CONTEXT,
    }
}

pub fn write(at: &str, pages: Range<u64>) -> PutPage {
    PutPage {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(at),
        pages,
        write: PageWrite::Update(ExpectedChecksum::default()),
        sequence: SequenceConditions::default(),
        lease: None,
        conditions: Conditions::default(),
    }
}

impl World {
    pub async fn create_pages(&self, at: &str, length: u64) -> Result<Written, Error> {
        blob::create_blob(&self.core, self.ok(create(at, length))).await
    }

    pub async fn write_pages(
        &self,
        at: &str,
        offset: u64,
        bytes: Vec<u8>,
    ) -> Result<PageReply, Error> {
        let end = offset + u64::try_from(bytes.len()).unwrap_or(0);
        self.put_page(write(at, offset..end), bytes).await
    }

    pub async fn put_page(&self, op: PutPage, bytes: Vec<u8>) -> Result<PageReply, Error> {
        blob::put_page(&self.core, self.ok(op), body(bytes)).await
    }

    pub async fn clear_pages(&self, at: &str, pages: Range<u64>) -> Result<PageReply, Error> {
        let op = PutPage { write: PageWrite::Clear, ..write(at, pages) };
        self.put_page(op, Vec::new()).await
    }

    pub async fn resize(&self, at: &str, length: u64) -> Result<PropertiesSet, Error> {
        self.set_pages(at, Some(length), None).await
    }

    pub async fn set_pages(
        &self,
        at: &str,
        length: Option<u64>,
        sequence: Option<SequenceAction>,
    ) -> Result<PropertiesSet, Error> {
        let op = SetPageProperties {
            at: path(at),
            properties: None,
            length,
            sequence,
            lease: None,
            conditions: Conditions::default(),
        };
        blob::set_page_properties(&self.core, self.ok(op)).await
    }

    /// All ranges, gathered page by page.
    pub async fn ranges_with(&self, op: GetPageRanges) -> Result<Vec<(Change, Range<u64>)>, Error> {
        let mut all: Vec<(Change, Range<u64>)> = Vec::new();
        let mut marker = None;
        loop {
            let op = GetPageRanges { marker, ..op.clone() };
            let page = blob::get_page_ranges(&self.core, self.ok(op)).await?;
            all.extend(page.ranges.into_iter().map(|found| (found.change, found.bytes)));
            marker = page.next;
            if marker.is_none() {
                return Ok(all);
            }
        }
    }

    pub async fn ranges(&self, at: &str) -> Result<Vec<Range<u64>>, Error> {
        let found = self.ranges_with(ranges(at)).await?;
        Ok(found.into_iter().map(|(_, bytes)| bytes).collect())
    }
}

pub fn ranges(at: &str) -> GetPageRanges {
    GetPageRanges {
        at: path(at),
        range: None,
        previous: None,
        marker: None,
        max_results: None,
        may_page: true,
        lease: None,
        conditions: Conditions::default(),
        context: CONTEXT,
    }
}

/// A page blob as it should be: its bytes, and which pages are there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pages {
    pub bytes: Vec<u8>,
    present: Vec<bool>,
}

impl Pages {
    pub fn new(length: u64) -> Self {
        let mut new = Self::default();
        new.resize(length);
        new
    }

    pub fn resize(&mut self, length: u64) {
        self.bytes.resize(usize::try_from(length).unwrap_or(0), 0);
        self.present.resize(usize::try_from(length / PAGE).unwrap_or(0), false);
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let from = usize::try_from(offset).unwrap_or(0);
        self.bytes[from..from + bytes.len()].copy_from_slice(bytes);
        self.present[from / 512..(from + bytes.len()) / 512].fill(true);
    }

    pub fn clear(&mut self, pages: &Range<u64>) {
        let (from, to) = (usize::try_from(pages.start), usize::try_from(pages.end));
        let (from, to) = (must(from), must(to));
        self.bytes[from..to].fill(0);
        self.present[from / 512..to / 512].fill(false);
    }

    /// Whether a page is there.
    pub fn has(&self, page: usize) -> bool {
        self.present[page]
    }

    pub fn ranges(&self) -> Vec<Range<u64>> {
        let mut found: Vec<Range<u64>> = Vec::new();
        for (index, _) in self.present.iter().enumerate().filter(|(_, there)| **there) {
            let start = u64::try_from(index).unwrap_or(0) * PAGE;
            match found.last_mut() {
                Some(last) if last.end == start => last.end += PAGE,
                _ => found.push(start..start + PAGE),
            }
        }
        found
    }

    /// Some pages of it.
    pub fn pick(&self, random: &mut Random, most: usize) -> Option<Range<u64>> {
        let pages = self.present.len();
        if pages == 0 {
            return None;
        }
        let first = random.below(pages);
        let count = 1 + random.below(most.min(pages - first));
        let page = |n: usize| u64::try_from(n).unwrap_or(0) * PAGE;
        Some(page(first)..page(first + count))
    }
}
