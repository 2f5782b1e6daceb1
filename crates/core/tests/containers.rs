//! Containers: creation, properties, ACL, leases, listing, deletion and what follows it.

mod support;

use std::time::Duration;
use support::{ACCOUNT, World, acquire, container, must, pattern, refused, strict, worlds};
use zaffre_base::{AccountName, Guid, Timestamp};
use zaffre_core::CoreOptions;
use zaffre_core::blob::op::{
    CreateContainer, DeleteContainer, GetContainer, GetContainerAcl, ListContainers,
    SetContainerAcl, SetContainerMetadata,
};
use zaffre_core::blob::{
    container_access, create_container, delete_container, get_container, get_container_acl,
    list_containers, set_container_acl, set_container_metadata,
};
use zaffre_domain::blob::{AccessPolicy, Metadata, PublicAccess};
use zaffre_domain::conditions::Conditions;
use zaffre_domain::lease::{LeaseCommand, LeaseView};
use zaffre_domain::{LeaseOn, Refusal};
use zaffre_store::Store;

fn metadata(value: &str) -> Metadata {
    Metadata::from([("name".to_owned(), value.to_owned())])
}

#[tokio::test]
async fn create_read_and_change() {
    for world in worlds() {
        let op = CreateContainer {
            scopes: zaffre_domain::blob::encryption::ScopePolicy::default(),
            at: container("photos"),
            metadata: metadata("1"),
            access: PublicAccess::Blob,
        };
        let created = must(create_container(&world.core, world.ok(op)).await);
        assert_eq!(refused(world.create("photos").await), Refusal::ContainerAlreadyExists);
        let read = || GetContainer { at: container("photos"), lease: None };
        let seen = must(get_container(&world.core, world.ok(read())).await);
        assert_eq!((seen.written, seen.access), (created, PublicAccess::Blob));
        assert_eq!(seen.metadata, metadata("1"));
        assert_eq!(seen.lease, LeaseView::Available);

        let change = |conditions| SetContainerMetadata {
            at: container("photos"),
            metadata: metadata("2"),
            lease: None,
            conditions,
        };
        let later = created.last_modified().plus(Duration::from_mins(1));
        let if_modified = Conditions { if_modified_since: Some(later), ..Conditions::default() };
        let unmet = set_container_metadata(&world.core, world.ok(change(if_modified))).await;
        assert_eq!(refused(unmet), Refusal::ConditionNotMet);
        let set = change(Conditions::default());
        let second = must(set_container_metadata(&world.core, world.ok(set)).await);
        assert!(second.stamp > created.stamp);

        let policies = vec![AccessPolicy {
            id: "p".to_owned(),
            start: Some(Timestamp(7)),
            expiry: None,
            permission: Some("r".to_owned()),
        }];
        let op = SetContainerAcl {
            at: container("photos"),
            access: PublicAccess::Container,
            policies: policies.clone(),
            lease: None,
            conditions: Conditions::default(),
        };
        must(set_container_acl(&world.core, world.ok(op)).await);
        let op = GetContainerAcl { at: container("photos"), lease: None };
        let acl = must(get_container_acl(&world.core, world.ok(op)).await);
        assert_eq!((acl.access, acl.policies), (PublicAccess::Container, policies.clone()));
        assert_eq!(acl.metadata, metadata("2"));
        let access = must(container_access(&world.core, &container("photos")).await);
        assert_eq!(access.map(|access| access.policies), Some(policies));
        assert_eq!(must(container_access(&world.core, &container("other")).await), None);
    }
}

