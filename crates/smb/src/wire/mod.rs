//! The codec: bytes to typed requests, answers to bytes.
//!
//! Must never do I/O, keep state, or trust a length: every request is hostile until it is parsed.

pub mod context;
pub mod create;
pub mod cursor;
pub mod header;
pub mod info;
pub mod io;
pub mod negotiate;
pub mod oplock;
pub mod session;

use cursor::{Malformed, Reader, Writer};
pub use header::{Command, Header};

/// A handle as the wire has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId {
    /// Outlives the connection.
    pub persistent: u64,
    /// Tells the opens of one session apart.
    pub volatile: u64,
}

impl FileId {
    /// In a chain: the file of the request before.
    pub const RELATED: Self = Self { persistent: u64::MAX, volatile: u64::MAX };

    /// Reads the 16 bytes.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { persistent: reader.u64()?, volatile: reader.u64()? })
    }

    /// Writes the 16 bytes.
    pub fn write(self, to: &mut Writer) {
        to.u64(self.persistent).u64(self.volatile);
    }
}

/// One request, parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub enum Request {
    Negotiate(negotiate::Request),
    SessionSetup(session::SetupRequest),
    Logoff,
    TreeConnect(Vec<u16>),
    TreeDisconnect,
    Create(create::Request),
    Close(create::CloseRequest),
    Flush(FileId),
    Read(io::ReadRequest),
    Write(io::WriteRequest),
    Lock(io::LockRequest),
    Ioctl(io::IoctlRequest),
    Cancel,
    Echo,
    QueryDirectory(info::DirectoryRequest),
    ChangeNotify(info::NotifyRequest),
    QueryInfo(info::QueryRequest),
    SetInfo(info::SetRequest),
    OplockBreak(oplock::Acknowledgement),
}

impl Request {
    /// Reads the body of `element` as `command`'s.
    pub fn parse(command: Command, element: &[u8]) -> Result<Self, Malformed> {
        Ok(match command {
            Command::Negotiate => Self::Negotiate(negotiate::Request::parse(element)?),
            Command::SessionSetup => Self::SessionSetup(session::SetupRequest::parse(element)?),
            Command::Logoff => session::empty(element).map(|()| Self::Logoff)?,
            Command::TreeConnect => Self::TreeConnect(session::tree_connect(element)?),
            Command::TreeDisconnect => session::empty(element).map(|()| Self::TreeDisconnect)?,
            Command::Create => Self::Create(create::Request::parse(element)?),
            Command::Close => Self::Close(create::CloseRequest::parse(element)?),
            Command::Flush => Self::Flush(io::flush(element)?),
            Command::Read => Self::Read(io::ReadRequest::parse(element)?),
            Command::Write => Self::Write(io::WriteRequest::parse(element)?),
            Command::Lock => Self::Lock(io::LockRequest::parse(element)?),
            Command::Ioctl => Self::Ioctl(io::IoctlRequest::parse(element)?),
            Command::Cancel => session::empty(element).map(|()| Self::Cancel)?,
            Command::Echo => session::empty(element).map(|()| Self::Echo)?,
            Command::QueryDirectory => {
                Self::QueryDirectory(info::DirectoryRequest::parse(element)?)
            }
            Command::ChangeNotify => Self::ChangeNotify(info::NotifyRequest::parse(element)?),
            Command::QueryInfo => Self::QueryInfo(info::QueryRequest::parse(element)?),
            Command::SetInfo => Self::SetInfo(info::SetRequest::parse(element)?),
            Command::OplockBreak => Self::OplockBreak(oplock::Acknowledgement::parse(element)?),
        })
    }

    /// The same; what a write carries stays where it is.
    pub fn parse_shared(command: Command, element: &bytes::Bytes) -> Result<Self, Malformed> {
        match command {
            Command::Write => io::WriteRequest::parse_shared(element).map(Self::Write),
            _ => Self::parse(command, element),
        }
    }

    /// Bytes that the request carries or may be answered with: what its credits have to pay for.
    pub fn payload(&self) -> usize {
        use cursor::index;
        match self {
            Self::Read(read) => index(read.length),
            Self::Write(write) => write.data.len(),
            Self::Ioctl(ioctl) => ioctl.input.len().max(index(ioctl.max_output)),
            Self::QueryDirectory(query) => index(query.output),
            Self::ChangeNotify(notify) => index(notify.output),
            Self::QueryInfo(query) => query.input.len().max(index(query.output)),
            Self::SetInfo(set) => set.data.len(),
            Self::Negotiate(_)
            | Self::SessionSetup(_)
            | Self::Logoff
            | Self::TreeConnect(_)
            | Self::TreeDisconnect
            | Self::Create(_)
            | Self::Close(_)
            | Self::Flush(_)
            | Self::Lock(_)
            | Self::Cancel
            | Self::Echo
            | Self::OplockBreak(_) => 0,
        }
    }
}
