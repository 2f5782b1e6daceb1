//! QUERY_DIRECTORY: the entries of a directory, some at a time, in seven layouts.
//!
//! Must never depend on positions: a listing goes on after the last name, whatever came and went.

use super::create::access;
use super::handle::FileHandle;
use super::io::{needs, target};
use super::pattern::Pattern;
use crate::limits;
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::create::Facts;
use crate::wire::cursor::{Writer, index, length32, utf16_bytes};
use crate::wire::info::{DirectoryRequest, buffer_response};
use std::collections::VecDeque;
use zaffre_core::file::mount::{Listed, NodeFacts};
use zaffre_domain::fs::FileId;
use zaffre_domain::fs::access::AccessMask;

const RESTART: u8 = 0x01;
const SINGLE: u8 = 0x02;
const REOPEN: u8 = 0x10;

/// Entries read at once.
const BATCH: usize = 256;

/// A listing under way.
#[derive(Debug)]
pub(crate) struct Search {
    pattern: Pattern,
    /// Read and not yet told.
    ready: VecDeque<Found>,
    /// The last name read, in upper case.
    after: Option<String>,
    /// Whether the directory itself and its parent were read.
    began: bool,
    ended: bool,
    /// Whether anything was told.
    told: bool,
}

#[derive(Clone, Debug)]
struct Found {
    name: String,
    id: FileId,
    facts: NodeFacts,
}

impl Search {
    fn new(pattern: Pattern) -> Self {
        let (ready, after) = (VecDeque::new(), None);
        Self { pattern, ready, after, began: false, ended: false, told: false }
    }

    /// Reads on until there is something to tell or nothing left.
    async fn fill(&mut self, file: &FileHandle) -> Result<(), Failure> {
        let (mount, id) = (&file.disk.mount, file.file.file);
        if !self.began {
            self.began = true;
            let facts = mount.facts(id).await?;
            for name in [".", ".."] {
                if self.pattern.matches(name) {
                    let name = name.to_owned();
                    self.ready.push_back(Found { name, id, facts: facts.clone() });
                }
            }
        }
        if let Some(exact) = self.pattern.exact().filter(|_| !self.ended) {
            self.ended = true;
            let entry = mount.entry(id, exact).await?;
            self.ready.extend(readable(file, entry.into_iter().collect()).await?);
        }
        while self.ready.is_empty() && !self.ended {
            let page = mount.list(id, self.after.take(), BATCH).await?;
            self.ended = page.len() < BATCH;
            self.after = page.last().map(|last| last.folded.clone());
            let matching = page.into_iter().filter(|entry| self.pattern.matches(&entry.name));
            self.ready.extend(readable(file, matching.collect()).await?);
        }
        Ok(())
    }
}

/// Those that are not left out because they may not be read.
async fn readable(file: &FileHandle, mut entries: Vec<Listed>) -> Result<Vec<Found>, Failure> {
    if file.disk.hides {
        let mut seen = Vec::new();
        for entry in entries {
            if access::may_read(&file.disk, entry.id).await? {
                seen.push(entry);
            }
        }
        entries = seen;
    }
    Ok(entries.into_iter().map(Found::from).collect())
}

impl From<Listed> for Found {
    fn from(entry: Listed) -> Self {
        Self { name: entry.name, id: entry.id, facts: entry.facts }
    }
}

/// How entries are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layout {
    Directory,
    Full,
    Both,
    Names,
    IdBoth,
    IdFull,
    IdExtended,
}

impl Layout {
    fn of(class: u8) -> Option<Self> {
        Some(match class {
            1 => Self::Directory,
            2 => Self::Full,
            3 => Self::Both,
            12 => Self::Names,
            37 => Self::IdBoth,
            38 => Self::IdFull,
            60 => Self::IdExtended,
            _ => return None,
        })
    }

    /// Bytes before the name.
    fn fixed(self) -> usize {
        match self {
            Self::Directory => 64,
            Self::Full => 68,
            Self::Both => 94,
            Self::Names => 12,
            Self::IdBoth => 104,
            Self::IdFull => 80,
            Self::IdExtended => 88,
        }
    }

    /// One entry; where the next one is stays open.
    fn write(self, found: &Found, to: &mut Writer) {
        let name = utf16_bytes(found.name.encode_utf16());
        to.u32(0).u32(0);
        if self == Self::Names {
            to.length(name.len()).bytes(&name);
            return;
        }
        let Facts { created, accessed, written, changed, allocation, end_of_file, attributes } =
            super::facts::of(&found.facts);
        to.u64(created).u64(accessed).u64(written).u64(changed);
        to.u64(end_of_file).u64(allocation).u32(attributes).length(name.len());
        match self {
            Self::Directory | Self::Names => {}
            Self::Full => {
                to.u32(0);
            }
            // No extended attributes, no short name.
            Self::Both => {
                to.u32(0).u8(0).u8(0).zeros(24);
            }
            Self::IdBoth => {
                to.u32(0).u8(0).u8(0).zeros(24).u16(0).u64(found.id.0);
            }
            Self::IdFull => {
                to.u32(0).u32(0).u64(found.id.0);
            }
            Self::IdExtended => {
                to.u32(0).u32(0).u64(found.id.0).u64(0);
            }
        }
        to.bytes(&name);
    }
}

/// QUERY_DIRECTORY.
pub(crate) async fn run(x: &mut Exchange<'_>, request: DirectoryRequest) -> Result<Reply, Failure> {
    let file = target(x, request.file)?;
    let layout = Layout::of(request.class).ok_or(Status::INVALID_INFO_CLASS)?;
    if !file.directory {
        return Err(Status::INVALID_PARAMETER.into());
    }
    needs(&file, AccessMask::READ_DATA)?;
    let most = index(request.output).min(limits::ANSWER_BYTES);
    if most < layout.fixed() {
        return Err(Status::INFO_LENGTH_MISMATCH.into());
    }
    let pattern = String::from_utf16(&request.pattern).map_err(|_| Status::OBJECT_NAME_INVALID)?;
    let mut search = file.scratch.search.lock().await;
    if request.flags & (REOPEN | RESTART) != 0 {
        // From the start, and the pattern may be another one.
        *search = None;
    }
    let search = search.get_or_insert_with(|| Search::new(Pattern::new(&pattern)));
    let output = page(search, &file, layout, most, request.flags & SINGLE != 0).await?;
    Ok(Reply::ok(buffer_response(&output)))
}

async fn page(
    search: &mut Search,
    file: &FileHandle,
    layout: Layout,
    most: usize,
    single: bool,
) -> Result<Vec<u8>, Failure> {
    let mut to = Writer::new();
    let mut last = None;
    loop {
        search.fill(file).await?;
        let Some(found) = search.ready.front() else { break };
        let start = to.len().next_multiple_of(8);
        let size = layout.fixed() + found.name.encode_utf16().count() * 2;
        if start + size > most {
            if last.is_none() {
                return Err(Status::BUFFER_OVERFLOW.into());
            }
            break;
        }
        to.align(8);
        if let Some(last) = last {
            to.set_u32(last, length32(start - last));
        }
        layout.write(found, &mut to);
        last = Some(start);
        search.ready.pop_front();
        if single {
            break;
        }
    }
    if last.is_none() {
        let none = if search.told { Status::NO_MORE_FILES } else { Status::NO_SUCH_FILE };
        search.told = true;
        return Err(none.into());
    }
    search.told = true;
    Ok(to.finish())
}