#[tokio::test]
async fn leases_guard_deletion_alone() {
    for world in worlds() {
        must(world.create("photos").await);
        must(world.lease_container("photos", acquire(Some(15), 7)).await);
        assert_eq!(
            refused(world.delete_container("photos").await),
            Refusal::LeaseIdMissing(LeaseOn::Container)
        );
        must(world.put("photos/a", "x").await);
        let read = |id| GetContainer { at: container("photos"), lease: Some(Guid(id)) };
        must(get_container(&world.core, world.ok(read(7))).await);
        let wrong = get_container(&world.core, world.ok(read(8))).await;
        assert_eq!(refused(wrong), Refusal::LeaseIdMismatch(LeaseOn::Container));
        world.advance(16);
        must(world.lease_container("photos", LeaseCommand::Renew { id: Guid(7) }).await);
        let delete = DeleteContainer {
            at: container("photos"),
            lease: Some(Guid(7)),
            conditions: Conditions::default(),
        };
        must(delete_container(&world.core, world.ok(delete)).await);
        assert!(!world.container_exists("photos").await);
    }
}

#[tokio::test]
async fn listing_in_pages() {
    for world in worlds() {
        let mut names: Vec<String> = (0..25).map(|n| format!("c{n:02}")).collect();
        for name in names.iter().rev() {
            must(world.create(name).await);
        }
        must(world.create("$root").await);
        must(world.create("$logs").await);
        names.insert(0, "$root".to_owned());
        for size in [1, 3, 25, 26, 27, 5_000] {
            assert_eq!(world.containers("", size).await, names, "{size}");
            assert_eq!(world.containers("c1", size).await, names[11..21], "{size}");
        }
        assert!(world.containers("x", 10).await.is_empty());
        let bad = ListContainers {
            account: must(AccountName::parse(ACCOUNT)),
            prefix: String::new(),
            marker: Some("x".to_owned()),
            max_results: 1,
            include_metadata: true,
            include_system: true,
            include_deleted: false,
        };
        let bad = list_containers(&world.core, world.ok(bad)).await;
        assert_eq!(refused(bad), Refusal::InvalidMarker);
    }
}

#[tokio::test]
async fn a_deleted_name_is_held_for_a_while() {
    for world in worlds() {
        world.core.store().clock.freeze();
        must(world.create("photos").await);
        must(world.put("photos/a", "x").await);
        must(world.delete_container("photos").await);
        assert_eq!(refused(world.create("photos").await), Refusal::ContainerBeingDeleted);
        assert_eq!(refused(world.get("photos/a").await), Refusal::ContainerNotFound);
        assert_eq!(refused(world.put("photos/a", "y").await), Refusal::ContainerNotFound);
        assert_eq!(refused(world.delete_container("photos").await), Refusal::ContainerNotFound);
        world.advance(31);
        must(world.create("photos").await);
        assert_eq!(refused(world.get("photos/a").await), Refusal::BlobNotFound);
    }
}

#[tokio::test]
async fn purging_reclaims_everything() {
    let options = CoreOptions { container_delete_delay: Duration::ZERO, ..CoreOptions::default() };
    for store in [Store::in_memory(), Store::strict(strict(3))] {
        let world = World::with(must(store), options.clone());
        must(world.create("photos").await);
        for n in 0..300 {
            must(world.put(&format!("photos/{n}"), "small").await);
        }
        must(world.put("photos/large", pattern(3 << 20, 1)).await);
        must(world.put("photos/large", pattern(2 << 20, 2)).await);
        must(world.stage("photos/large", "b1", pattern(100_000, 3)).await);
        must(world.stage("photos/staged", "b1", pattern(100_000, 4)).await);
        must(world.delete_container("photos").await);
        // The name is free at once, and the old contents do not shine through.
        must(world.create("photos").await);
        assert_eq!(refused(world.get("photos/large").await), Refusal::BlobNotFound);
        must(world.put("photos/large", pattern(1 << 20, 5)).await);
        world.sweep().await;
        assert_eq!(world.rows("photos").await.len(), 2, "the new blob and its one extent");
        assert_eq!(must(world.get("photos/large").await), pattern(1 << 20, 5));
        must(world.delete_container("photos").await);
        world.sweep().await;
        assert!(world.rows("photos").await.is_empty(), "not even a guard");
        assert_eq!(world.live_extents().await, 0);
    }
}
