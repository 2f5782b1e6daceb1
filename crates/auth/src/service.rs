//! The four services of an account, as credentials tell them apart.

/// Which service a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Service {
    /// Containers and blobs.
    Blob,
    /// Queues and messages.
    Queue,
    /// Tables and entities.
    Table,
    /// Shares and files.
    File,
}

impl Service {
    /// Its letter in `ss` of an account SAS and in `sks` of a user delegation key.
    pub fn letter(self) -> char {
        match self {
            Self::Blob => 'b',
            Self::Queue => 'q',
            Self::Table => 't',
            Self::File => 'f',
        }
    }

    /// Its name in host names and in the canonical resource of a SAS.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Queue => "queue",
            Self::Table => "table",
            Self::File => "file",
        }
    }
}
