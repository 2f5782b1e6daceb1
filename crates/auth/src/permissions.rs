//! Which permission each operation needs, as one table over the closed list of actions.
//!
//! Must never have a default arm: a new action does not compile until its row is written.

use crate::action::Action;
use zaffre_base::ApiVersion;
use zaffre_domain::blob::PublicAccess;

/// One row: what lets each kind of credential in. `None`: nothing does. The account's own key
/// needs no row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Account SAS: the resource type and permission it must have.
    pub(crate) account: Option<(Level, Needs)>,
    /// Service SAS on the container or blob: the permission it must have.
    pub(crate) service: Option<Needs>,
    /// No credential: how public the container must be.
    pub(crate) anonymous: Option<PublicAccess>,
    /// Changes something, so it is refused on the secondary endpoint.
    pub(crate) writes: bool,
}

/// The resource type of an account SAS (`srt`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    Any,
    Service,
    Container,
    Object,
}

impl Level {
    /// Whether `srt` includes this level.
    pub(crate) fn is_in(self, resource_types: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Service => resource_types.contains('s'),
            Self::Container => resource_types.contains('c'),
            Self::Object => resource_types.contains('o'),
        }
    }
}

/// The letters of which `sp` must have at least one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Needs {
    /// Any permission at all.
    Anything,
    /// One of these.
    OneOf(&'static str),
}

impl Needs {
    pub(crate) fn are_in(self, permissions: &str) -> bool {
        match self {
            Self::Anything => !permissions.is_empty(),
            Self::OneOf(letters) => permissions.contains(|c| letters.contains(c)),
        }
    }
}

/// From this version on, `d` is enough to break a blob's lease.
const DELETE_BREAKS_LEASES: ApiVersion = ApiVersion::new(2017, 7, 29);
/// From this version on, `c` is enough to stage and commit the blocks of a new blob. Whether the
/// blob is new only the store can tell: see `Grants::overwrite`.
const CREATE_STAGES_BLOCKS: ApiVersion = ApiVersion::new(2026, 6, 6);

/// The row for an action. `names_version`: the URL names one version of the blob.
pub(crate) fn rule(action: Action, version: ApiVersion, names_version: bool) -> Rule {
    use Action as A;
    match action {
        A::ListContainers => account_only(Level::Service, "l").read(),
        A::GetAccountInfo => Rule {
            account: Some((Level::Any, Needs::Anything)),
            service: Some(Needs::Anything),
            anonymous: None,
            writes: false,
        },
        A::CreateContainer => account_only(Level::Container, "cw"),
        A::GetContainer => {
            account_only(Level::Container, "r").read().public(PublicAccess::Container)
        }
        A::SetContainerMetadata | A::LeaseContainer => account_only(Level::Container, "w"),
        A::BreakContainerLease => account_only(Level::Container, "wd"),
        A::DeleteContainer => account_only(Level::Container, "d"),
        A::GetContainerAcl => OWNER_ONLY.read(),
        A::SetContainerAcl => OWNER_ONLY,
        A::ListBlobs => in_container(Level::Container, "l").read().public(PublicAccess::Container),
        A::GetBlob | A::GetBlobProperties | A::GetBlockList => {
            in_container(Level::Object, "r").read().public(PublicAccess::Blob)
        }
        A::GetUncommittedBlockList => in_container(Level::Object, "r").read(),
        A::PutBlob => in_container(Level::Object, "cw"),
        A::PutBlock | A::PutBlockList if version >= CREATE_STAGES_BLOCKS => {
            in_container(Level::Object, "cw")
        }
        A::BreakBlobLease if version >= DELETE_BREAKS_LEASES => in_container(Level::Object, "wd"),
        A::PutBlock
        | A::PutBlockList
        | A::SetBlobMetadata
        | A::SetBlobProperties
        | A::LeaseBlob
        | A::BreakBlobLease => in_container(Level::Object, "w"),
        A::DeleteBlob if names_version => in_container(Level::Object, "x"),
        A::DeleteBlob => in_container(Level::Object, "d"),
    }
}

const OWNER_ONLY: Rule = Rule { account: None, service: None, anonymous: None, writes: true };

const fn account_only(level: Level, letters: &'static str) -> Rule {
    Rule { account: Some((level, Needs::OneOf(letters))), ..OWNER_ONLY }
}

const fn in_container(level: Level, letters: &'static str) -> Rule {
    let needs = Needs::OneOf(letters);
    Rule { account: Some((level, needs)), service: Some(needs), ..OWNER_ONLY }
}

impl Rule {
    const fn read(self) -> Self {
        Self { writes: false, ..self }
    }

    const fn public(self, access: PublicAccess) -> Self {
        Self { anonymous: Some(access), ..self }
    }
}

/// Whether a container this public lets anyone do what needs `needed`.
pub(crate) fn is_public_enough(access: PublicAccess, needed: PublicAccess) -> bool {
    match (access, needed) {
        (PublicAccess::Container, _) | (PublicAccess::Blob, PublicAccess::Blob) => true,
        (PublicAccess::Private | PublicAccess::Blob, _) => false,
    }
}
