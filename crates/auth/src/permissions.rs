//! Which permission each operation needs, as one table over the closed list of actions.
//!
//! Must never have a default arm: a new action does not compile until its row is written.

use crate::action::Action;
use zaffre_base::ApiVersion;
use zaffre_domain::blob::PublicAccess;

/// One row: what lets each kind of credential in. `None`: nothing does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The account's own key lets it in, or a SAS signed with it could.
    pub(crate) key: bool,
    /// Account SAS: the resource types of which it must have one, and the permission.
    pub(crate) account: Option<(Levels, Needs)>,
    /// Bearer tokens.
    pub(crate) tokens: Tokens,
    /// Service SAS on the container, queue, table or blob: the permission it must have.
    pub(crate) service: Option<Needs>,
    /// No credential: how public the container must be.
    pub(crate) anonymous: Option<PublicAccess>,
    /// Changes something, so it is refused on the secondary endpoint.
    pub(crate) writes: bool,
    /// Touches one entity, whose key must be known before it is let in.
    pub(crate) keyed: bool,
}

/// Whether bearer tokens let in at all; what for is a matter of roles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tokens {
    Taken,
    TakenFrom(ApiVersion),
    Refused,
    /// Refused as if there were nothing.
    Hidden,
}

/// Resource types of an account SAS (`srt`) of which one is enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Levels {
    Any,
    OneOf(&'static str),
}

const SERVICE: Levels = Levels::OneOf("s");
const CONTAINER: Levels = Levels::OneOf("c");
const OBJECT: Levels = Levels::OneOf("o");
/// Emulators ask for `c` where the service asks for `s` (tables) or `o` (queries of entities), and
/// documents disagree about searches by tags; tokens made for either are good.
const SERVICE_OR_CONTAINER: Levels = Levels::OneOf("sc");
const OBJECT_OR_CONTAINER: Levels = Levels::OneOf("oc");
const OBJECT_OR_SERVICE: Levels = Levels::OneOf("os");

impl Levels {
    /// Whether `srt` includes one of them.
    pub(crate) fn are_in(self, resource_types: &str) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(letters) => resource_types.contains(|c| letters.contains(c)),
        }
    }
}

