//! A share that a session is connected to, as it is or as a snapshot shows it.
//!
//! Must never lead to a share of another account.

use crate::options::{Descriptors, Options};
use crate::server::session::Session;
use crate::server::state::Server;
use crate::status::{Failure, Status};
use std::sync::Arc;
use zaffre_base::{Incarnation, ShareName};
use zaffre_core::file::mount::Mount;
use zaffre_core::file::opens::FileKey;
use zaffre_domain::fs::FileId;
use zaffre_domain::fs::properties::from_filetime;

/// A share with files.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) mount: Mount,
    pub(crate) options: Options,
    /// Whether listings leave out what may not be read.
    pub(crate) hides: bool,
}

impl Disk {
    /// The account's share of that name.
    pub(crate) async fn find(
        server: &Server,
        session: &Session,
        name: &str,
    ) -> Result<Arc<Self>, Failure> {
        let name = ShareName::parse(name).map_err(|_| Status::BAD_NETWORK_NAME)?;
        let mount = Mount::open(&server.core, &session.holder, &name, None).await?;
        let options = server.options;
        let enforced = options.descriptors == Descriptors::Enforce;
        let hides = enforced && server.hiding.contains(&name);
        Ok(Arc::new(Self { mount, options, hides }))
    }

    /// The share as the snapshot of that moment (100 ns since 1601) shows it. A client knows
    /// snapshots to the second, as their names in paths are.
    pub(crate) async fn at(&self, moment: u64) -> Result<Arc<Self>, Failure> {
        let wanted = from_filetime(moment);
        let second = wanted.whole_seconds();
        let snapshots = self.mount.snapshots().await?;
        let exact = snapshots.iter().find(|stamp| stamp.time() == wanted);
        let near = || snapshots.iter().find(|stamp| stamp.time().whole_seconds() == second);
        let stamp = exact.or_else(near).ok_or(Status::OBJECT_NAME_NOT_FOUND)?;
        let mount = self.mount.at(*stamp).await?;
        Ok(Arc::new(Self { mount, options: self.options, hides: self.hides }))
    }

    /// Whether nothing in it can be changed.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.mount.snapshot().is_some()
    }

    /// What a file of it is to the open table. Files of a snapshot are others than those of the
    /// share: nobody who has one open is in the way of the other.
    pub(crate) fn key(&self, file: FileId) -> FileKey {
        let Incarnation(share) = self.mount.incarnation();
        let apart = self.mount.snapshot().map_or(0, |stamp| stamp.0.reverse_bits());
        FileKey { share: Incarnation(share ^ apart), file }
    }

    /// A number for the whole of it.
    pub(crate) fn volume(&self) -> u64 {
        self.mount.incarnation().0
    }
}
