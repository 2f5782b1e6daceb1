//! What each operation needs permission for, and where.

use super::op::{
    AppendBlock, BlobPath, ContainerPath, CreateBlob, CreateContainer, DeleteBlob,
    DeleteBlobImmutabilityPolicy, DeleteContainer, FindBlobsByTags, GetBlob, GetBlobProperties,
    GetBlobTags, GetBlockList, GetContainer, GetContainerAcl, GetPageRanges, LeaseBlob,
    LeaseContainer, ListBlobs, ListContainers, Moment, NewBlob, PageWrite, PutBlob, PutBlock,
    PutBlockList, PutPage, QueryBlob, RestoreContainer, SealBlob, SetBlobImmutabilityPolicy,
    SetBlobLegalHold, SetBlobMetadata, SetBlobProperties, SetBlobTags, SetBlobTier,
    SetContainerAcl, SetContainerMetadata, SetPageProperties, SnapshotBlob, UndeleteBlob,
};
use zaffre_auth::Extras;
use zaffre_auth::action::{Action, Guarded, Scope};
use zaffre_domain::lease::LeaseCommand;

fn in_container(at: &ContainerPath) -> Scope<'_> {
    Scope::container(&at.account, at.container.as_str())
}

fn on_blob(at: &BlobPath) -> Scope<'_> {
    let blob = Scope::object(&at.account, at.container.as_str(), at.blob.as_str());
    match &at.moment {
        Moment::Current => blob,
        Moment::Snapshot(id) => Scope { snapshot: Some(&id.text), ..blob },
        Moment::Version(id) => Scope { version: Some(&id.text), ..blob },
    }
}

/// The operations that need nothing but their own row, with whether each reads or writes tags
/// on the side.
macro_rules! guarded {
    ($scope:ident, $tags:expr; $($op:ident),* $(,)?) => {$(
        impl Guarded for $op {
            fn action(&self) -> Action {
                Action::$op
            }

            fn scope(&self) -> Scope<'_> {
                $scope(&self.at)
            }

            fn extras(&self) -> Extras {
                let uses: fn(&Self) -> bool = $tags;
                Extras { tags: uses(self), ..Extras::default() }
            }
        }
    )*};
}

guarded!(in_container, |_| false; CreateContainer, DeleteContainer, GetContainer,
    SetContainerMetadata, GetContainerAcl, SetContainerAcl, RestoreContainer);
guarded!(in_container, |op| op.include_tags; ListBlobs);
guarded!(on_blob, |_| false; PutBlock, UndeleteBlob, SetBlobImmutabilityPolicy,
    DeleteBlobImmutabilityPolicy, SetBlobLegalHold);
guarded!(on_blob, |op| op.conditions.if_tags.is_some(); AppendBlock, GetPageRanges, GetBlob, GetBlobProperties,
    SetBlobMetadata, SetBlobProperties, SnapshotBlob, GetBlobTags, SetBlobTags, SetBlobTier);

/// What a new blob brings along needs permissions of its own.
macro_rules! creating {
    ($($op:ident),* $(,)?) => {$(
        impl Guarded for $op {
            fn action(&self) -> Action {
                Action::$op
            }

            fn scope(&self) -> Scope<'_> {
                on_blob(&self.at)
            }

            fn extras(&self) -> Extras {
                let tags = self.conditions.if_tags.is_some() || !self.tags.is_empty();
                Extras { tags, immutability: self.protection.is_some() }
            }
        }
    )*};
}

creating!(PutBlob, PutBlockList);

impl Guarded for QueryBlob {
    fn action(&self) -> Action {
        Action::QueryBlobContents
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        Extras { tags: self.conditions.if_tags.is_some(), ..Extras::default() }
    }
}

impl Guarded for FindBlobsByTags {
    fn action(&self) -> Action {
        match self.container {
            Some(_) => Action::FindBlobsByTagsInContainer,
            None => Action::FindBlobsByTags,
        }
    }

    fn scope(&self) -> Scope<'_> {
        match &self.container {
            Some(container) => Scope::container(&self.account, container.as_str()),
            None => Scope::account(&self.account),
        }
    }
}

/// Taking away the chance to take a deletion back needs a permission of its own.
impl Guarded for DeleteBlob {
    fn action(&self) -> Action {
        if self.permanent { Action::PermanentlyDeleteBlob } else { Action::DeleteBlob }
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        Extras { tags: self.conditions.if_tags.is_some(), ..Extras::default() }
    }
}

impl Guarded for CreateBlob {
    fn action(&self) -> Action {
        match self.new {
            NewBlob::Append => Action::PutAppendBlob,
            NewBlob::Page { .. } => Action::PutPageBlob,
        }
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        let tags = self.conditions.if_tags.is_some() || !self.tags.is_empty();
        Extras { tags, immutability: self.protection.is_some() }
    }
}

impl Guarded for PutPage {
    fn action(&self) -> Action {
        match self.write {
            PageWrite::Update(_) => Action::PutPage,
            PageWrite::Clear => Action::ClearPages,
        }
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        Extras { tags: self.conditions.if_tags.is_some(), ..Extras::default() }
    }
}

impl Guarded for SetPageProperties {
    fn action(&self) -> Action {
        Action::SetBlobProperties
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        Extras { tags: self.conditions.if_tags.is_some(), ..Extras::default() }
    }
}

impl Guarded for SealBlob {
    fn action(&self) -> Action {
        Action::SealAppendBlob
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }
}

/// Staged blocks are not part of what a container shows to the public.
impl Guarded for GetBlockList {
    fn action(&self) -> Action {
        if self.uncommitted { Action::GetUncommittedBlockList } else { Action::GetBlockList }
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        Extras { tags: self.conditions.if_tags.is_some(), ..Extras::default() }
    }
}

impl Guarded for ListContainers {
    fn action(&self) -> Action {
        Action::ListContainers
    }

    fn scope(&self) -> Scope<'_> {
        Scope::account(&self.account)
    }
}

impl Guarded for LeaseContainer {
    fn action(&self) -> Action {
        match self.command {
            LeaseCommand::Break { .. } => Action::BreakContainerLease,
            _ => Action::LeaseContainer,
        }
    }

    fn scope(&self) -> Scope<'_> {
        in_container(&self.at)
    }
}

impl Guarded for LeaseBlob {
    fn action(&self) -> Action {
        match self.command {
            LeaseCommand::Break { .. } => Action::BreakBlobLease,
            _ => Action::LeaseBlob,
        }
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        Extras { tags: self.conditions.if_tags.is_some(), ..Extras::default() }
    }
}
