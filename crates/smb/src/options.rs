//! What a Windows file server does and Azure Files does not, or not everywhere: off unless it is asked
//! for.

/// The choices of whoever runs the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether files and directories may have named streams.
    pub streams: bool,
    /// Whether files may be marked as sparse; those that are not are shown as wholly allocated.
    pub sparse: bool,
    /// What security descriptors are good for.
    pub descriptors: Descriptors,
    /// Whether a session may be on several connections.
    pub multichannel: bool,
}

/// What security descriptors are good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Descriptors {
    /// They are kept and shown; whoever holds the account's key may do everything.
    #[default]
    Store,
    /// They also decide what whoever holds the account's key may do.
    Enforce,
}