/// The letters that `sp` must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Needs {
    /// Any permission at all.
    Anything,
    /// One of these.
    OneOf(&'static str),
    /// Each of these.
    AllOf(&'static str),
}

impl Needs {
    pub(crate) fn are_in(self, permissions: &str) -> bool {
        match self {
            Self::Anything => !permissions.is_empty(),
            Self::OneOf(letters) => permissions.contains(|c| letters.contains(c)),
            Self::AllOf(letters) => letters.chars().all(|c| permissions.contains(c)),
        }
    }
}

/// From this version on, `d` is enough to break a blob's lease.
const DELETE_BREAKS_LEASES: ApiVersion = ApiVersion::new(2017, 7, 29);
/// From this version on, `c` is enough to stage and commit the blocks of a new blob. Whether the
/// blob is new only the store can tell: see `Grants::overwrite`.
const CREATE_STAGES_BLOCKS: ApiVersion = ApiVersion::new(2026, 6, 6);

/// From this version on, bearer tokens reach the ACLs of containers and queues.
const TOKENS_REACH_ACLS: ApiVersion = ApiVersion::new(2025, 7, 5);

/// The row for an action. `names_version`: the URL names one version of the blob.
#[expect(clippy::too_many_lines, reason = "one table, a row per action")]
pub(crate) fn rule(action: Action, version: ApiVersion, names_version: bool) -> Rule {
    use Action as A;
    match action {
        A::GetServiceProperties | A::GetServiceStats => account_only(SERVICE, "r").read(),
        A::SetServiceProperties => account_only(SERVICE, "w"),
        A::GetUserDelegationKey => Rule { key: false, ..OWNER_ONLY.read() },
        A::GetAccountInfo => ANY_SAS.read().tokens(Tokens::Refused),
        A::Batch => ANY_SAS.read(),
        A::ListContainers | A::ListQueues | A::ListShares => account_only(SERVICE, "l").read(),
        A::FindBlobsByTags => account_only(OBJECT_OR_SERVICE, "f").read(),
        A::CreateContainer
        | A::CreateQueue
        | A::CreateTable
        | A::CreateShare
        | A::SnapshotShare => account_only(CONTAINER, "cw"),
        A::GetContainer => account_only(CONTAINER, "r").read().public(PublicAccess::Container),
        A::SetContainerMetadata
        | A::LeaseContainer
        | A::RestoreContainer
        | A::SetQueueMetadata
        | A::SetShareProperties
        | A::SetShareMetadata
        | A::RestoreShare
        | A::LeaseShare
        | A::CreatePermission => account_only(CONTAINER, "w"),
        A::BreakContainerLease | A::BreakShareLease => account_only(CONTAINER, "wd"),
        A::DeleteContainer | A::DeleteQueue | A::DeleteTable | A::DeleteShare => {
            account_only(CONTAINER, "d")
        }
        A::GetContainerAcl | A::GetQueueAcl => ACL.read(),
        A::SetContainerAcl | A::SetQueueAcl => ACL,
        A::GetTableAcl => OWNER_ONLY.read().tokens(Tokens::Hidden),
        A::SetTableAcl => OWNER_ONLY.tokens(Tokens::Hidden),
        A::ListBlobs => in_container(CONTAINER, "l").read().public(PublicAccess::Container),
        A::FindBlobsByTagsInContainer => in_container(OBJECT_OR_CONTAINER, "f").read(),
        A::GetBlob
        | A::GetBlobProperties
        | A::GetBlockList
        | A::GetPageRanges
        | A::QueryBlobContents => in_container(OBJECT, "r").read().public(PublicAccess::Blob),
        A::GetUncommittedBlockList
        | A::PeekMessages
        | A::GetDirectory
        | A::GetFile
        | A::GetFileProperties
        | A::ListRanges => in_container(OBJECT, "r").read(),
        A::PutBlob
        | A::PutAppendBlob
        | A::PutPageBlob
        | A::PutBlobFromUrl
        | A::CopyBlob
        | A::CopyBlobFromUrl
        | A::IncrementalCopyBlob
        | A::SnapshotBlob
        | A::CreateDirectory
        | A::CreateFile
        | A::CopyFile => in_container(OBJECT, "cw"),
        A::PutBlock | A::PutBlockFromUrl | A::PutBlockList if version >= CREATE_STAGES_BLOCKS => {
            in_container(OBJECT, "cw")
        }
        A::AppendBlock | A::AppendBlockFromUrl => in_container(OBJECT, "aw"),
        A::BreakBlobLease if version >= DELETE_BREAKS_LEASES => in_container(OBJECT, "wd"),
        A::PutBlock
        | A::PutBlockFromUrl
        | A::PutBlockList
        | A::PutPage
        | A::PutPageFromUrl
        | A::ClearPages
        | A::SealAppendBlob
        | A::AbortCopyBlob
        | A::SetBlobMetadata
        | A::SetBlobProperties
        | A::SetBlobTier
        | A::SetBlobExpiry
        | A::UndeleteBlob
        | A::LeaseBlob
        | A::BreakBlobLease
        | A::SetDirectoryProperties
        | A::SetDirectoryMetadata
        | A::SetFileProperties
        | A::SetFileMetadata
        | A::PutRange
        | A::PutRangeFromUrl
        | A::AbortCopyFile
        | A::Rename
        | A::LeaseFile
        | A::ForceCloseHandles => in_container(OBJECT, "w"),
        A::GetBlobTags => in_container(OBJECT, "t").read(),
        A::SetBlobTags => in_container(OBJECT, "t"),
        A::SetBlobImmutabilityPolicy | A::DeleteBlobImmutabilityPolicy | A::SetBlobLegalHold => {
            in_container(OBJECT, "i")
        }
        A::DeleteBlob if names_version => in_container(OBJECT, "x"),
        A::DeleteBlob | A::DeleteDirectory | A::DeleteFile => in_container(OBJECT, "d"),
        A::PermanentlyDeleteBlob => in_container(OBJECT, "y"),
        A::GetQueueMetadata => in_container(CONTAINER, "r").read(),
        A::PutMessage => in_container(OBJECT, "a"),
        A::GetMessages | A::DeleteMessage => in_container(OBJECT, "p"),
        A::UpdateMessage => in_container(OBJECT, "u"),
        A::ClearMessages => account_only(OBJECT, "d"),
        A::QueryTables => account_only(SERVICE_OR_CONTAINER, "l").read(),
        A::QueryEntities => in_container(OBJECT_OR_CONTAINER, "r").read(),
        A::GetEntity => in_container(OBJECT_OR_CONTAINER, "r").read().keyed(),
        A::InsertEntity => in_container(OBJECT, "a").keyed(),
        A::UpdateEntity | A::MergeEntity => in_container(OBJECT, "u").keyed(),
        A::InsertOrReplaceEntity | A::InsertOrMergeEntity => all_in_container(OBJECT, "au").keyed(),
        A::DeleteEntity => in_container(OBJECT, "d").keyed(),
        A::GetShare | A::GetShareStats | A::GetPermission => account_only(CONTAINER, "r").read(),
        A::GetShareAcl => OWNER_ONLY.read(),
        A::SetShareAcl => OWNER_ONLY,
        A::ListDirectory => in_container(OBJECT_OR_CONTAINER, "l").read(),
        A::BreakFileLease => in_container(OBJECT, "wd"),
        // Documents name no letters for List Handles and Force Close Handles.
        A::ListHandles => in_container(OBJECT, "l").read(),
    }
}

const OWNER_ONLY: Rule = Rule {
    key: true,
    account: None,
    tokens: Tokens::Taken,
    service: None,
    anonymous: None,
    writes: true,
    keyed: false,
};

const ACL: Rule = OWNER_ONLY.tokens(Tokens::TakenFrom(TOKENS_REACH_ACLS));

/// Every SAS of the account, whatever it is good for.
const ANY_SAS: Rule = Rule {
    account: Some((Levels::Any, Needs::Anything)),
    service: Some(Needs::Anything),
    ..OWNER_ONLY
};

const fn account_only(levels: Levels, letters: &'static str) -> Rule {
    Rule { account: Some((levels, Needs::OneOf(letters))), ..OWNER_ONLY }
}

const fn in_container(levels: Levels, letters: &'static str) -> Rule {
    let needs = Needs::OneOf(letters);
    Rule { account: Some((levels, needs)), service: Some(needs), ..OWNER_ONLY }
}

const fn all_in_container(levels: Levels, letters: &'static str) -> Rule {
    let needs = Needs::AllOf(letters);
    Rule { account: Some((levels, needs)), service: Some(needs), ..OWNER_ONLY }
}

impl Rule {
    const fn read(self) -> Self {
        Self { writes: false, ..self }
    }

    const fn tokens(self, tokens: Tokens) -> Self {
        Self { tokens, ..self }
    }

    const fn keyed(self) -> Self {
        Self { keyed: true, ..self }
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
